"""Notes on translated configs: each once, 80 columns."""

from __future__ import annotations

from ais_prompt.checks import translation_notes
from ais_prompt.config import Note


def test_a_note_of_many_datasets_is_shown_once() -> None:
    what = "GenInferencer: 'batch_size' is not used: requests are sent as the model's max_concurrency allows"
    notes = [Note(what, f"datasets[{index}].infer_cfg") for index in range(57)]
    [note, other] = translation_notes([*notes, Note("another", "")], lambda where: f"{where} (eval.py:12)")
    lines = f"{note.label}: {note}".splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Note: GenInferencer")
    assert lines[-1] == "  where: datasets[0].infer_cfg (eval.py:12) and 56 more"
    assert str(other) == "another"
