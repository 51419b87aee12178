"""Changed samples in a terminal."""

from __future__ import annotations

from ais_prompt.comparison import Flip, flip_lines, questions_of
from ais_prompt.types import ChatMessage, Completion, Likelihood, Prediction


def flip(number: int, prompt: object, before: str, after: str) -> Flip:
    made = [Prediction(f"id{number}", number, prompt, text, "gold", ()) for text in (before, after)]  # type: ignore[arg-type]
    return Flip(f"id{number}", number, 1.0, 0.0, True, (made[0], made[1]), (before, after))


def test_a_sample_is_named_by_its_question_and_changed_words_are_marked() -> None:
    shots = "Example: 1\nExample: 2"
    flips = [flip(n, f"{shots}\nHow much is {n}+1?\nAnswer:", "It is 2.", "It is 3.") for n in range(2)]
    lines = list(flip_lines(flips, 5))
    assert lines[1].plain == "  worse: How much is 0+1?  row 0, sample id0, same prompt"
    before = next(line for line in lines if line.plain.startswith("    before:"))
    assert [before.plain[span.start : span.end] for span in before.spans] == ["2"]


def test_a_single_sample_is_named_by_the_end_of_its_prompt() -> None:
    prompt = (ChatMessage("system", "Be brief."), ChatMessage("user", "x" * 500 + " How much?"))
    [name] = questions_of([flip(0, prompt, "a", "b")])
    assert name.startswith("…x")
    assert name.endswith(" How much?")


def test_a_perplexity_is_shown_with_what_was_measured() -> None:
    answers = [Completion(finish_reason="stop", likelihood=Likelihood(nll, 4, 5, 17)) for nll in (10.0, 9.0)]
    made = [Prediction("id0", 0, "A text.", one.likelihood.nll / 4, None, (one,)) for one in answers if one.likelihood]
    lines = list(flip_lines([Flip("id0", 0, 2.5, 2.25, True, (made[0], made[1]), (2.5, 2.25))], 5))
    assert [line.plain for line in lines[2:]] == [
        "    before: 2.5 (10 nats, 4 tokens, 17 bytes)",
        "    after:  2.25 (9 nats, 4 tokens, 17 bytes)",
    ]
