"""The secrets of command lines and lines of shell are found in every form, and nothing else is."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.config import redacted
from ais_prompt.secrets import secrets_in_command

OPTIONS = (
    "--api-key",
    "--hf-token",
    "--hf_token",
    "--token",
    "-token",
    "--admin-api-key",
    "--password",
    "--ssl-keyfile-password",
)
VARIABLES = ("HF_TOKEN", "OPENAI_API_KEY", "WANDB_KEY", "MY_SECRET", "DB_PASSWORD", "AWS_SESSION_TOKEN", "token")
FORMS = (
    *(f"vllm serve m {option}{sep}@@ --port {{port}}" for option in OPTIONS for sep in (" ", "=", "  ")),
    *(f"vllm serve m {option} '@@' --port {{port}}" for option in OPTIONS),
    *(f'vllm serve m {option}="@@"' for option in OPTIONS),
    *(f"export {name}=@@; vllm serve m" for name in VARIABLES),
    *(f"{name}='@@' vllm serve m" for name in VARIABLES),
    *(f"docker run -e {name}=@@ --env={name}=@@ image" for name in VARIABLES),
    *(f"ALL,{name}=@@,OTHER=1" for name in VARIABLES),
    "vllm serve m --api-key FIRST @@ --port {port}",
    "bash -c 'export HF_TOKEN=@@ && vllm serve m'",
    'bash -c "vllm serve m --api-key \\"@@\\""',
    '--config \'{"api_key": "@@", "n": 1}\'',
    "curl -H 'Authorization: Bearer @@' -H \"X-Api-Key: @@\"",
    "curl -H 'Cookie: session=@@; theme=dark'",
)
HARMLESS = (
    "vllm serve Qwen/Qwen2.5-7B --port {port} --max-num-seqs 8 --tokenizer t --max-new-tokens 8 --tokens 3",
    "vllm serve m --api-key $HF_TOKEN --hf-token=${MY_TOKEN} --token {port}",
    "export HF_TOKEN=$(cat ~/.token) OMP_NUM_THREADS=4; module load cuda/12.4",
    "--pad-token 0 --eos_token </s> --partition-key a --ssl-keyfile key.pem --api-key-file f",
    "podman run --rm -i --network none python:3.12-slim",
    "echo the key is a secret",
)


def test_a_secret_is_hidden_in_every_form() -> None:
    for secret in ["a", "shrt7", "sk-live-0123456789abcdefg", "p@ss:w/rd+="]:
        for form in FORMS:
            text = form.replace("@@", secret)
            places = [text[begin:end] for begin, end in secrets_in_command(text)]
            assert any(secret in found for found in places), places
            shown = redacted({"server": {"command": text}}, "models")["server"]["command"]
            assert shown == redacted(shown, "server")  # nothing is left
            assert len(secret) == 1 or secret not in shown
            assert "vllm serve m" not in form or "vllm serve m" in shown


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted({"server": {"args": text}}, "models") == {"server": {"args": text}}
    assert redacted({"setup": [text]}, "runner") == {"setup": [text]}


@pytest.mark.parametrize("option", OPTIONS)
def test_the_word_after_an_option_is_hidden(option: str) -> None:
    words = ["vllm", "serve", "m", option, "-", "--port", "{port}", option, "abc", "def", "--x", 3, option, 7]
    hidden = ["vllm", "serve", "m", option, "-", "--port", "{port}", option, "***", "***", "--x", 3, option, "***"]
    for key in ("command", "args", "prefix", "program"):
        assert redacted({key: words}, "server") == {key: hidden}


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_of_a_program_are_hidden(name: str) -> None:
    given_ = {"env": {name: "abc", "OMP_NUM_THREADS": "4", "EXTRA": f"--api-key {name}", name + "_2": "$MINE"}}
    shown = {"env": {name: "***", "OMP_NUM_THREADS": "4", "EXTRA": "--api-key ***", name + "_2": "$MINE"}}
    for key in ("server", "runner"):
        assert redacted({key: given_}, "models") == {key: shown}


WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="-${<"), min_size=1, max_size=20)


@given(WORDS, st.sampled_from(OPTIONS), st.sampled_from(["shell", "list", "json"]))
def test_any_secret_is_hidden(secret: str, option: str, form: str) -> None:
    mark = f"Zq{secret}Zq"
    value: object = ["run", option, mark] if form == "list" else f"run {option} {shlex.quote(mark)}"
    if form == "json":
        value = "run " + shlex.quote(json.dumps({"api_key": mark.replace("'", "")}))
    assert "Zq" not in str(redacted(value, "server"))
