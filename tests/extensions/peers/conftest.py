"""The project of tests of the command line."""

from __future__ import annotations

from tests.e2e.conftest import project as project
