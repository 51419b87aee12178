"""A message when a run has ended, through Apprise. It has scores and names, and no sample and no secret."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.errors import StoreError
from ais_prompt.extensions.trackers.options import NotifySpec, addresses
from ais_prompt.gates import check_gates
from ais_prompt.scoring import Row
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import brought_gate
from ais_prompt.store import RunFolder, read_run_file
from ais_prompt.types import RunSpec
from ais_prompt.utils import counted

MOST_LINES = 20


def send(options: NotifySpec, folder: RunFolder, spec: RunSpec, rows: Sequence[Row]) -> None:
    """Send the message.

    Raises:
        StoreError: no service took it.
    """
    import apprise

    status = str(read_run_file(folder).get("status"))
    gates = [gate for gate in spec.gates if not gate.needs_samples and brought_gate(gate.name) is None]
    broken = [verdict for verdict in check_gates(gates, rows) if not verdict.passed]
    if options.only_failures and status == "finished" and not broken:
        return
    urls = addresses(options)
    for url in urls:
        SECRETS.add(url)
    service = apprise.Apprise()
    if not all(map(service.add, urls)):
        raise StoreError("an address of messages is not one of Apprise", fix=f"look at {options.to}")
    title = f"{spec.name}: {status}" + (f", {counted(len(broken), 'broken gate')}" if broken else "")
    text = "\n".join([*(f"gate {one.gate} is broken: {one.subject}" for one in broken), text_of(folder, rows)])
    if not service.notify(title=title, body=SECRETS.hide(text)):
        raise StoreError("no service took the message", fix=f"look at {options.to}")


def text_of(folder: RunFolder, rows: Sequence[Row]) -> str:
    """Return the scores of a run in words."""
    lines = [f"{row.model} · {row.dataset} · {row.metric}: {_score(row)}" for row in rows if row.metric is not None]
    lines += [f"{row.model} · {row.dataset}: {row.note}" for row in rows if row.metric is None and row.note]
    left = len(lines) - MOST_LINES
    more = [f"and {counted(left, 'line')} more"] if left > 0 else []
    return "\n".join([*lines[:MOST_LINES], *more, f"Run folder: {folder.root.name}"])


def _score(row: Row) -> str:
    if row.score is None:
        return "no score"
    if not row.fraction:
        return f"{row.score:.4g}"
    bounds = f" ({row.ci95_low:.1%}-{row.ci95_high:.1%})" if None not in (row.ci95_low, row.ci95_high) else ""
    return f"{row.score:.1%}{bounds}, n = {row.n}"
