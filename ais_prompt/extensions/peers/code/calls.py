"""Calls to the worker that runs code of OpenCompass and AISBench, its replies, and rows in Arrow files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.errors import DataError

PROMPT = "peer_prompt"
"""The column with the prompt that a template class of a peer writes for a row."""

NO_NETWORK = "--no-network"
"""The argument of a worker that enters a network of its own, which is empty, before it does anything else."""

STYLES = ("sum_assistant_tokens", "header_count", "list_count", "bold_count")
"""What functions of OpenCompass count in the answers of a battle: the tokens with tiktoken, and Markdown."""

Kind: TypeAlias = Literal["dataset", "evaluator", "postprocessor", "judged", "template", "retriever"]
FaultKind: TypeAlias = Literal["config", "package", "data", "raised"]


class StartCall(Struct, frozen=True, tag=True):
    """Get ready. The reply holds nothing.

    Attributes:
        log: file for what their code prints.
        network: whether their code may use the network.
        peers: package of a peer → its folder, of those that are there.
        whole: packages that Python can import as they are, with all that they require.
    """

    log: str
    network: bool
    peers: Mapping[str, str]
    whole: Sequence[str]


class CheckCall(Struct, frozen=True, tag=True):
    """Import a part and compare its arguments with its signature. The reply holds the parameters of its main method.

    Attributes:
        kind: the kind of part.
        path: its dotted name.
        kwargs: its arguments.
    """

    kind: Kind
    path: str
    kwargs: Mapping[str, Any]


class PartCall(Struct, frozen=True):
    """A call of a part.

    Attributes:
        path, kwargs: as for `CheckCall`.
    """

    path: str
    kwargs: Mapping[str, Any]


class LoadCall(PartCall, frozen=True, tag=True):
    """Load a dataset. The reply holds split → Arrow file.

    Attributes:
        path, kwargs: of its class, as for `CheckCall`.
        folder: for the Arrow files.
        prompt: dotted name of a template class that writes the prompt of each row; None for none.
    """

    folder: str
    prompt: str | None = None


class EvaluateCall(PartCall, frozen=True, tag=True):
    """Score all answers of a dataset. The reply holds a `ais_prompt.evaluators.base.BatchVerdict` as plain values.

    Attributes:
        path, kwargs: of the evaluator, as for `CheckCall`.
        offered: argument of ``score`` → its value, of those that are known.
        rows: Arrow file with the rows, for an evaluator that asks for ``test_set``; else None.
        replica: number of the repeat of all questions, from 0.
    """

    offered: Mapping[str, Any]
    rows: str | None
    replica: int = 0


class JudgedCall(PartCall, frozen=True, tag=True):
    """Score what a judge said. The reply holds a `ais_prompt.evaluators.base.BatchVerdict` as plain values.

    Attributes:
        path, kwargs: of the function, as for `CheckCall`.
        output: number of the question → what the judge said as ``prediction``, and the ``gold``.
        model: name of the model whose answers were judged.
        rows: Arrow file with the rows and answers, for a function that asks for ``dataset``; else None.
    """

    output: Mapping[str, Any]
    model: str
    rows: str | None


class PostprocessCall(PartCall, frozen=True, tag=True):
    """Postprocess texts. The reply holds one value for each.

    Attributes:
        path, kwargs: of the function, as for `CheckCall`.
        texts: the answers or golds.
    """

    texts: Sequence[Any]


class RetrieveCall(PartCall, frozen=True, tag=True):
    """Choose the examples of each question. The reply holds a list of rows of the train split for each.

    Attributes:
        path, kwargs: of the retriever, as for `CheckCall`.
        train, test: Arrow files with the rows.
        input_columns: the columns by which rows may be compared.
    """

    train: str
    test: str
    input_columns: Sequence[str]


class Scenario(Struct, frozen=True):
    """Simulated programs of bfcl_eval at the beginning of a conversation.

    Attributes:
        root: the folder that has the package.
        programs: names of their classes, such as ``GorillaFileSystem``.
        config: name of a class → its state.
        long_context: whether they answer with long texts.
    """

    root: str
    programs: Sequence[str] = ()
    config: Mapping[str, Any] = {}
    long_context: bool = False


class SimulateCall(Struct, frozen=True, tag=True):
    """Carry out calls, step by step. The reply holds the results of each step, a text for each call.

    Attributes:
        scenario: the programs.
        steps: the calls of each step, in Python's syntax.
    """

    scenario: Scenario
    steps: Sequence[Sequence[str]] = ()


class CompareCall(Struct, frozen=True, tag=True):
    """Compare a conversation with the right one. The reply holds whether it is right.

    Attributes:
        scenario: the programs.
        turns: the calls of each step of each turn.
        golds: the right calls of each turn.
    """

    scenario: Scenario
    turns: Sequence[Sequence[Sequence[str]]]
    golds: Sequence[Sequence[str]]


Call: TypeAlias = (
    StartCall
    | CheckCall
    | LoadCall
    | EvaluateCall
    | JudgedCall
    | PostprocessCall
    | RetrieveCall
    | SimulateCall
    | CompareCall
)


class CallFault(Struct, frozen=True):
    """Why a call failed.

    Attributes:
        kind: ``config``: no such part, or its arguments do not fit; ``package``: a library is not installed; ``data``:
            files are absent; ``raised``: their code raised an exception.
        what, where, fix: as in `ais_prompt.errors`.
    """

    kind: FaultKind
    what: str
    where: str = ""
    fix: str = ""


class CallReply(Struct, frozen=True):
    """The answer to a call.

    Attributes:
        value: as the call says; None after a fault.
        fault: why it failed.
    """

    value: Any = None
    fault: CallFault | None = None


def write_rows(rows: Sequence[Mapping[str, Any]], file: str) -> None:
    """Write rows as an Arrow file, with the types that the package ``datasets`` finds in them, as the peers do.

    Raises:
        DataError: a column has values of different kinds, such as texts and numbers.
    """
    import pyarrow as pa

    columns = dict.fromkeys(name for row in rows for name in row)
    arrays = {}
    for column in columns:
        try:
            arrays[column] = pa.array([row.get(column) for row in rows])
        except (pa.ArrowException, OverflowError) as error:
            raise DataError(
                f"the column {column!r} has values that `datasets` does not hold together: {error}",
                fix="give all values of the column one type; the parts of OpenCompass and AISBench need it",
            ) from None
    write_table(pa.table(arrays), file)


def write_table(table: Any, file: str) -> None:
    """Write a `pyarrow.Table` as an Arrow file."""
    import pyarrow as pa

    with pa.OSFile(file, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_table(file: str) -> Any:
    """Return the `pyarrow.Table` of an Arrow file."""
    import pyarrow as pa

    with pa.OSFile(file) as source:
        return pa.ipc.open_file(source).read_all()
