"""A small project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.e2e.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write_data()
    made.write_config()
    return made
