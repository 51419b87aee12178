"""Serve reports to browsers of this machine only."""

from __future__ import annotations

import shutil
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote, unquote

from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.report.html import write_report
from ais_prompt.report.html.pages import runs_page
from ais_prompt.report.html.run_files import newest_scores
from ais_prompt.store.disk import reading
from ais_prompt.store.find import all_runs
from ais_prompt.store.layout import RunFolder

LOOPBACK: Final = "127.0.0.1"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_making = threading.Lock()
"""Held while a report is written: two browsers may request the same one."""


def report_of(folder: RunFolder) -> Path:
    """Return the report of a run; write it if there is none or the scores are newer.

    Of a run that is not finished it shows the scores so far.

    Raises:
        StoreError: there are no scores yet, or the report cannot be written.
    """
    folder = newest_scores(folder)
    summary = folder.summary_dir / "summary.json"
    with _making:
        if not (folder.report.exists() and summary.exists() and _changed(folder.report) >= _changed(summary)):
            write_report(folder)
    return folder.report


class ReportServer(ThreadingHTTPServer):
    """Serve the list of runs at ``/``, and the report of each run at its `address`."""

    daemon_threads = True

    def __init__(self, work_dir: Path, port: int = 0, run: RunFolder | None = None) -> None:
        """Bind the port; `serve_forever` answers requests.

        Args:
            work_dir: the folder of the runs, which is read at each request.
            port: 0 for any free port.
            run: an additional run, which may be outside the work dir.

        Raises:
            ConfigError: the port is taken.
        """
        self.work_dir = work_dir
        self._run = run
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            what = f"cannot listen on port {port}: {error.strerror}"
            raise ConfigError(what, where="--port", fix="leave it out: any free port will do") from None

    @property
    def url(self) -> str:
        """The address of the list of runs."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def address(self, folder: RunFolder) -> str:
        """The path of a run's report below `url`."""
        root = folder.root.resolve()
        return f"/{quote(root.parent.name, safe='')}/{quote(root.name, safe='')}"

    def runs(self) -> dict[str, RunFolder]:
        """Address → run.

        Raises:
            StoreError: the work dir cannot be read.
        """
        folders = [RunFolder(root) for root in all_runs(self.work_dir)] + ([self._run] if self._run else [])
        return {self.address(folder): folder for folder in folders}

    def hosts(self) -> set[str]:
        """Return the host names of this server; requests by other names are refused (DNS rebinding)."""
        return {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    """Answer GET and HEAD; a path is looked up among the runs, never on the disk."""

    server: ReportServer
    timeout = 60

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the terminal belongs to the user."""

    def _answer(self, *, with_body: bool) -> None:
        if self.headers.get("Host") not in self.server.hosts():
            self._send(HTTPStatus.FORBIDDEN, _plain("this server is for this machine only"), with_body)
            return
        try:
            runs = self.server.runs()
            path = self.path.partition("?")[0]
            folder = runs.get(path)
            if path == "/":
                page = runs_page(self.server.work_dir, runs).encode()
                self._send(HTTPStatus.OK, BytesIO(page), with_body, kind="text/html")
            elif folder is None:
                self._send(HTTPStatus.NOT_FOUND, _plain(f"there is no run {unquote(path)}"), with_body)
            else:
                report = report_of(folder)
                with reading(report, fix="give the command again"), report.open("rb") as stream:
                    self._send(HTTPStatus.OK, stream, with_body, kind="text/html")
        except AisPromptError as error:
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, _plain("\n".join(error.lines())), with_body)

    def _send(self, status: HTTPStatus, body: BinaryIO, with_body: bool, kind: str = "text/plain") -> None:
        size = body.seek(0, 2)
        body.seek(0)
        self.send_response(status)
        headers = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(size), **_HEADERS}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            shutil.copyfileobj(body, self.wfile)


def _plain(text: str) -> BytesIO:
    return BytesIO(f"{text}\n".encode("utf-8", "backslashreplace"))


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns
