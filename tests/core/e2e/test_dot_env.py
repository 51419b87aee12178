"""``.env`` in the working directory: it sets what a config names, and nothing of it is stored."""

from __future__ import annotations

import pytest

from tests.core.e2e.project import Project
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

KEY, TENANT, OTHER = "sk-file-0123456789abcdef", "tenant-0123456789abcdef", "other-0123456789abcdef"


def test_a_run_takes_its_key_from_the_file(project: Project, server: MockServer) -> None:
    server.follow({"text": "3+3", "status": 400, "body": {"error": {"message": "bad {request}"}}})
    (project.root / ".env").write_text(f"FILE_KEY={KEY}\nFILE_TENANT={TENANT}\nHF_TOKEN={OTHER}\n")
    project.write_config(
        models=(
            f"dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={server.base_url!r}, "
            "api_key='FILE_KEY', headers={'X-Tenant': '$FILE_TENANT'}, retry=0)"
        )
    )
    done = project.run_process("run", "eval.py", "--max-failures", "1")
    assert done.returncode == 0, done.stderr
    assert all(request["authorization"] for request in server.requests())
    message = project.predictions()[3]["completions"][0]["failure"]["message"]
    assert "X-Tenant: ***" in message
    files = [path for path in (project.root / "outputs").rglob("*") if path.is_file()]
    shown = [done.stdout, done.stderr, *(path.read_text("utf-8", "replace") for path in files)]
    assert not [text for text in shown for secret in (KEY, TENANT, OTHER) if secret in text]


def test_a_key_that_is_nowhere_is_an_error(project: Project, server: MockServer) -> None:
    server.follow()
    (project.root / ".env").write_text("ANOTHER_KEY=x\n")
    project.write_config(
        models=f"dict(type='OpenAIChatModel', model='mock', base_url={server.base_url!r}, api_key='FILE_KEY')"
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "FILE_KEY is not set" in done.stderr
    assert server.stats()["requests"] == 0


def test_limit_is_another_name_of_num_prompts_and_v_shows_the_version(project: Project) -> None:
    project.write_config()
    assert project.run("run", "eval.py", "--limit", "3").returncode == 0
    assert len(project.predictions()) == 3
    assert project.run("-V").stdout == project.run("--version").stdout
