"""Serve a GGUF file with the server of llama.cpp: ``python llama_server.py MODEL --port 8000``."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path


def main() -> None:
    """Serve until a signal ends the process."""
    import xllamacpp

    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("model")
    given.add_argument("--alias", required=True)
    given.add_argument("--host", default="127.0.0.1")
    given.add_argument("--port", type=int, required=True)
    given.add_argument("--chat-template-file", type=Path)
    given.add_argument("--reasoning-format", choices=["none", "auto", "deepseek"], default="auto")
    options = given.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {options.alias}
    params.hostnames = [options.host]
    params.port = options.port
    params.use_jinja = True
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 8192, 4, 1
    form = f"COMMON_REASONING_FORMAT_{options.reasoning_format.upper()}"
    params.reasoning_format = getattr(xllamacpp.common_reasoning_format, form)
    if options.chat_template_file:
        params.chat_template = options.chat_template_file.read_text("utf-8")
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
