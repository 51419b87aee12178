"""The garbage collector is left as it was."""

from __future__ import annotations

import gc

import pytest

from ais_prompt.utils.garbage import fewer_collections


def test_the_collector_is_as_before_whatever_happens() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), fewer_collections():
        assert gc.get_threshold()[0] > before[0]
        assert gc.isenabled()
        raise KeyError
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_bodies_overlap() -> None:
    before = gc.get_threshold()
    first, second = fewer_collections(), fewer_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > before[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
