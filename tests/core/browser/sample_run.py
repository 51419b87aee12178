"""A run of two models and four datasets with every kind of sample, made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from ais_prompt.metrics import mean_scores
from ais_prompt.report import write_summary
from ais_prompt.scoring import Row, TaskOutcome, summary_rows, with_averages
from ais_prompt.store import RunFolder, read_questions, write_json_atomic, write_predictions, write_results
from ais_prompt.types import (
    ChatMessage,
    Completion,
    Failure,
    Likelihood,
    Precision,
    Prediction,
    Reading,
    SampleScore,
    SummaryEntry,
    SummaryGroup,
    ToolCall,
    Usage,
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MARKED_UP = """# Solution

The **area** is \\(\\frac{a}{b}\\) and $x_1^2$, it costs $5 or $6:

$$\\begin{aligned} a &= b \\\\ c &= \\sqrt{d} \\end{aligned}$$

| shape | area |
|---|--:|
| disk | \\(\\pi r^2\\) |

- [see](https://example.org/x)
- <b>bold</b>

```python
print(1 < 2)
```

\\boxed{\\frac{1}{2}}"""
HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\u202ebackwards\u202c\x00\ud800"
)
SHOTS = "\n".join(f"Question: {n}+{n}=?\nAnswer: {2 * n}" for n in range(1, 5))
SUMS = 300

Pair = tuple[Prediction, SampleScore]


def questions(folder: RunFolder, row: Row) -> list[tuple[str, float]]:
    return list(read_questions(folder.results(row.model, row.dataset), row.metric or ""))


def make_sample_run(root: Path) -> RunFolder:
    folder = RunFolder(root / "mixed" / "20260131_120000")
    outcomes = [
        _task(folder, model, dataset, list(make(skill)))
        for model, skill in (("small", 3), ("large", 7))
        for dataset, make in (("sums", _sums), ("通用-chat", _chats), ("choice", _choices), ("repeated", _repeats))
    ]
    _judge(folder)
    groups = [SummaryGroup("all", tuple(SummaryEntry(name) for name in ("sums", "choice")))]
    rows = with_averages(summary_rows(outcomes), groups, partial(questions, folder))
    write_summary(folder.summary_dir, rows, rows)
    session = {
        "status": "finished",
        "command": "aisprompt run mixed.py",
        "started": "2026-01-31T12:00:00+00:00",
        "ended": "2026-01-31T12:03:20+00:00",
        "used": {"requests": 1300, "input_tokens": 21_000, "output_tokens": 9_000, "cost": {"USD": 0.43}},
    }
    times = {"mean": 1.2, "p50": 1.1, "p90": 2.0, "p99": 3.25}
    speed = {
        "requests": 300,
        "failed": 3,
        "attempts": 310,
        "input_tokens": 21_000,
        "output_tokens": 9_000,
        "seconds": 24.0,
        "concurrency": 15.5,
        "latency": times,
        "first_token": times,
        "token": None,
        "requests_per_second": 12.4,
        "output_tokens_per_second": 375.0,
    }
    record = {"status": "finished", "sessions": [session], "versions": {"python": "3.11"}}
    write_json_atomic(folder.run_file, {**record, "tasks": {"large/sums": {"speed": speed}}})
    folder.config_file.write_text(f"# {HOSTILE}\nmodels = [...]\n", "utf-8", "backslashreplace")
    return folder


def make_small_run(root: Path) -> RunFolder:
    """One model, one dataset: 100 sums."""
    folder = RunFolder(root / "small" / "20260131_120000")
    rows = summary_rows([_task(folder, "large", "sums", list(islice(_sums(7), 100)))])
    write_summary(folder.summary_dir, rows, rows)
    write_json_atomic(folder.run_file, {"status": "finished", "sessions": [], "versions": {}, "tasks": {}})
    folder.config_file.write_text("models = [...]\n")
    return folder


def _judge(folder: RunFolder) -> None:
    """Judge the third of the chats."""
    asked = (ChatMessage("user", "Is 18 right? Say [[A]] or [[B]]."),)
    said = Completion("It is **right**. [[A]]", "stop", Usage(9, 3))
    judged = Prediction("s2-0123456789ab", 0, asked, said.text, "18", (said,))
    write_predictions(folder.judge("small").predictions("judge", "通用-chat"), [judged])


def _task(folder: RunFolder, model: str, dataset: str, pairs: Sequence[Pair]) -> TaskOutcome:
    write_predictions(folder.predictions(model, dataset), [prediction for prediction, _ in pairs])
    samples = [sample for _, sample in pairs]
    scores = mean_scores(("accuracy",), samples)
    if dataset == "repeated":
        scores = [replace(score, precision=Precision(0.0162, 0.01, 12)) for score in scores]
    head = {"model": model, "dataset": dataset, "scores": [score.to_json() for score in scores]}
    write_results(folder.results(model, dataset), head, (sample.to_json() for sample in samples))
    return TaskOutcome(model, dataset, scores=scores)


def _sums(skill: int) -> Iterator[Pair]:
    """Sums with shots; of a hundred, one failed, one was cut, and one cannot be read."""
    for number in range(SUMS):
        asked = f"{SHOTS}\nQuestion: {number}+{number}=?\nAnswer:"
        gold, right = str(2 * number), number % 10 < skill
        text = f"Twice {number} is {2 * number + (not right)}."
        completion = Completion(text, "stop", Usage(60, 5 + number % 12), 0.2 + number % 7 / 10)
        read = text.split()[-1][:-1]
        start = text.rindex(read)
        reading = Reading("the last number", start, start + len(read))
        sample = SampleScore(f"s{number}", "scored", read, gold, {"accuracy": float(right)}, readings=(reading,))
        if number % 100 == 50:
            completion = Completion(failure=Failure("timeout", "no answer within 60 s"), attempts=3)
            sample = SampleScore(f"s{number}", "failed", None, gold, reason="timeout")
        elif number % 100 == 60:
            completion = Completion("Well, let us see. Twice", "length", Usage(60, 20), 1.5)
            sample = SampleScore(f"s{number}", "truncated", None, gold, {"accuracy": 0.0}, "no answer found")
        elif number % 100 == 70:
            completion = Completion("I would rather not say.", "stop", Usage(60, 6), 0.5)
            sample = SampleScore(f"s{number}", "unparsed", None, gold, {"accuracy": 0.0}, "no answer found")
        answer = None if completion.failure else completion.text
        columns = {"level": number % 3, "subject": ("algebra", "数论")[number % 2], "note": f"unique {number}"}
        shots = 4 - number % 2
        yield (
            Prediction(f"s{number}", number, asked, answer, gold, (completion,), shots_used=shots, columns=columns),
            sample,
        )


def _chats(_: int) -> Iterator[Pair]:
    """A hostile text, a picture, a thought, a dialogue, and a thought without an end."""
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    far = {"type": "image_url", "image_url": {"url": "https://example.org/far.png"}}
    look = ChatMessage("user", ({"type": "text", "text": "图里有什么？"}, image, far))
    system = ChatMessage("system", "You are a careful assistant. 请用中文回答。")
    first = (system, ChatMessage("user", "法国的首都是哪里？"))
    second = (*first, ChatMessage("assistant", "巴黎。"), ChatMessage("user", "那里有多少人？"))
    thinking = Completion("18", "stop", Usage(40, 90), 2.0, reasoning="Let me think.\n3 * 6 is 18.", attempts=2)
    endless = Completion(finish_reason="length", reasoning="Hmm. " * 200, unclosed=True)
    answers = [
        (0, (ChatMessage("user", HOSTILE),), Completion(HOSTILE, "stop"), HOSTILE, HOSTILE, 0.0),
        (1, (system, look), Completion("一只猫。", "stop", Usage(900, 4), 0.9), "一只猫", "一只猫", 1.0),
        (2, (system, ChatMessage("user", "3 * 6?")), thinking, "18", "18", 1.0),
    ]
    for number, prompt, completion, extracted, gold, value in answers:
        prediction = Prediction(f"s{number}", number, prompt, completion.text, gold, (completion,))
        yield prediction, _sample(number, extracted, gold, value)
    turns = (Completion("巴黎。", "stop", Usage(30, 3), 0.4), Completion("大约二百万。  \n", "stop", Usage(50, 7), 0.5))
    dialogue = Prediction("s3", 3, (first, second), [turn.text for turn in turns], ["巴黎", "210万"], turns)
    yield dialogue, _sample(3, ["巴黎", "大约二百万"], ["巴黎", "210万"], 0.5)
    tool = Completion("", "stop", tool_calls=(ToolCall("weather", '{"city":"Paris"}'),))
    yield Prediction("s5", 5, (ChatMessage("user", "Weather?"),), "", "", (tool,)), _sample(5, "", "", 0.0)
    rendered = Completion(MARKED_UP, "stop", reasoning="Let $x=1$.")
    question = ChatMessage("user", "What is $\\frac{1}{2}$?")
    yield Prediction("s6", 6, (question,), MARKED_UP, "1/2", (rendered,)), _sample(6, "1/2", "1/2", 1.0)
    unsaid = Prediction("s4", 4, (ChatMessage("user", "6 * 7?"),), None, "42", (endless,))
    yield unsaid, SampleScore("s4", "truncated", None, "42", {"accuracy": 0.0}, "unclosed thought")


def _choices(skill: int) -> Iterator[Pair]:
    for number in range(20):
        prompts = {label: f"{SHOTS}\nQuestion: {number}+{number}=?\nAnswer: {answer}" for label, answer in
                   zip("AB", (2 * number, 2 * number + 1), strict=True)}  # fmt: skip
        chosen = "A" if number % 10 < skill else "B"
        found = {
            label: {"prompt": prompt, "ppl": 1.5 + (label != chosen) / 8, "nll": 15.25, "tokens": 12}
            for label, prompt in prompts.items()
        }
        likely = Completion(likelihood=Likelihood(15.25, 12, 13, 80), seconds=0.1)
        made = Prediction(f"s{number}", number, prompts[chosen], chosen, "A", (likely, likely), labels=found)
        yield made, _sample(number, chosen, "A", float(chosen == "A"))


def _repeats(skill: int) -> Iterator[Pair]:
    for number in range(12):
        texts = [f"It is {number + (place > skill // 2)}." for place in range(4)]
        parts = tuple(_sample(number, text[6:-1], str(number), float(text == texts[0])) for text in texts)
        completions = tuple(Completion(text, "stop", Usage(9, 4), 0.3) for text in texts)
        made = Prediction(f"s{number}", number, f"What is {number}?", texts, str(number), completions)
        mean = sum(part.values["accuracy"] for part in parts) / 4
        extracted = [part.extracted for part in parts]
        yield made, SampleScore(f"s{number}", "scored", extracted, str(number), {"accuracy": mean}, repeats=parts)


def _sample(number: int, extracted: object, gold: object, value: float) -> SampleScore:
    return SampleScore(f"s{number}", "scored", extracted, gold, {"accuracy": value})
