"""An agent for tests, with nothing but the standard library: its question says how it behaves."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

QUESTION = sys.argv[1]
ADDRESS = urlsplit(os.environ["OPENAI_BASE_URL"])


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    connection = http.client.HTTPConnection(ADDRESS.netloc, timeout=60)
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps({"model": "m", "messages": messages}), headers)
    reply = connection.getresponse()
    body = json.loads(reply.read())
    if reply.status != 200:
        sys.exit(f"the model says {reply.status}: {body['error']['message']}")
    message: dict[str, object] = body["choices"][0]["message"]
    return message


def say(text: str) -> object:
    return ask([{"role": "user", "content": text}])["content"]


def steps(count: int) -> object:
    """Ask so often, each time with all that was said before."""
    messages: list[dict[str, object]] = [{"role": "user", "content": f"step 1 of {QUESTION}"}]
    for number in range(count):
        messages.append({"role": "assistant", "content": str(ask(messages)["content"])})
        messages.append({"role": "user", "content": f"step {number + 2} of {QUESTION}"})
    return messages[-2]["content"]


def sleeper() -> int:
    """Start a process in a session of its own that outlives its parent; its number."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    return process.pid


kind = QUESTION.split()[0]
if kind == "steps":
    print(steps(int(QUESTION.split()[1])))
elif kind == "loops":
    while True:
        say("again")
elif kind == "silent":
    print("I know it")
elif kind == "exits":
    print("first line\nlast words", file=sys.stderr)
    sys.exit(3)
elif kind == "floods":
    while True:
        sys.stdout.write("x" * 65536)
elif kind == "hangs":
    Path(os.environ["PIDS"], "hangs").write_text(str(sleeper()))
    Path("notes.txt").write_text("so far")
    say("before I hang")
    time.sleep(600)
elif kind == "forks":
    Path(os.environ["PIDS"], "forks").write_text(str(sleeper()))
    for _ in range(20):
        if not os.fork():
            time.sleep(600)
    print(say("with children"))
elif kind == "kills":
    say("before I kill")
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
elif kind == "connects":
    threads = [threading.Thread(target=say, args=[f"side by side {number}"]) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("all answered")
elif kind == "files":
    Path("out.txt").write_text(Path("in.txt").read_text() + "!")
    Path("large.bin").write_bytes(b"\xff" * 500_000)
    say("done")
    print(json.dumps({"answer": sorted(os.listdir())}))
