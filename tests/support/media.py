"""Small media for tests: the first bytes of real formats, which is what tells their kind."""

from __future__ import annotations

import base64
import io
import wave

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + b"\x00" * 32
MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41" + b"\x00" * 32
PDF = b"%PDF-1.4\n"


def wav(frames: int = 8) -> bytes:
    """A sound of so many silent frames."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as writer:
        writer.setparams((1, 2, 8000, frames, "NONE", "not compressed"))
        writer.writeframes(b"\x00\x00" * frames)
    return stream.getvalue()
