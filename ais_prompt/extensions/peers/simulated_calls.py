"""Conversations of BFCL: simulated programs carry out the calls of the model between the turns.

The programs and the checker are those of the package `bfcl_eval`. Source of the rules: AISBench 3.1.20260630,
``BFCLV3FunctionCallInferencer`` with ``returns_tool_calls=True`` and ``BFCLMultiTurnEvaluator``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Struct

from ais_prompt.errors import DataError, PartError, PromptError
from ais_prompt.evaluators import MeanEvaluator
from ais_prompt.extensions.peers.code.calls import CompareCall, Scenario, SimulateCall
from ais_prompt.extensions.peers.code.session import TookTooLong, call_programs, programs_root
from ais_prompt.inferencers import Conversation, InferenceContext, MultiTurnToolCallInferencer, Preview, checked_tools
from ais_prompt.parts import exception_line
from ais_prompt.postprocess import ToolFormat
from ais_prompt.registry import EVALUATORS, INFERENCERS
from ais_prompt.types import ChatMessage, Completion, Prediction, Request, Sample

MOST_STEPS: Final = 20
"""After a further step with calls in one turn, the conversation ends."""
_FORM: Final = '[{"messages": [{"role": "user", "content": "..."}], "tools": [...]}]'
_SOME: Final = msgspec.Meta(min_length=1)
_FIX: Final = "take the columns of BFCL's data: initial_config, involved_classes, ground_truth and id"


@INFERENCERS.register_module()
class SimulatedToolCallInferencer(MultiTurnToolCallInferencer):
    """Lets the model call tools that simulated programs carry out. The prediction is the JSON of all turns.

    A turn has as many requests as the model needs: after each answer with calls it sees their results, until an answer
    has no call that can be read. Then the next turn begins. A conversation ends early at the 21st answer with calls in
    one turn, or where the programs take longer than ten seconds. The prompt template is the first turn.

    The prediction has a list for each turn, with a list of ``{name: arguments}`` for each answer. Columns of BFCL name
    the programs: ``involved_classes`` and ``initial_config``.

    Args:
        turns: the column with the turns, a list or JSON, each a mapping with ``messages``, what is said before the
            model is asked, and ``tools``, those that are offered from this turn on, in the form of the OpenAI API. A
            turn without ``tools`` keeps those before.
        long_context: whether the programs answer with long texts.
        tool_choice, parser, max_out_len: as in `ToolCallInferencer`.
    """

    def __init__(
        self,
        turns: str = "turns",
        long_context: bool = False,
        tool_choice: str | Mapping[str, Any] | None = None,
        parser: ToolFormat | None = None,
        max_out_len: int | None = None,
    ) -> None:
        super().__init__(turns, (), tool_choice, parser, max_out_len)
        self.long_context = long_context

    @staticmethod
    def check_arguments(**arguments: Any) -> None:  # noqa: ARG004
        """Import the programs.

        Raises:
            MissingExtra: a package is not installed.
        """
        call_programs(SimulateCall(Scenario(programs_root())))

    @classmethod
    def asks_every_turn(cls, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG003
        """Return False: a conversation has one prediction."""
        return False

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask step by step, until a request fails; the state of the programs follows from the answers so far."""
        scenario = _scenario(sample.fields, self.long_context)
        history: list[ChatMessage] = []
        said: list[list[Any]] = []
        steps: list[list[str]] = []
        completions: list[Completion] = []

        def prediction() -> Prediction:
            failed = completions[-1].failure is not None
            return Prediction(
                sample_id=sample.id,
                index=sample.index,
                origin_prompt=prompt,
                prediction=None if failed else json.dumps(said, ensure_ascii=False),
                gold=sample.gold,
                completions=tuple(completions),
                failed_turn=len(said) if failed else None,
            )

        for number, turn in enumerate(self._conversation(sample)):
            history += turn.messages if number else []
            said.append([])
            for _ in range(MOST_STEPS + 1):
                prompt = self._prompt(sample, shots, context, turn.tools, history)
                decoding = self._decoding(context, turn.tools)
                [completion] = yield [Request(sample.id, prompt, decoding, len(completions))]
                completions.append(read := self._with_written_calls(completion))
                if completion.failure:
                    return prediction()
                said[-1].append(response := _response(read))
                results: list[str] = []
                if calls := python_calls(response):
                    steps.append(calls)
                    try:
                        results = _called(SimulateCall(scenario, steps))[-1]
                    except TookTooLong:
                        return prediction()
                history += self._reply(completion, read.tool_calls, results, len(completions) - 1)
                if not calls:
                    break
            else:
                break
        return prediction()

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the first request, whose title names the tools; later ones depend on the answers."""
        [first, *_] = self._conversation(sample)
        filled = context.builder.generation(sample, shots)
        names = ", ".join(tool["function"]["name"] for tool in first.tools)
        prompt = self._prompt(sample, shots, context, first.tools)
        return [Preview(f"turn 1, tools: {names or 'none'}", filled, prompt)]

    def _conversation(self, sample: Sample) -> list[_Turn]:
        """Return the turns of a sample.

        Raises:
            PromptError: there is no such column, or it holds no turns.
        """
        try:
            turns: list[_Turn] = []
            for one in msgspec.convert(_parsed(sample.fields[self.turns]), list[dict[str, Any]]):
                tools = turns[-1].tools if turns and "tools" not in one else checked_tools(one["tools"], PromptError)
                turns.append(_Turn(msgspec.convert(one["messages"], list[ChatMessage]), tools))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            what = f"the column {self.turns!r} holds no turns: {exception_line(error)}"
            raise PromptError(what, fix=f"write {_FORM}") from None
        if not turns:
            raise PromptError(f"the column {self.turns!r} has no turn", fix=f"write {_FORM}")
        return turns


class _Turn(Struct, frozen=True):
    """What is said before a turn, and the tools of the turn."""

    messages: list[ChatMessage]
    tools: list[Mapping[str, Any]]


@EVALUATORS.register_module()
class SimulatedCallsEvaluator(MeanEvaluator):
    """The share of conversations with the right calls, by the checker of bfcl_eval.

    After each turn the programs have the state that the right calls give, and the results of the right calls are among
    those of the model so far. A conversation that ended early is wrong. Answers whose calls cannot be read count as
    answers without calls. The extracted answer is the JSON of `SimulatedToolCallInferencer`.

    The gold is a mapping: ``reader_cfg=dict(gold_columns=['initial_config', 'involved_classes', 'ground_truth', 'id'],
    ...)``, columns of BFCL. The texts of the programs are long where ``id`` has ``long_context``.

    Source: ``multi_turn_checker`` of `bfcl-eval` 2025.6.14, which runs in a process of its own.
    """

    @staticmethod
    def check_arguments() -> None:
        """Import the programs.

        Raises:
            MissingExtra: a package is not installed.
        """
        call_programs(SimulateCall(Scenario(programs_root())))

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the conversation is right, else 0, also where the programs take longer than ten seconds.

        Raises:
            DataError: the gold lacks a column.
            MissingExtra: a package is not installed.
        """
        scenario = _scenario(gold, "long_context" in str(gold.get("id")))
        golds = _column(gold, "ground_truth", Annotated[list[list[str]], _SOME])
        try:
            turns = [[calls for response in turn if (calls := python_calls(response))] for turn in json.loads(answer)]
        except (ValueError, TypeError):
            return 0.0
        if len(turns) != len(golds):
            return 0.0
        try:
            return float(_called(CompareCall(scenario, turns, golds)))
        except TookTooLong:
            return 0.0


def _called(call: SimulateCall | CompareCall) -> Any:
    """Return the value of a call.

    Raises:
        TookTooLong: the calls of the model take longer than ten seconds.
        DataError: the programs cannot begin with the values of this row.
    """
    try:
        return call_programs(call)
    except TookTooLong:
        raise
    except PartError as error:
        raise DataError(error.what, where=error.where, fix=_FIX) from error


def _scenario(columns: Mapping[str, Any], long_context: bool) -> Scenario:
    """Return the programs that columns of BFCL name.

    Raises:
        DataError: a column is missing, or holds something else.
    """
    programs = _column(columns, "involved_classes", Annotated[list[str], _SOME])
    return Scenario(programs_root(), programs, _column(columns, "initial_config", dict[str, Any]), long_context)


def _column(columns: Mapping[str, Any], name: str, kind: Any) -> Any:
    try:
        return msgspec.convert(_parsed(columns[name]), kind)
    except KeyError:
        raise DataError(f"there is no column {name!r}", fix=_FIX) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"the column {name!r} holds something else: {exception_line(error)}", fix=_FIX) from None


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _response(completion: Completion) -> Any:
    """Return the calls of an answer, each ``{name: arguments}``; else what its text is as JSON, or an empty list."""
    if completion.tool_calls:
        return [{call.name.strip(): call.arguments} for call in completion.tool_calls]
    try:
        return json.loads(completion.text)
    except (ValueError, RecursionError):
        return []


def python_calls(response: Any) -> list[str]:
    """Return the calls of a response in Python's syntax; empty if one of them cannot be read.

    Args:
        response: a list of ``{name: arguments}``, with the arguments as a mapping or JSON.
    """
    try:
        return [
            f"{name}({','.join(f'{key}={value!r}' for key, value in _parsed(arguments).items())})"
            for called in ([response] if isinstance(response, dict) else response)
            for name, arguments in called.items()
        ]
    except (AttributeError, TypeError, ValueError, RecursionError):
        return []
