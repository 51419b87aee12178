"""The postprocessors whose answers are those of the peers."""

from __future__ import annotations

from ais_prompt.scoring import others_than
from ais_prompt.types import PartSpec


def test_ours_could_be_in_the_place_of_a_variant() -> None:
    others = others_than(PartSpec("first_option_postprocess_peer", {}, ""))
    assert [spec.type for spec in others] == ["first_option_postprocess", "last_option_postprocess"]
