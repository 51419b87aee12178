from __future__ import annotations

import http.client
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.report.server import LOOPBACK, ReportServer, report_of
from ais_prompt.store.layout import RunFolder
from tests.unit.report.html.making import make_run, prediction, scored
from tests.unit.report.html.reading import read_report
from tests.waiting import WATCHDOG_SECONDS


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, [prediction(0)], [scored(0)])


@pytest.fixture
def server(tmp_path: Path, folder: RunFolder) -> Iterator[ReportServer]:
    with ReportServer(tmp_path) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def ask(server: ReportServer, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
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
    assert (status, run["name"], run["status"], run["scores"][0]["score"]) == (200, "eval", "finished", 1.0)
    assert not folder.report.exists()
    status, headers, body = ask(server, run["address"])
    assert (status, body) == (200, folder.report.read_bytes())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"


def test_head_has_no_body(server: ReportServer, folder: RunFolder) -> None:
    status, headers, body = ask(server, server.address(folder), "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == folder.report.stat().st_size


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
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
    os.utime(folder.summary_dir / "summary.json", ns=(first + 10**9, first + 10**9))
    os.utime(folder.report, ns=(first, first))
    report_of(folder)
    assert folder.report.stat().st_mtime_ns > first


def test_a_port_that_is_taken_is_told(server: ReportServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot listen on port \d+: "):
        ReportServer(tmp_path, server.server_port)
