"""A headless Chromium, told what to do over a pipe in the Chrome DevTools Protocol.

Source: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_KEYS = {
    "Enter": 13,
    "Escape": 27,
    "ArrowDown": 40,
    "ArrowUp": 38,
    "ArrowLeft": 37,
    "ArrowRight": 39,
    "Home": 36,
    "End": 35,
    "Tab": 9,
}
BLANK = "about:blank"
_LONGEST = 20
"""Most seconds to wait for anything."""
_FRAME = "() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))"
_RESTING_BOX = f"""async (find) => {{
  const place = () => JSON.stringify(find().getBoundingClientRect());
  find().scrollIntoView({{ block: "nearest", behavior: "instant" }});
  for (let before = ""; before !== place(); await ({_FRAME})()) before = place();
  return JSON.parse(place());
}}"""
"""Where an element is, or the one that took its place, once two pictures in a row show it there."""


class Page:
    """A tab.

    Attributes:
        requests: the URL of everything that was loaded.
        complaints: what the page wrote to the console, exceptions included.
    """

    def __init__(self, pipe: _Pipe, session: str) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._pipe = pipe
        self._session = session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol, and what it returns."""
        return self._pipe.call(method, params, self._session, self._note)

    def resize(self, width: int, height: int, scheme: str = "light") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=BLANK)  # the same page with another # would not be loaded again
        if url != BLANK:
            self.call("Page.navigate", url=url)
            self.wait_for(f"location.href !== '{BLANK}'")
        self.wait_for("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON values; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(f"{expression}: {found['exceptionDetails']['exception'].get('description')}")
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true in JavaScript's sense."""
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            if self.value(f"Boolean({expression})"):
                return
            time.sleep(0.02)
        raise AssertionError(f"this did not come true: {expression}")

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that can be seen; a blank in place of space and newlines."""
        shown = f"[...document.querySelectorAll({json.dumps(selector)})].filter((one) => one.checkVisibility())"
        texts: list[str] = self.value(f"{shown}.map((one) => one.innerText.replace(/\\s+/g, ' ').trim())")
        return texts

    def click(self, selector: str, number: int = 0) -> None:
        """Press the mouse in the middle of an element, wherever it is on the page, as soon as it rests there."""
        box = self.value(f"({_RESTING_BOX})(() => document.querySelectorAll({json.dumps(selector)})[{number}])")
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **at)
        self._settle()

    def press(self, key: str) -> None:
        """Press a key such as ``j``, ``/``, ``Enter`` or ``Escape``."""
        code: dict[str, Any] = {"windowsVirtualKeyCode": _KEYS[key]} if key in _KEYS else {"text": key}
        if key == "Enter":
            code["text"] = "\r"  # else buttons do not react
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)
        self._settle()

    def type(self, text: str) -> None:
        """Insert a text where the focus is, and let go of its last key, which some pages wait for."""
        self.call("Input.insertText", text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=text[-1])
        self._settle()

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def _settle(self) -> None:
        """Wait until the page has drawn what an event changed; not if the event has led to another page."""
        with suppress(AssertionError):
            self.value(f"({_FRAME})().then({_FRAME})")

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event["method"] == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(params)[:2000])


class _Pipe:
    """Commands go out and replies come in as JSON, each with a zero byte behind it."""

    def __init__(self, commands: int, replies: int) -> None:
        self._commands = commands
        self._replies = replies
        self._rest = b""
        self._number = 0

    def call(self, method: str, params: dict[str, Any], session: str | None = None, note: Any = None) -> dict[str, Any]:
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        os.write(self._commands, json.dumps(command | ({"sessionId": session} if session else {})).encode() + b"\0")
        while (reply := self._next()).get("id") != self._number:
            if note and "method" in reply and reply.get("sessionId") == session:
                note(reply)
        if "error" in reply:
            raise AssertionError(f"{method}: {reply['error']}")
        result: dict[str, Any] = reply["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select.select([self._replies], [], [], _LONGEST)[0]:
                raise AssertionError(f"Chromium says nothing for {_LONGEST} seconds")
            if not (piece := os.read(self._replies, 1 << 20)):
                raise AssertionError("Chromium has ended")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        reply: dict[str, Any] = json.loads(message)
        return reply


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with one empty tab; it ends with the block."""
    assert PROGRAM is not None
    ends = [*os.pipe(), *os.pipe()]
    # Chromium reads commands from descriptor 3 and writes replies to 4, so ours must not be one of these.
    hears, commands, replies, says = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)

    def place_ends() -> None:
        os.dup2(hears, 3)
        os.dup2(says, 4)

    process = subprocess.Popen(
        [
            PROGRAM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=place_ends,
    )
    os.close(hears)
    os.close(says)
    try:
        pipe = _Pipe(commands, replies)
        target = pipe.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = pipe.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        yield Page(pipe, session)
    finally:
        process.kill()
        process.wait(10)
        os.close(commands)
        os.close(replies)
