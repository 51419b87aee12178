"""A small project and a browser, as other tests of the command line and of the report have them."""

from tests.core.browser.conftest import chromium as chromium
from tests.core.browser.conftest import sample_run as sample_run
from tests.core.e2e.conftest import project as project
