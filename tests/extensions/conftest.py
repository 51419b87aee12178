"""What tests of extensions share with those of the core: a small project, and a browser."""

from __future__ import annotations

from tests.core.browser.conftest import chromium as chromium
from tests.core.e2e.conftest import project as project
