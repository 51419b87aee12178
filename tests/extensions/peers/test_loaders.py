"""The loaders of the peers that another extension reads, of which nothing is imported here."""

from __future__ import annotations

import pytest

from ais_prompt.extensions.peers.table.parts import LOADERS


def test_each_layout_has_its_loader() -> None:
    layouts = pytest.importorskip("ais_prompt.extensions.benchmarks.layouts.layout_dataset")
    assert list(layouts.LAYOUTS) == list(LOADERS)
