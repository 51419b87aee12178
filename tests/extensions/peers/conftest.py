"""The project of tests of the command line."""

from __future__ import annotations

from tests.core.e2e.conftest import project as project
