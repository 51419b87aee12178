"""``track=`` and ``notify=`` of a config."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import Meta, Struct

from ais_prompt.config import ConfigSection, KeyTable, SectionForm
from ais_prompt.types import Key, as_list

Tracker: TypeAlias = Literal["mlflow", "wandb", "swanlab", "trackio"]
TRACKERS: Final[tuple[Tracker, ...]] = get_args(Tracker)


class TrackSpec(Struct, frozen=True):
    """A tracker that gets scores, config, samples and report of a run. `track='mlflow'` means `dict(to='mlflow')`.

    Attributes:
        to: `mlflow`, `wandb`, `swanlab` or `trackio`. Its own environment variables say where it is and who logs in.
        project: the project or experiment there.
        samples: most samples in its table; 0 for no table.
        offline: write to this machine only, as far as the tracker can; the run is sent later with its own command.
        uri: of MLflow: `file:///path`, `sqlite:///path` or a server; without it that of `MLFLOW_TRACKING_URI`.
    """

    to: Annotated[Tracker, Key("'mlflow', 'wandb', 'swanlab' or 'trackio'")]
    project: Annotated[str, Key("a name")] = "aisprompt"
    samples: Annotated[Annotated[int, Meta(ge=0)], Key("a number from 0")] = 200
    offline: Annotated[bool, Key("True or False")] = False
    uri: Annotated[str | None, Key("an address", default="MLflow's own")] = None


class NotifySpec(Struct, frozen=True):
    """A message when the run has ended. `notify='$CHAT_URL'` means `dict(to='$CHAT_URL')`.

    Attributes:
        to: `$NAME` of the environment variable with an address of Apprise, such as `ntfys://ntfy.sh/my-topic`; several
            are separated by spaces. The address itself is a secret, and does not belong into a config.
        only_failures: send it only if a task failed or a gate is broken.
    """

    to: Annotated[str, Key("'$NAME' of an environment variable")]
    only_failures: Annotated[bool, Key("True or False")] = False


def _parse_track(top: ConfigSection) -> tuple[TrackSpec, ...]:
    found = []
    for index, value in enumerate(as_list(top.values["track"])):
        where = f"track[{index}]" if isinstance(top.values["track"], list | tuple) else "track"
        whole = {"to": value} if isinstance(value, str) else value
        if isinstance(whole, Mapping) and whole.get("to") not in TRACKERS:
            top.faults.add(f"there is no tracker {whole.get('to')!r}", where, f"write one of {', '.join(TRACKERS)}")
        elif (section := ConfigSection.open(whole, where, top.faults)) and (spec := section.read(TrackSpec)):
            found.append(spec)
    return tuple(found)


def _parse_notify(top: ConfigSection) -> NotifySpec | None:
    value: Any = top.values["notify"]
    whole = {"to": value} if isinstance(value, str) else value
    section = ConfigSection.open(whole, "notify", top.faults)
    spec = section.read(NotifySpec) if section else None
    if spec is not None and not spec.to.startswith("$"):
        what = "an address for messages is a secret, and would be written into the run folder"
        top.faults.add(what, "notify", "export it, and write notify='$NAME' with the name of the variable")
        return None
    return spec


def addresses(spec: NotifySpec) -> list[str]:
    """Return the addresses in the environment variable of a message; none if it is not set."""
    return os.environ.get(spec.to.removeprefix("$"), "").split()


TRACK: Final = SectionForm(KeyTable("A tracker", "track", TrackSpec), _parse_track)
NOTIFY: Final = SectionForm(KeyTable("A message", "notify", NotifySpec), _parse_notify)
