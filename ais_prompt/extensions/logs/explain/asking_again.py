"""Separate by asking again what logs cannot separate: the prompt, the decoding, and what no log holds.

A model is asked the prompts of either log with the decoding of either log. Each pair has an effect of the prompt and
one of the decoding, in both orders (Shapley 1953). The rest of the difference comes from the model, the server or
chance. The prompt and decoding of one log are asked twice, which shows how much is chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ais_prompt.comparison import CHANCE, Division, ScoredTask, decoding, has_bodies, model_name, same_prompt
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.logs.explain.ladder import AskedAgain, Ladder, Step, in_order, is_before_answer
from ais_prompt.metrics import mean_difference
from ais_prompt.plan import accepts
from ais_prompt.registry import MODELS
from ais_prompt.types import ChatMessage, Prediction, Prompts, prompts_to_json
from ais_prompt.utils import counted, digest

SIDES: Final = ("first", "second")
Way = tuple[int, int]
"""The log (0 or 1) that the prompt is from, and the log that the decoding is from."""
_TWICE: Final = 2
_NOT_SENT: Final = ("n", "top_k_per_token", "logprobs", "top_logprobs")
"""Fields of a request that do not change an answer, or say how many are wanted."""
PROMPT, DECODING = "prompt", "decoding"


class Questions(Struct, frozen=True):
    """What is asked again.

    Attributes:
        ladder: the explanation without asking.
        pairs: ids of the pairs that are asked, in the second log.
        of: number of pairs that could be asked.
        causes: of prompt and decoding, those that are known to differ.
        ways: each combination that is asked → how often.
    """

    ladder: Ladder
    pairs: tuple[str, ...]
    of: int
    causes: tuple[str, ...]
    ways: Mapping[Way, int]

    @property
    def requests(self) -> int:
        """Number of requests."""
        return len(self.pairs) * sum(self.ways.values())

    @property
    def models(self) -> dict[Way, str]:
        """Each combination → ``abbr`` of the model in the config, which has the decoding of one log."""
        return {way: SIDES[way[1]] for way in self.ways}

    @property
    def effects(self) -> dict[str, dict[Way, float]]:
        """Cause → the weight of each combination in its effect."""
        if len(self.causes) == 2:
            return {
                PROMPT: {(0, 0): -0.5, (1, 0): 0.5, (0, 1): -0.5, (1, 1): 0.5},
                DECODING: {(0, 0): -0.5, (1, 0): -0.5, (0, 1): 0.5, (1, 1): 0.5},
            }
        return {cause: {(0, 0): -1.0, (1, 1): 1.0} for cause in self.causes}


def choose_questions(ladder: Ladder, most: int) -> Questions:
    """Choose the pairs that are asked again, and the combinations of prompt and decoding.

    The pairs are a random sample that is the same each time, and a larger one has those of a smaller one.

    Args:
        ladder: the explanation without asking.
        most: number of requests.

    Raises:
        DataError: there is nothing to separate, or the logs do not hold what is needed.
        ConfigError: ``most`` is less than one pair needs.
    """
    before, after = ladder.tasks
    where = after.name
    names = [name for step in ladder.steps if is_before_answer(step) for name in step.pairs]
    if not names:
        what = "no answers differ by something that asking again could separate"
        raise DataError(what, where=where, fix="leave --ask out")
    if Division(before, after, names).cannot_score or after.corpus or before.corpus:
        what = "new answers cannot be scored: a rule is not known here, is a judge, or scores all answers at once"
        fix = "import both logs, and score the runs by a rule of yours: aisprompt score RUN --config CONFIG"
        raise DataError(what, where=where, fix=fix)
    sides = before.predictions, after.predictions
    if not all(side[name].origin_prompt for side in sides for name in names):
        raise DataError("a log does not hold the prompts", where=where, fix="ask with logs that have them")
    by_prompt = not all(same_prompt(sides[0][name], sides[1][name]) for name in names)
    by_decoding = bool(_differing_fields(ladder))
    causes = (*([PROMPT] if by_prompt else []), *([DECODING] if by_decoding else []))
    ways: dict[Way, int] = {(0, 0): _TWICE}
    if len(causes) == 2:
        ways |= {(0, 1): 1, (1, 0): 1}
    if causes:
        ways[1, 1] = _TWICE
    each = sum(ways.values())
    if most < each:
        what = f"a pair needs {each} requests, and at most {most} are allowed"
        raise ConfigError(what, where="--max-requests", fix=f"--max-requests {each} or more")
    chosen = sorted(dict.fromkeys(names), key=digest)
    return Questions(ladder, tuple(chosen[: most // each]), len(chosen), causes, ways)


def config_of(questions: Questions, model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config that asks a model. Fields of decoding that both logs lack are those of the model's config."""
    tasks = questions.ladder.tasks
    sent = _sent_fields(tasks)
    return {
        "run_name": "explain",
        "models": [
            {**_with_decoding(model, sent[side], must_take_it=DECODING in questions.causes), "abbr": SIDES[side]}
            for side in dict.fromkeys(way[1] for way in questions.ways)
        ],
        "datasets": [
            _dataset(way, times, [tasks[way[0]].predictions[name].origin_prompt for name in questions.pairs])
            for way, times in questions.ways.items()
        ],
        "model_dataset_combinations": [
            {"models": [model], "datasets": [dataset_name(way)]} for way, model in questions.models.items()
        ],
    }


def _sent_fields(tasks: tuple[ScoredTask, ScoredTask]) -> list[dict[str, Any]]:
    """Return the decoding to ask with, of each log. A field that one log may only not hold is that of the other."""
    known = [{name: one for name, one in decoding(task).items() if name not in _NOT_SENT} for task in tasks]
    return [known[side] if has_bodies(task) else {**known[1 - side], **known[side]} for side, task in enumerate(tasks)]


def _differing_fields(ladder: Ladder) -> dict[str, tuple[Any, Any]]:
    first, second = _sent_fields(ladder.tasks)
    names = dict.fromkeys((*first, *second))
    return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}


def dataset_name(way: Way) -> str:
    """Return the ``abbr`` of a combination in the config."""
    return f"{SIDES[way[0]]}-prompt-{SIDES[way[1]]}-decoding"


def _with_decoding(model: Mapping[str, Any], fields: Mapping[str, Any], *, must_take_it: bool) -> dict[str, Any]:
    if not accepts(MODELS.get(model["type"]), "generation_kwargs"):
        if not must_take_it:
            return dict(model)
        what = f"{model['type']} has no generation_kwargs, so it cannot get the decoding of the logs"
        raise ConfigError(what, where="--ask", fix="name a server or weights")
    sent = {name: value for name, value in fields.items() if value is not None}
    length = {"max_out_len": sent.pop("max_tokens")} if "max_tokens" in sent else {}
    stop = sent.pop("stop", ())
    words = {"stop_words": [stop] if isinstance(stop, str) else list(stop)} if stop else {}
    return {**model, **length, **words, "generation_kwargs": {**model.get("generation_kwargs", {}), **sent}}


def _dataset(way: Way, times: int, prompts: Sequence[Prompts]) -> dict[str, Any]:
    """Return the dataset of a combination: the prompts as the log has them, as messages unless all are texts."""
    rows: list[dict[str, Any]]
    if all(isinstance(one, str) for one in prompts):
        rows = [{"prompt": one} for one in prompts]
        template: dict[str, Any] = {"type": "PromptTemplate", "template": "{prompt}"}
    else:
        rows = [{"prompt": _messages(one)} for one in prompts]
        template = {"type": "RawPromptTemplate", "messages": [{"expand_column": "prompt"}]}
    return {
        "type": "LocalDataset",
        "abbr": dataset_name(way),
        "rows": rows,
        "reader_cfg": {"input_columns": ["prompt"], "output_column": None},
        "infer_cfg": {"prompt_template": template, "inferencer": {"type": "GenInferencer", "n": times}},
    }


def _messages(prompt: Any) -> Any:
    """Return a prompt as messages; of the prompts of a conversation the last one holds all."""
    while isinstance(prompt, tuple) and prompt and not isinstance(prompt[-1], ChatMessage):
        prompt = prompt[-1]
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompts_to_json(prompt)


def separate(questions: Questions, answers: Mapping[Way, Sequence[Prediction]], folder: str) -> Ladder:
    """Return the explanation in which the steps before the answer are separated.

    Args:
        questions: what was asked.
        answers: each combination → the answers to its pairs, in order.
        folder: the run folder, for the reader.

    Raises:
        DataError: no pair has all of its answers.
    """
    asked = _Asked(questions, answers)
    if not len(asked.pairs):
        what = f"no pair of {len(questions.pairs)} has all of its answers"
        raise DataError(what, where=folder, fix=f"see why requests failed: aisprompt view {folder}")
    return replace(
        questions.ladder,
        steps=in_order([*(one for one in questions.ladder.steps if not is_before_answer(one)), *asked.steps()]),
        asked=AskedAgain(
            pairs=len(asked.pairs),
            of=questions.of,
            requests=questions.requests,
            twice=len(asked.equal),
            equal=sum(asked.equal),
            as_logged=sum(asked.as_logged),
            folder=folder,
        ),
    )


class _Asked:
    """The values of the answers, of the pairs of which all could be scored.

    Attributes:
        pairs: their ids.
        equal: whether both answers are equal, of each pair that was asked twice in the same way.
        as_logged: whether the first of them is that of the log; of both logs if nothing is known to differ.
    """

    def __init__(self, questions: Questions, answers: Mapping[Way, Sequence[Prediction]]) -> None:
        ladder = questions.ladder
        before, after = ladder.tasks
        names = questions.pairs
        division = Division(before, after, names)
        logged = [[task.predictions[name] for name in names] for task in ladder.tasks]
        values: dict[Way, NDArray[np.float64]] = {
            way: np.array([division.values_of(found) for found in _as_of_log(logged[way[0]], answers[way], times)]).T
            for way, times in questions.ways.items()
        }
        old, new = (np.array(division.values_of(one)) for one in logged)
        stored = new - old
        whole = np.isfinite(np.column_stack([stored, *values.values()])).all(axis=1)
        self._questions = questions
        self._values = {way: found[whole] for way, found in values.items()}
        self._stored: NDArray[np.float64] = stored[whole]
        self.pairs = [name for name, is_whole in zip(names, whole, strict=True) if is_whole]
        self.equal: list[bool] = []
        self.as_logged: list[bool] = []
        for way, times in questions.ways.items():
            if times != _TWICE:
                continue
            sides = [logged[way[0]]] if questions.causes else logged
            for number, answer in enumerate(answers[way]):
                if whole[number]:
                    first, second = _texts(answer)
                    self.equal.append(first == second)
                    self.as_logged.append(all(first in _texts(side[number]) for side in sides))

    def steps(self) -> list[Step]:
        """Return the separated steps; they add up to those that they replace."""
        ladder = self._questions.ladder
        means = {way: found.mean(axis=1) for way, found in self._values.items()}
        effects = {
            cause: np.sum([weight * means[way] for way, weight in weights.items()], axis=0)
            for cause, weights in self._questions.effects.items()
        }
        found = [self._step(cause, effect) for cause, effect in effects.items()]
        left = sum(one.difference for one in ladder.steps if is_before_answer(one)) - sum(
            one.difference for one in found
        )
        rest = self._stored - np.sum([np.zeros_like(self._stored), *effects.values()], axis=0)
        if not all(self.as_logged) or abs(left) > _ROUNDED:
            found.append(self._rest(left, rest))
        return [one for one in found if one.pairs or abs(one.difference) > _ROUNDED]

    def _step(self, cause: str, effect: NDArray[np.float64]) -> Step:
        weights = self._questions.effects[cause]
        noise = self._noise * sum(weight**2 / self._questions.ways[way] for way, weight in weights.items())
        value = self._share * float(effect.mean())
        certain = len(self.pairs) == self._questions.of and all(self.equal) and all(self.as_logged)
        return Step(
            cause,
            value,
            "certain" if certain else "inferred",
            self._why(cause),
            len(moved := self._moved(effect)),
            None if certain else self._interval(effect, noise),
            moved,
        )

    def _rest(self, left: float, rest: NDArray[np.float64]) -> Step:
        """Return the step of what asking again does not give: the model, the server, or chance."""
        before, after = self._questions.ladder.tasks
        interval = self._interval(rest, self._noise * 3, left)  # two answers of the logs, and two means of two answers
        known = all(has_bodies(task) or not task.is_log for task in (before, after))
        makers = ("model", "server") if known else ("model", "server", DECODING)
        if model_name(before) != model_name(after):
            cause, why = "model", f"{before.model} → {after.model}; asking one model again does not give it"
        elif all(self.equal):
            cause, why = " or ".join(makers), "answers are equal when asked twice, and not those of both logs"
        elif interval and interval[0] <= 0 <= interval[1]:
            cause, why = CHANCE, f"asked twice, {self.equal.count(False)} of {len(self.equal)} answers differ"
        else:
            cause, why = " or ".join([*makers, CHANCE]), "more than asking twice explains"
        moved = self._moved(rest)
        return Step(cause, left, "inferred", why, len(moved), interval, moved)

    @property
    def _share(self) -> float:
        """The pairs that the asked ones stand for, as a share of all samples of both logs."""
        return self._questions.of / self._questions.ladder.common

    @property
    def _noise(self) -> float:
        """The variance of the value of an answer that is asked again."""
        twice = [found for found in self._values.values() if found.shape[1] == _TWICE]
        return float(np.mean([np.var(found, axis=1, ddof=1).mean() for found in twice]))

    def _interval(
        self, effect: NDArray[np.float64], noise: float, value: float | None = None
    ) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean effect, which is that of a sample without replacement.

        Pairs that are asked add no error by being drawn, only that of chance (``noise``, its variance for a pair).
        """
        widest = 1.0 if value is None else 2.0  # what is left is a difference less an effect
        best = widest if self._questions.ladder.fraction else None
        found = mean_difference(effect.tolist(), best=best)
        if found.interval is None:
            return None
        asked = len(effect) / self._questions.of
        spread = float(np.var(effect, ddof=1))
        chance = min(1.0, noise / spread) if spread else float(noise > 0)
        width = math.sqrt(1 - asked + asked * chance)
        middle = self._share * found.value if value is None else value
        low, high = (self._share * width * (end - found.value) for end in found.interval)
        return middle + low, middle + high

    def _moved(self, effect: NDArray[np.float64]) -> tuple[str, ...]:
        return tuple(name for name, one in zip(self.pairs, effect, strict=True) if abs(one) > _ROUNDED)

    def _why(self, cause: str) -> str:
        asked = f"{counted(len(self.pairs), 'pair')} of {self._questions.of} asked again"
        if cause == PROMPT:
            return f"the prompts of either log, {asked}"
        fields = _differing_fields(self._questions.ladder).items()
        changed = ", ".join(f"{name} {old!r} → {new!r}" for name, (old, new) in fields)
        return f"{changed}, {asked}"


_ROUNDED: Final = 1e-9


def _as_of_log(logged: Sequence[Prediction], answers: Sequence[Prediction], times: int) -> list[list[Prediction]]:
    """Return, for each time that was asked, the answers as if they were those of the log."""
    return [
        [
            replace(old, prediction=_texts(new)[number], completions=(new.completions[number],))
            for old, new in zip(logged, answers, strict=True)
        ]
        for number in range(times)
    ]


def _texts(prediction: Prediction) -> list[Any]:
    return prediction.prediction if isinstance(prediction.prediction, list) else [prediction.prediction]
