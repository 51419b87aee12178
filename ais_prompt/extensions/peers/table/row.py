"""A row of the table: one part of a peer, and the part that does its work here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

SAYS_NOTHING: Final[Mapping[str, Sequence[Any]]] = {
    "attr": ("local", "service", "accuracy"),
    "drop_middle": (False,),
    "finish_reason_confirm": (True,),
    "infer_type": ("sc",),
    "local_mode": (True, False),
    "logprobs": (False,),
    "mode": ("none", "infer", ""),
    "multiround": (False,),
    "num_procs": (1,),
    "rpm_verbose": (False,),
    "stream_chunk_size": (1,),
    "sync_rank": (False,),
    "think_tag": ("</think>",),
    "tokenizer_only": (False,),
    "trust_remote_code": (False,),
    "verbose": (False,),
}
"""Argument of the peers → values with which it changes nothing there: it is dropped without a note. So is None."""


class PartRow(Struct, frozen=True):
    """What a part of OpenCompass or AISBench means here.

    Arguments are renamed first, then dropped, then their values mapped, then ``change`` is called. An argument that our
    part does not have after that is dropped with a note.

    Attributes:
        name: the last name of their class or function.
        ours: the registered name of our part.
        module: beginning of the module of their part, where the name means different things in different modules.
        rename: their argument → ours.
        drop: their argument → why it has no meaning here, as a clause for the note: ``"batches form by themselves"``.
            There is no note for values that `SAYS_NOTHING` lists.
        drop_options: the same for options of generation, in one of the dicts that hold them.
        values: our argument → their value → ours; other values stay.
        add: arguments that our part needs to do the same.
        change: for what the rules above cannot say: takes the arguments and returns those of our part.
        unless: argument → values for which the row does not hold, so that the peer's own code runs.
        instead: argument → the row that holds where the argument is true.
        gold_columns: for an evaluator: the columns that ours needs as the gold; theirs finds them in the rows.
        in_process: of a model for which a server is started: the row for ``--hf``, which takes transformers instead.
        differs: in what the results differ from the peer's, as a sentence for the note; empty if they are the same.
        metrics: of an evaluator: their metric → ours, for the rows of a summarizer.
        exact: the registered name of our part that gives the peer's results, for ``--peer-scores``. Without it, that
            option uses their own code.
    """

    name: str
    ours: str
    module: str = ""
    rename: Mapping[str, str] = {}
    drop: Mapping[str, str] = {}
    drop_options: Mapping[str, str] = {}
    values: Mapping[str, Mapping[Any, Any]] = {}
    add: Mapping[str, Any] = {}
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    unless: Mapping[str, Sequence[Any]] = {}
    instead: Mapping[str, PartRow] = {}
    gold_columns: tuple[str, ...] = ()
    in_process: PartRow | None = None
    differs: str = ""
    exact: str = ""
    metrics: Mapping[str, str] = {}
