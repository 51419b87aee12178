from __future__ import annotations

import http.client
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.report import LOOPBACK, ReportServer, report_of
from ais_prompt.report.web import server as report_server
from ais_prompt.store import RunFolder, write_json_atomic
from tests.core.unit.report.web.making import make_run, prediction, scored
from tests.core.unit.report.web.reading import read_report
from tests.support.waiting import WATCHDOG_SECONDS


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, [prediction(0)], [scored(0)])


@pytest.fixture
def server(tmp_path: Path, folder: RunFolder) -> Iterator[ReportServer]:
    with ReportServer(tmp_path) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def ask(server: ReportServer, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Ask as a browser does that has opened the address with the token."""
    return ask_as_stranger(server, path, method, Cookie=f"{server.cookie}={server.token}", **headers)


def ask_as_stranger(
    server: ReportServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=WATCHDOG_SECONDS)
    connection.request(method, path, headers=headers)
    reply = connection.getresponse()
    answer = reply.status, dict(reply.headers), reply.read()
    connection.close()
    return answer


def test_it_listens_on_loopback_only(server: ReportServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.server_port > 0


def test_the_list_leads_to_the_report_which_is_made_when_asked_for(server: ReportServer, folder: RunFolder) -> None:
    status, _, page = ask(server, "/")
    (folder.root.parent / "list.html").write_bytes(page)
    [run] = read_report(folder.root.parent / "list.html").data["runs"]
    assert (status, run["name"], run["status"], run["scores"][0]["mean"]) == (200, "eval", "finished", 1.0)
    assert not folder.report.exists()
    status, headers, body = ask(server, run["address"] + "/report.html")
    assert (status, body) == (200, folder.report.read_bytes())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"


def test_a_browser_that_leaves_prints_nothing(
    server: ReportServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    errors = [ConnectionResetError(), BrokenPipeError(), TimeoutError(), RuntimeError("a fault")]

    def leave(*_: object) -> None:
        raise errors.pop()

    monkeypatch.setattr("ais_prompt.report.web.server.shutil.copyfileobj", leave)
    while errors:
        with pytest.raises((http.client.HTTPException, OSError)):
            ask(server, "/")
    assert capfd.readouterr().err == ""


def test_head_has_no_body(server: ReportServer, folder: RunFolder) -> None:
    status, headers, body = ask(server, f"{server.address(folder)}/report.html", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == folder.report.stat().st_size


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS"])
def test_nothing_else_is_understood(server: ReportServer, method: str) -> None:
    assert ask(server, "/", method)[0] == 501


@pytest.mark.parametrize(
    "path",
    [
        "/eval/20260131_120000/run.json",
        "/eval/20260131_120000/../20260131_120000/config.py",
        "/eval/20260131_120000/predictions/model/sums.jsonl",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/eval",
        "/eval/latest",
    ],
)
def test_only_reports_are_served(server: ReportServer, path: str) -> None:
    status, _, body = ask(server, path)
    assert status == 404
    assert b"root:" not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1", ""])
def test_a_page_of_another_name_cannot_read(server: ReportServer, host: str) -> None:
    status, _, body = ask(server, "/", Host=host)
    assert status == 403
    assert b"eval" not in body


def test_localhost_is_this_machine(server: ReportServer) -> None:
    assert ask(server, "/", Host=f"localhost:{server.server_port}")[0] == 200


def test_a_run_without_scores_is_told_in_words(server: ReportServer, tmp_path: Path) -> None:
    begun = RunFolder(tmp_path / "other" / "20260201_000000")
    begun.root.mkdir(parents=True)
    assert ask(server, server.address(begun))[0] == 503
    _, _, page = ask(server, "/")
    (tmp_path / "list.html").write_bytes(page)
    trouble = {run["name"]: run["trouble"] for run in read_report(tmp_path / "list.html").data["runs"]}
    assert trouble["eval"] == ""
    write_json_atomic(begun.run_file, {"status": "running", "sessions": [], "versions": {}, "tasks": {}})
    begun.config_file.write_text("models = []\n")
    status, _, page = ask(server, server.address(begun))
    assert (status, b'"scores": []' in page) == (200, True)
    _, _, page = ask(server, "/")
    assert b'"status": "interrupted"' in page
    assert "cannot read" in trouble["other"]


def test_a_name_of_any_characters_has_its_address(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [prediction(0)], [scored(0)], name="问 答%<b>/20260131_120000")
    with ReportServer(tmp_path) as server:
        assert server.runs() == {"/%E9%97%AE%20%E7%AD%94%25%3Cb%3E/20260131_120000": folder}


def test_newer_scores_make_a_new_report(folder: RunFolder) -> None:
    report_of(folder)
    first = folder.report.stat().st_mtime_ns
    report_of(folder)
    assert folder.report.stat().st_mtime_ns == first
    summary = folder.summary_dir / "summary.json"
    for content, is_new in ((summary.read_text(), False), (summary.read_text().replace("\n", " \n"), True)):
        summary.write_text(content)
        os.utime(summary, ns=(first + 10**9, first + 10**9))
        report_of(folder)
        assert (folder.report.stat().st_mtime_ns > first) is is_new


def test_a_port_that_is_taken_is_told(server: ReportServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot listen on port \d+: "):
        ReportServer(tmp_path, server.server_port)


def test_the_page_of_a_run_asks_for_rows_and_samples(server: ReportServer, folder: RunFolder) -> None:
    address = server.address(folder)
    rows = json.loads(ask(server, f"{address}/rows?from=0&to=10&state=right")[2])
    assert (rows["length"], rows["states"], rows["rows"][0]["id"]) == (1, {"right": 1}, "id0")
    sample = json.loads(ask(server, f"{address}/sample?number=0")[2])
    assert sample["samples"][0]["values"] == {"accuracy": 1.0}
    assert json.loads(ask(server, f"{address}/others?number=0")[2]) == []
    assert json.loads(ask(server, f"{address}/overview")[2])["name"] == "eval"
    assert ask(server, f"{address}/sample?number=7")[0] == 503
    assert ask(server, f"{address}/rows?column=7")[0] == 503
    assert ask(server, f"{address}/rows?from=x&to=-3")[0] == 200


def test_events_say_the_state_of_a_run(
    server: ReportServer, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_server, "EVENT_SECONDS", 0.01)
    status, headers, body = ask(server, f"{server.address(folder)}/events")
    assert (status, headers["Content-Type"]) == (200, "text/event-stream")
    state = json.loads(body.removeprefix(b"data: "))
    assert (state["status"], state["answered"], state["samples"]) == ("finished", 1, 1)


def test_scoring_needs_a_header_that_other_sites_cannot_send(tmp_path: Path, folder: RunFolder) -> None:
    scored_runs: list[RunFolder] = []
    with ReportServer(tmp_path, rescore=scored_runs.append) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        address = f"{server.address(folder)}/score"
        own = {"X-Aisprompt-Report": "1"}
        assert ask(server, address, "POST")[0] == 404
        assert ask(server, address, **own)[0] == 404  # a GET changes nothing
        assert ask_as_stranger(server, address, "POST", **own)[0] == 403
        assert ask(server, "/score", "POST", **own)[0] == ask(server, server.address(folder), "POST", **own)[0] == 404
        assert scored_runs == []
        assert ask(server, address, "POST", **own)[0] == 200
        assert scored_runs == [folder]
        assert ask(server, "/compare?run=a&run=b", **{"Sec-Fetch-Site": "cross-site"})[0] == 404
        assert ask(server, "/compare?run=a&run=b")[0] == 503
        server.shutdown()
        thread.join(10)


@pytest.mark.thorough
@pytest.mark.parametrize("part", ["", "/overview", "/rows", "/sample?number=0", "/prompts", "/events", "/report.html"])
def test_nothing_is_answered_without_the_token(server: ReportServer, folder: RunFolder, part: str) -> None:
    for path in ("/", "/compare?run=a&run=b", server.address(folder) + part):
        for method in ("GET", "HEAD", "POST"):
            given = [
                {},
                {"Cookie": f"{server.cookie}=x"},
                {"Cookie": f"aisprompt-1={server.token}"},
                {"Cookie": "\x7f="},
            ]
            for headers in given:
                status, answered, body = ask_as_stranger(server, path, method, **headers)
                assert (status, server.token in str(answered), b"eval" in body) == (403, False, False)
        separator = "&" if "?" in path else "?"
        assert ask_as_stranger(server, f"{path}{separator}token=x{server.token}")[0] == 403


def test_the_address_with_the_token_sets_a_cookie_that_suffices(server: ReportServer, folder: RunFolder) -> None:
    address = server.with_token(server.address(folder)).removeprefix(server.url.rstrip("/"))
    status, headers, _ = ask_as_stranger(server, address)
    cookie, *attributes = headers["Set-Cookie"].split("; ")
    assert (status, set(attributes)) == (200, {"HttpOnly", "SameSite=Strict", "Path=/"})
    assert ask_as_stranger(server, f"{server.address(folder)}/overview", Cookie=cookie)[0] == 200


def test_each_server_has_a_token_of_its_own(tmp_path: Path) -> None:
    with ReportServer(tmp_path) as one, ReportServer(tmp_path) as other:
        assert one.token != other.token


def test_a_stored_page_reaches_nothing_of_the_server(server: ReportServer, folder: RunFolder) -> None:
    """It may be of somebody else, and its scripts would have the cookie."""
    policies = [
        ask(server, server.address(folder) + part)[1]["Content-Security-Policy"] for part in ("", "/report.html")
    ]
    assert ["sandbox" in policy and "allow-same-origin" not in policy for policy in policies] == [False, True]
