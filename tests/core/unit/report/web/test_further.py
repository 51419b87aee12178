"""A tab of an extension that cannot be read does not take the report away."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.report import ReportTab
from ais_prompt.report.web import run_files
from ais_prompt.store import RunFolder


def tab(data: Any, *, is_scored: bool) -> ReportTab:
    return ReportTab(data, lambda _: {}, lambda _: 0, lambda _: None, is_scored)


def broken(_: RunFolder) -> dict[str, Any]:
    raise ConfigError("the config of the run cannot be read")


@pytest.mark.parametrize("is_scored", [True, False])
def test_a_tab_that_cannot_be_read_is_left_out_beside_scores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, caplog: pytest.LogCaptureFixture, is_scored: bool
) -> None:
    tabs = {"whole": tab(lambda _: {"one": 1}, is_scored=True), "broken": tab(broken, is_scored=is_scored)}
    monkeypatch.setattr(run_files, "tabs_of", lambda _: tabs)
    if is_scored:
        assert run_files.further_data(RunFolder(tmp_path)) == {"one": 1}
        assert "no tab 'broken'" in caplog.text
    else:
        with pytest.raises(ConfigError):
            run_files.further_data(RunFolder(tmp_path))
