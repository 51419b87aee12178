"""One case → passed, failed or skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tools.conformance_runner.cases import Case
from tools.conformance_runner.compare import differences
from tools.conformance_runner.dialogue_case import is_dialogue_case, run_dialogue_case
from tools.conformance_runner.inferencer_case import run_inferencer_case
from tools.conformance_runner.old_form_case import run_old_form_case
from tools.conformance_runner.outcome import Outcome
from tools.conformance_runner.prompt_case import run_prompt_case
from tools.conformance_runner.role_case import run_role_case
from tools.conformance_runner.truncation import run_length_case


def run_document_case(case: Case) -> Outcome:
    """An example of the documents, which show all kinds of things."""
    if "role_template" in case.config:
        return run_role_case(case)
    return run_dialogue_case(case) if is_dialogue_case(case) else run_prompt_case(case)


def run_truncation_case(case: Case) -> Outcome:
    """The prompts of the case, or only the length of a text."""
    return run_length_case(case) if case.config.get("call") == "api_token_len" else run_prompt_case(case)


RUNNERS: Final[Mapping[str, Callable[[Case], Outcome]]] = {
    "doc": run_document_case,
    "inferencer": run_inferencer_case,
    "labelled": run_prompt_case,
    "meta": run_prompt_case,
    "multimodal": run_prompt_case,
    "multiturn": run_dialogue_case,
    "old-form": run_old_form_case,
    "reader": run_prompt_case,
    "retrieval": run_prompt_case,
    "role-template": run_role_case,
    "template": run_prompt_case,
    "truncation": run_truncation_case,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of a case.

    Attributes:
        status: passed, failed or skipped.
        details: the differences of a failed case; of a skipped one the reason, in a word.
    """

    status: Literal["passed", "failed", "skipped"]
    details: tuple[str, ...] = ()


def check(case: Case) -> Verdict:
    """Run a case and compare what comes out with its target."""
    if case.ambiguous:
        return Verdict("skipped", ("ambiguous",))
    if case.category not in RUNNERS:
        known = ", ".join(sorted(RUNNERS))
        return Verdict("failed", (f"unknown category {case.category!r} (known: {known})",))
    try:
        outcome = RUNNERS[case.category](case)
    except Exception as error:  # whatever a case does, the others are to be run
        return Verdict("failed", (f"crashed: {type(error).__name__}: {error}",))
    found = tuple(differences(case, outcome))
    if not found:
        return Verdict("passed")
    if case.any_error:
        return Verdict("passed") if "error" in outcome else Verdict("skipped", ("nothing right is recorded",))
    return Verdict("failed", found)
