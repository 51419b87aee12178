"""Notes on translated configs: each once, 80 columns."""

from __future__ import annotations

from ais_prompt.peers import Note
from ais_prompt.plan.warning import translation_notes


def test_a_note_of_many_datasets_is_shown_once() -> None:
    what = "GenInferencer: 'batch_size' is not used: requests are sent as the model's max_concurrency allows"
    notes = [Note(what, f"datasets[{index}].infer_cfg.inferencer.batch_size") for index in range(57)]
    [note, other] = translation_notes([*notes, Note("another", "x")], lambda where: f"{where} (eval.py:12)")
    assert note.what == what
    assert "datasets[0].infer_cfg.inferencer.batch_size (eval.py:12), and in 56 more places" in " ".join(
        str(note).split()
    )
    assert max(map(len, f"{note.label}: {note}".splitlines())) <= 80
    assert str(other) == "another (x (eval.py:12))"
