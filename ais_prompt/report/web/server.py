"""Serve reports to the browsers of one user of this machine.

Other users of the machine can connect to a loopback address too. So the address that `aisprompt view` opens and prints
carries a token, as in Jupyter; the first page keeps it in a cookie. Without it nothing is answered.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, Protocol
from urllib.parse import parse_qs, quote, unquote

from msgspec.structs import asdict

from ais_prompt.comparison import comparison_json
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.report.web.pages import comparison_page, runs_page, write_report
from ais_prompt.report.web.run_files import LiveRun, Rescore, newest_scores, time_of_summary
from ais_prompt.report.web.served import ServedReport
from ais_prompt.secrets import SECRETS
from ais_prompt.store import RunFolder, all_runs, reading, refuse_links
from ais_prompt.utils import encode_finite

logger = logging.getLogger(__name__)

LOOPBACK: Final = "127.0.0.1"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
OWN_PAGE: Final = "frame-ancestors 'none'"
STORED_PAGE: Final = f"{OWN_PAGE}; sandbox allow-scripts allow-downloads"
"""The policy for a file of a run folder: its scripts, which may be of somebody else, reach nothing of this server."""
EVENT_SECONDS: Final = 1.0
"""Between two looks at a run that a browser follows."""
PAGE_DATA: Final = "/data"
"""Where the script of a further page gets and posts values, below its address."""
MOST_SENT: Final = 100_000
"""Bytes that such a page may send at once."""
OWN_HEADER: Final = "X-Aisprompt-Report"
"""A page of another site cannot send it, so it cannot start to score."""
NO_TOKEN: Final = "open the address that `aisprompt view` printed: it has the token of this server"
_making = threading.Lock()
"""Held while a report is written: two browsers may request the same one."""


def report_of(folder: RunFolder) -> Path:
    """Return the report of a run; write it if there is none or the scores are newer.

    Of a run that is not finished it shows the scores so far.

    Raises:
        StoreError: there are no scores yet, or the report cannot be written.
    """
    refuse_links(folder)
    folder = newest_scores(folder)
    with _making:
        scored = time_of_summary(folder)
        if not (scored and folder.report.exists() and folder.report.stat().st_mtime_ns >= scored):
            write_report(folder)
    return folder.report


class RunPage(Protocol):
    """A page of an extension below the address of a run. Its script gets and posts JSON at the address of the page."""

    def html(self) -> str:
        """Return the page, from `page_pieces`."""

    def answer(self, values: Mapping[str, str]) -> Any:
        """Return JSON values for a query.

        Raises:
            AisPromptError: they cannot be read.
        """

    def take(self, values: Mapping[str, Any]) -> Any:
        """Take JSON values that the page sends, and return some.

        Raises:
            AisPromptError: they are not taken; the page shows the message.
        """


class ReportServer(ThreadingHTTPServer):
    """Serve the list of runs at ``/``, a comparison at ``/compare``, and the report of each run at its `address`.

    Below an address are ``report.html`` (one file with everything), and what the page of the report asks for:
    ``overview``, ``rows``, ``questions``, ``sample``, ``others``, ``prompts`` (JSON) and ``events`` (server-sent
    events). A POST to ``score`` scores what an unfinished run has answered so far. Extensions have further pages there
    (`RunPage`): a GET of ``NAME`` is the page, one of ``NAME/data`` gets values, and a POST to that sends some.

    Attributes:
        token: what a request must know, as ``?token=`` or as the cookie that the answer to that sets.
    """

    daemon_threads = True

    def __init__(
        self,
        work_dir: Path,
        port: int = 0,
        run: RunFolder | None = None,
        rescore: Rescore | None = None,
        pages: Mapping[str, RunPage] = MappingProxyType({}),
    ) -> None:
        """Bind the port; `serve_forever` answers requests.

        Args:
            work_dir: the folder of the runs, which is read at each request.
            port: 0 for any free port.
            run: an additional run, which may be outside the work dir.
            rescore: scores what an unfinished run has answered so far, while a browser shows it.
            pages: further pages about ``run``, by name.

        Raises:
            ConfigError: the port is taken.
        """
        self.work_dir = work_dir
        self.token = secrets.token_urlsafe(24)
        self._run = run
        self._pages = pages
        self._rescore = rescore
        self._reports: dict[str, tuple[ServedReport, LiveRun]] = {}
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            what = f"cannot listen on port {port}: {error.strerror}"
            raise ConfigError(what, where="--port", fix="leave it out: any free port will do") from None

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """Note an error of one request in the log: mostly a browser that left while a page was sent."""
        logger.info("a page was not sent", exc_info=True)

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

    def served(self, address: str, folder: RunFolder) -> tuple[ServedReport, LiveRun]:
        """Return the report of a run and what follows it; both are kept."""
        with _making:
            return self._reports.setdefault(address, (ServedReport(folder), LiveRun(folder, self._rescore)))

    def page(self, address: str, part: str) -> RunPage | None:
        """Return the further page of a run at a part of its address."""
        is_run = self._run is not None and address == self.address(self._run)
        return self._pages.get(part.removeprefix("/").removesuffix(PAGE_DATA)) if is_run else None

    def with_token(self, path: str) -> str:
        """Return the URL of a path below `url`, with the token."""
        return f"{self.url.rstrip('/')}{path}?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token; a browser sends a cookie to all ports of a host."""
        return f"aisprompt-{self.server_port}"

    def hosts(self) -> set[str]:
        """Return the host names of this server; requests by other names are refused (DNS rebinding)."""
        return {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    """Answer GET and HEAD, and a POST that scores; a path is looked up among the runs, never on the disk."""

    server: ReportServer
    timeout = 60

    def do_GET(self) -> None:
        self._answer(self._route)

    def do_HEAD(self) -> None:
        self._answer(self._route)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the terminal belongs to the user."""

    def _answer(self, answer: Callable[[], None]) -> None:
        if self.headers.get("Host") not in self.server.hosts():
            self._send(HTTPStatus.FORBIDDEN, _plain("this server is for this machine only"))
            return
        if not self._knows_token():
            self._send(HTTPStatus.FORBIDDEN, _plain(NO_TOKEN))
            return
        try:
            answer()
        except AisPromptError as error:
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, _plain("\n".join(error.lines())))

    def _knows_token(self) -> bool:
        """Return whether the request has the token, in its address or its cookie."""
        given = parse_qs(self.path.partition("?")[2]).get("token", [])
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
        except CookieError:
            cookie = None
        given += [] if cookie is None else [cookie.value]
        return any(hmac.compare_digest(one.encode(), self.server.token.encode()) for one in given)

    def _post(self) -> None:
        """Score a run, or give a further page its values. Another site can send neither the cookie nor the header."""
        path = self.path.partition("?")[0]
        address = "/".join(path.split("/")[:3])
        part = path.removeprefix(address)
        folder = self.server.runs().get(address) if self.headers.get(OWN_HEADER) else None
        if folder is not None and part == "/score":
            report, live = self.server.served(address, folder)
            live.score()
            self._send_values(_state(report, live))
        elif folder is not None and part.endswith(PAGE_DATA) and (page := self.server.page(address, part)):
            self._send_values(page.take(self._sent_values()))
        else:
            self._send(HTTPStatus.NOT_FOUND, _plain(f"nothing is scored at {unquote(path)}"))

    def _sent_values(self) -> dict[str, Any]:
        size = self.headers.get("Content-Length", "")
        if not size.isdecimal() or int(size) > MOST_SENT:
            raise ConfigError(f"the page sent {size or 'no length'}", fix=f"send at most {MOST_SENT:,} bytes")
        try:
            values = json.loads(self.rfile.read(int(size)))
        except ValueError as error:
            raise ConfigError(f"the page sent no JSON: {error}", fix="open the page again") from None
        return values if isinstance(values, dict) else {}

    def _send_values(self, values: Any) -> None:
        content = SECRETS.hide_in_json(encode_finite(values))
        self._send(HTTPStatus.OK, BytesIO(content), "application/json")

    def _route(self) -> None:
        runs = self.server.runs()
        path, _, query = self.path.partition("?")
        address = "/".join(path.split("/")[:3])
        if path == "/":
            self._send(HTTPStatus.OK, BytesIO(runs_page(self.server.work_dir, runs).encode()), "text/html")
        elif path == "/compare" and self.headers.get("Sec-Fetch-Site") in (None, "none", "same-origin"):
            self._send(HTTPStatus.OK, BytesIO(_compared(runs, query)), "text/html")
        elif (folder := runs.get(address)) is None:
            self._send(HTTPStatus.NOT_FOUND, _plain(f"there is no run {unquote(path)}"))
        else:
            self._answer_run(folder, address, path.removeprefix(address), query)

    def _answer_run(self, folder: RunFolder, address: str, part: str, query: str) -> None:
        report, live = self.server.served(address, folder)
        answers: dict[str, Callable[[], Any]] = {
            "/overview": report.overview,
            "/rows": lambda: report.rows(query),
            "/sample": lambda: report.sample(query),
            "/questions": lambda: report.questions(query),
            "/others": lambda: report.others(query),
            "/prompts": lambda: report.prompts(query),
        }
        if part in answers:
            self._send_values(answers[part]())
        elif page := self.server.page(address, part):
            if part.endswith(PAGE_DATA):
                values = {name: texts[0] for name, texts in parse_qs(query).items()}
                self._send_values(page.answer(values))
            else:
                self._send(HTTPStatus.OK, BytesIO(page.html().encode()), "text/html")
        elif part == "":
            self._send(HTTPStatus.OK, BytesIO(report.page().encode()), "text/html")
        elif part == "/report.html":
            path = report_of(folder)
            with reading(path, fix="give the command again"), path.open("rb") as stream:
                self._send(HTTPStatus.OK, stream, "text/html", STORED_PAGE)
        elif part == "/events" and self.command != "HEAD":
            self._send_events(report, live)
        else:
            self._send(HTTPStatus.NOT_FOUND, _plain(f"there is no {unquote(part)}"))

    def _send_events(self, report: ServedReport, live: LiveRun) -> None:
        """Send the state of a run whenever it changes, until the browser leaves or all of a finished run is shown."""
        self.send_response(HTTPStatus.OK)
        for name, value in {"Content-Type": "text/event-stream", **_HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()
        sent: dict[str, Any] = {}
        try:
            while sent.get("status") != "finished" or sent["indexed"] < 1:
                state = _state(report, live)
                self.wfile.write(b"data: " + encode_finite(state) + b"\n" if state != sent else b": still here\n\n")
                self.wfile.flush()
                sent = state
                time.sleep(EVENT_SECONDS)
        except (OSError, AisPromptError):  # the browser has left, or the run was removed
            self.close_connection = True

    def _send(self, status: HTTPStatus, body: BinaryIO, kind: str = "text/plain", policy: str = OWN_PAGE) -> None:
        size = body.seek(0, 2)
        body.seek(0)
        self.send_response(status)
        headers = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(size), **_HEADERS}
        headers["Content-Security-Policy"] = policy
        if status == HTTPStatus.OK and kind == "text/html":
            headers["Set-Cookie"] = f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            shutil.copyfileobj(body, self.wfile)


def _state(report: ServedReport, live: LiveRun) -> dict[str, Any]:
    """Return the state of a run, and how far it is indexed; the version changes with either.

    Raises:
        StoreError: the run or its index cannot be read.
    """
    state = live.state()
    indexed, shown = report.indexed()
    return asdict(state) | {"version": f"{state.version}-{shown}", "indexed": round(indexed, 2)}


def _compared(runs: Mapping[str, RunFolder], query: str) -> bytes:
    """Return the comparison of two runs of the list as a page, the older one first, or of two models of one run.

    Raises:
        AisPromptError: they cannot be compared.
    """
    from ais_prompt.comparison import compare_runs, open_sides

    values = parse_qs(query)
    chosen = [str(runs[address].root) for address in values.get("run", ()) if address in runs]
    models = values.get("model", [])
    if not (len(chosen) == 2 or (len(chosen) == 1 and len(models) == 2)):
        raise ConfigError("two runs of the list have to be chosen", fix="go back to the list of runs")
    chosen.sort(key=lambda root: Path(root).name)
    found = compare_runs(*open_sides(chosen[0], chosen[-1], models))
    return comparison_page(*found.names, comparison_json(found))


def _plain(text: str) -> BytesIO:
    return BytesIO(f"{text}\n".encode("utf-8", "backslashreplace"))
