"""Tokenizers: text to tokens and back, token counts with and without a tokenizer, digests of tokenizer files.

Needs no torch. Digests load and download nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import ModelError, PromptError
from ais_prompt.types import Failure, Prompt
from ais_prompt.utils import digest, file_digest, prompt_texts, role_fix

CONTEXT_TOKENS: Final = 8
"""Number of tokens before a continuation that are decoded with it; see `continuation`."""
_WORD_OR_HAN: Final = re.compile(r"[A-Za-z0-9]+|[\u4e00-\u9fff]")
_CONFIG: Final = "tokenizer_config.json"
_TEMPLATE: Final = "chat_template"
_DIGITS: Final = 16
_PATTERNS: Final = (
    "tokenizer*",
    "tokenization_*.py",
    "vocab.*",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template*",
    "additional_chat_templates/*",
    "*.tiktoken",
    "spiece.model",
    "sentencepiece*.model",
)
"""The files that transformers makes a tokenizer from."""


def load_tokenizer(
    path: str,
    options: Mapping[str, Any],
    template_variables: Mapping[str, Any],
    *,
    trust_remote_code: bool,
    gguf_file: str | None = None,
) -> Any:
    """Load the tokenizer of a model, padding on the left, always with a pad token.

    Args:
        path: a folder, a GGUF file, or else a hub id.
        options: further arguments of ``AutoTokenizer.from_pretrained``; they win over ours.
        template_variables: further variables of its chat template, such as ``enable_thinking``.
        trust_remote_code: run code that comes with the tokenizer.
        gguf_file: the GGUF file in the repository of a hub id.

    Raises:
        ModelError: the tokenizer cannot be found or loaded, or has no token to pad with.
        MissingExtra: the tokenizer is in a GGUF file, and gguf is not installed.
    """
    from ais_prompt.models.huggingface.library import loading, pretrained_source

    source, of_source = pretrained_source(path, gguf_file)
    arguments = {"trust_remote_code": trust_remote_code, **of_source, **options}
    with loading("tokenizer", path, local=of_source["local_files_only"]):
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(source, **arguments)
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token is None:
        raise ModelError(
            "the tokenizer has no pad, eos or unk token, so prompts cannot be batched",
            where=path,
            fix="name one: tokenizer_kwargs=dict(pad_token='...')",
        )
    if template_variables:  # every prompt is rendered with them, by whatever part
        tokenizer.apply_chat_template = partial(tokenizer.apply_chat_template, **template_variables)
    return tokenizer


def is_at_hand(path: str) -> bool:
    """Return whether this machine has a tokenizer: at a local path, or downloaded from the hub before.

    Looking for one at the hub takes a minute where there is no network: the library tries again and again.

    Args:
        path: as in `load_tokenizer`.
    """
    from ais_prompt.models.huggingface.library import local_path

    try:
        return (local_path(path) or _cached_folder(path)) is not None
    except ModelError:  # a path that names nothing
        return False


def encode(tokenizer: Any, text: str, *, add_special_tokens: bool) -> list[int]:
    """Return the token ids of a prompt. A text that begins with BOS does not get a second one."""
    brings_bos = bool(tokenizer.bos_token) and text.startswith(tokenizer.bos_token)
    # verbose=False: the caller checks the length, with a message of its own.
    ids: list[int] = tokenizer(text, add_special_tokens=add_special_tokens and not brings_bos, verbose=False)[
        "input_ids"
    ]
    return ids


def decode(tokenizer: Any, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
    """Return the text of tokens, with all spaces of the tokens, and without special tokens unless they are wanted."""
    text: str = tokenizer.decode(ids, skip_special_tokens=skip_special_tokens, clean_up_tokenization_spaces=False)
    return text


def continuation(tokenizer: Any, prompt: Sequence[int], new: Sequence[int]) -> str:
    """Return the text that ``new`` tokens add to a ``prompt``, leading space included.

    Tokenizers like SentencePiece drop the space before the first token that they decode. So the end of the prompt is
    decoded with the new tokens, and removed again.
    """
    context = list(prompt[-CONTEXT_TOKENS:])
    before, whole = decode(tokenizer, context), decode(tokenizer, [*context, *new])
    # A character whose bytes are on both sides of the border changes the text of the prompt's end.
    return whole[len(before) :] if whole.startswith(before) else decode(tokenizer, new)


def prompt_token_ids(tokenizer: Any, prompt: str | Sequence[dict[str, Any]]) -> list[int] | None:
    """Return the token ids of a text or of messages in OpenAI form, special tokens included.

    Returns:
        None for messages with media, and where the tokenizer has no chat template: the text that the server puts around
        the messages is unknown then.

    Raises:
        PromptError: the chat template refuses the messages.
    """
    if isinstance(prompt, str):
        return encode(tokenizer, prompt, add_special_tokens=True)
    if not tokenizer.chat_template or not all(isinstance(message["content"], str) for message in prompt):
        return None
    try:
        ids: list[int] = tokenizer.apply_chat_template(
            prompt, add_generation_prompt=True, tokenize=True, return_dict=False
        )
    except Exception as error:  # Jinja templates can raise anything
        what = f"the tokenizer's chat template refuses the messages: {error}"
        raise PromptError(what, fix=f"{role_fix(str(error))}, or another tokenizer_path") from error
    return ids


def estimate_tokens(prompt: Prompt) -> int:
    """Estimate the tokens of a prompt: one for each word of Latin letters and digits, and each Chinese character.

    Nothing else counts. OpenCompass estimates the prompts of models behind an API in this way (`get_token_len`). The
    texts of messages are joined without a separator.
    """
    return len(_WORD_OR_HAN.findall("".join(prompt_texts(prompt, ""))))


def approximate_tokens(prompt: Prompt) -> int:
    """Return about how many tokens a prompt has, for its cost: one for four bytes of UTF-8.

    Images and other media do not count.
    """
    text = "".join(prompt_texts(prompt, ""))
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def refuse_too_long(tokens: int, limit: int | None) -> Failure | None:
    """Return the failure of a prompt that is too long; None if it fits. It is never cut silently."""
    if limit is None or tokens <= limit:
        return None
    return Failure("too_long", f"the prompt has {tokens} tokens, more than max_seq_len={limit}")


def tokenizer_digests(path: str) -> dict[str, str]:
    """Return file name → digest of each file of the tokenizer.

    ``tokenizer_config.json`` can hold the chat template; that has an entry of its own, ``chat_template``, to
    show which of the two changed.

    Args:
        path: a folder, a GGUF file, or a hub id, which is searched in the download cache.

    Returns:
        An empty dict for a hub id that was not downloaded yet.

    Raises:
        ModelError: the folder does not exist, or a file cannot be read.
    """
    from ais_prompt.models.huggingface.library import fingerprint, local_path

    folder = local_path(path) or _cached_folder(path)
    if folder is None:
        return {}
    if folder.is_file():
        return {name: found[:_DIGITS] for name, found in fingerprint(folder).items()}
    files = sorted({file for pattern in _PATTERNS for file in folder.glob(pattern) if file.is_file()})
    digests: dict[str, str] = {}
    try:
        for file in files:
            if file.name != _CONFIG:
                digests[file.relative_to(folder).as_posix()] = file_digest(file)[:_DIGITS]
                continue
            config: dict[str, Any] = json.loads(file.read_text("utf-8"))
            template = config.pop(_TEMPLATE, None)
            digests[_CONFIG] = digest(config, _DIGITS)
            if template is not None:
                digests[_TEMPLATE] = digest(template, _DIGITS)
    except (OSError, ValueError) as error:
        what = f"the tokenizer's files cannot be read: {error}"
        raise ModelError(what, where=path, fix="check that they are whole and that you may read them") from error
    return digests


def _cached_folder(hub_id: str) -> Path | None:
    """Return the folder into which the files of a hub id were downloaded; None if they were not."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(hub_id, _CONFIG)
    except HFValidationError:
        return None
    return Path(found).parent if isinstance(found, str) else None
