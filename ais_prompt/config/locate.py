"""Find configs by name, and the files and folders that they name by path.

Configs are in ``--config-dir``, in ``configs/`` of the working directory, of others, shipped, or of plugins. The config
trees of other programs are installed, in a checkout, or copied beside a config. Only file names and syntax trees are
read here, so `aisprompt list` needs neither mmengine nor any config to run.
"""

from __future__ import annotations

import ast
import importlib.util
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from ais_prompt.catalog import MODEL_STARTS
from ais_prompt.config.surroundings import CONFIG_FOLDERS
from ais_prompt.errors import ConfigError
from ais_prompt.extension import shipped_configs
from ais_prompt.parts import place
from ais_prompt.steps import first_answer, plugin_configs, steps
from ais_prompt.utils import advice, check_regular, listed, near_miss, open_regular, split_sheet

SHIPPED: Final = "ais_prompt"
"""The name of this package, before the names of its configs."""
MOST_MEANT: Final = 5
"""Configs that a fix offers at most."""

Kind: TypeAlias = Literal["models", "datasets", "summarizers"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class ConfigTree:
    """The config tree of another program, whose configs can be named, and imported by configs, as they are.

    Attributes:
        package: the package of the program.
        inside: the path of the tree in the package.
        folder: the folder of the package; None if it is not on this machine.
        further: kind of config → names of folders that hold it too.
        fix: how to bring the package.
    """

    package: str
    inside: Sequence[str]
    folder: Path | None
    further: Mapping[str, Sequence[str]]
    fix: str

    def folders(self, kind: Kind) -> list[Path]:
        """Return the folders of the configs of a kind; empty if the tree is not on this machine."""
        root = self.folder and self.folder.joinpath(*self.inside)
        names = (kind, *self.further.get(kind, ()))
        return [root / name for name in names] if root and root.is_dir() else []


@dataclass(frozen=True, slots=True)
class NamedConfig:
    """A config that can be used by name.

    Attributes:
        name: what is given to ``--models`` or ``--datasets``: the file's stem, or its path below ``configs/<kind>``
            without ``.py`` where two files have the same stem.
        summary: the first line of the file's docstring; empty if there is none.
        path: the file.
    """

    name: str
    summary: str
    path: Path


def find_config(name_or_path: str | Path) -> Path:
    """Return the config file of a run: the given path, or a shipped config such as ``eval`` or ``configs/eval.py``.

    The result differs from the given path if a shipped config is used instead.

    Raises:
        ConfigError: there is no such file; the fix offers near names in its folder and among the shipped configs.
    """
    given = Path(name_or_path)
    with_ending = given if given.suffix == ".py" else Path(f"{given}.py")
    below_root = Path(str(with_ending).removeprefix("configs/"))
    # An absolute path is not changed by being joined to the shipped root.
    for candidate in (given, with_ending, shipped_root() / below_root):
        if candidate.is_file():
            return candidate
    raise missing_config(given)


def missing_config(path: Path) -> ConfigError:
    """Return the error for a config that does not exist, or is a folder."""
    if path.is_dir():
        inside = ", ".join(str(path / file.name) for file in sorted(path.glob("*.py"))[:5])
        fix = f"name a file in it: {inside}" if inside else "give the path of a .py file"
        return ConfigError(f"the config {str(path)!r} is a folder, not a file", where=place(path), fix=fix)
    if path.exists() or path.is_symlink():
        try:
            check_regular(path)
        except OSError as error:
            fix = "give the path of a .py file"
            return ConfigError(f"the config {str(path)!r} cannot be read: {error.strerror}", where=place(path), fix=fix)
    names = [str(path.parent / file.name) for file in sorted(path.parent.glob("*.py"))]
    names += [f"configs/{file.name}" for file in _config_files(shipped_root(), deep=False)]
    near = near_miss(str(path), names)
    fix = f"did you mean {near!r}?" if near else "give the path of a .py file, or a shipped one: configs/eval.py"
    return ConfigError(f"there is no config {str(path)!r}", where=place(path), fix=fix)


def find_shipped(kind: Kind, name: str, notes: list[str] | None = None, *, first: str = "") -> Path:
    """Return the config with this name; a path to a ``.py`` file is used as it is.

    Args:
        kind: what it is a config of.
        name: its stem, its path below ``configs/<kind>``, the path of a file, or the name of a benchmark, which is that
            of its folder: ``gsm8k`` is ``gsm8k_gen``.
        notes: gets a sentence if there are others of that name: the first is used.
        first: as for `match_shipped`.

    Raises:
        ConfigError: there is none, and the fix offers the nearest name; or a benchmark has several of equal rank.
    """
    if name.endswith(".py") and Path(name).is_file():
        return Path(name)
    found = match_shipped(kind, name, notes, first=first) or _match_folder(kind, name, first)
    kind_word = kind.removesuffix("s")
    if not found:
        known = [file.stem for _, folder in _named_folders(kind) for file in _config_files(folder)]
        raise ConfigError(f"there is no {kind_word} config named {name!r}", fix=_meant(kind, name, known))
    if len(found) > 1 and notes is not None:
        folders = [folder for _, folder in _named_folders(kind)]
        used, *others = (_relative_name(file, next(filter(file.is_relative_to, folders))) for file in found)
        notes.append(f"{name!r} is {used}; to use another, name it: {listed(others)}")
    return found[0]


def _meant(kind: Kind, name: str, known: Sequence[str]) -> str:
    """Return what to name in place of an unknown config: configs that begin with the name or contain it come first."""
    word = name.casefold()
    inside = sorted((one for one in known if word in one.casefold()), key=lambda one: (not one.startswith(word), one))
    if inside:
        return f"did you mean {' or '.join(map(repr, inside[:MOST_MEANT]))}?"
    if near := near_miss(name, known):
        return f"did you mean {near!r}?"
    provider = next((one for start, one in MODEL_STARTS.items() if word.startswith(start)), None)
    if kind == "models" and provider:
        return f"a model of a provider needs no config: --url {provider} --model {name}"
    if kind == "models" and "/" in name:
        return f"weights need no config: --hf-path {name}; nor does a server: --url http://…/v1 --model {name}"
    foreign = first_answer("foreign_name", "config", name, known)
    return advice(name, known) + (f" Or: {foreign.fix}" if foreign else "")


def match_shipped(kind: Kind, pattern: str, notes: list[str] | None = None, *, first: str = "") -> list[Path]:
    """Return all configs whose stem or path below ``configs/<kind>`` matches a name or a pattern such as ``gsm8k*``.

    The first folder in which anything matches hides those after it: the user's own come first, then the trees of
    other programs where they are installed, then the shipped ones, then those of plugins. With the name of a package
    before it, such as ``ais_prompt/gsm8k_gen``, a name is looked up there alone.

    Args:
        kind: what they are configs of.
        pattern: a name or a pattern.
        notes: gets a sentence if configs of other packages match too.
        first: the package of the program whose tree comes before those of others.
    """
    pattern = pattern.removesuffix(".py")
    folders = _named_folders(kind, first)
    package, slash, rest = pattern.partition("/")
    if slash and any(owner == package for owner, _ in folders):
        folders, pattern = [(owner, folder) for owner, folder in folders if owner == package], rest
    matched = [(owner, files) for owner, folder in folders if (files := _matching(folder, pattern))]
    if not matched:
        return []
    chosen, found = matched[0]
    others = dict.fromkeys(f"{owner}/{pattern}" for owner, _ in matched if owner not in ("", chosen))
    if chosen and others and notes is not None:
        reason = ", as the models are" if chosen == first else ""
        notes.append(f"{pattern!r} is {chosen}/{pattern}{reason}; there is also {listed(others)}")
    return found


def list_shipped(kind: Kind) -> list[NamedConfig]:
    """Return every config that can be used by name, the user's own first, each folder in alphabetical order.

    Those of other programs are too many. Each has the shortest name that finds exactly this file.
    """
    foreign = {folder for _, folder in _foreign_folders(kind)}
    folders = [(owner, folder) for owner, folder in _named_folders(kind) if folder not in foreign]
    return [NamedConfig(name, _summary(file), file) for name, _, file in _named_files(folders)]


def list_configs() -> list[str]:
    """Return the shipped configs of whole runs, as the command line names them: ``eval``."""
    return [file.stem for file in _config_files(shipped_root(), deep=False)]


def search_configs(kind: Kind, patterns: Sequence[str]) -> list[NamedConfig]:
    """Return the configs of all folders, those of other programs too, whose name or path contains any of the patterns.

    Each has the shortest name that finds exactly this file.

    Args:
        kind: what they are configs of.
        patterns: parts of a name, in any case, with ``*`` and ``?`` for any characters.
    """
    masks = [f"*{pattern.casefold().removesuffix('.py')}*" for pattern in patterns]
    return [
        NamedConfig(name, _summary(file), file)
        for name, relative, file in _named_files(_named_folders(kind))
        if any(fnmatchcase(relative.casefold(), mask) for mask in masks)
    ]


def config_folders(kind: Kind) -> list[Path]:
    """Return the folders of the user's own configs, of the shipped ones, and of installed packages, in this order."""
    return [*_own_folders(kind), *_shipped_folders(kind), *_plugin_folders(kind)]


@cache
def shipped_root() -> Path:
    """Return the shipped ``configs`` folder: in the installed package, or at the top of the repository."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def tree_of(package: str) -> ConfigTree | None:
    """Return the config tree of a package; None if it is that of no other program."""
    return next((tree for tree in _trees() if tree.package == package), None)


def file_in_tree(module: str, importing: Path) -> Path | None:
    """Return the file of a config that is imported by its name in the package of another program.

    Args:
        module: such as ``other_program.configs.datasets.gsm8k.gsm8k_gen``.
        importing: the config that imports it; the ``configs`` folder around it is searched too.

    Returns:
        The first file that exists; None if there is none, or the module is in no config tree.
    """
    package, *names = module.split(".")
    tree = tree_of(package)
    if tree is None or names[: len(tree.inside)] != list(tree.inside):
        return None
    rest = names[len(tree.inside) :]
    candidates = (folder.joinpath(*rest).with_suffix(".py") for folder in searched_folders(tree, importing))
    return next((file for file in candidates if file.is_file()), None)


def installed_path(package: str) -> str:
    """Return the folder in which the configs of a package are looked up.

    ``configs`` is the folder of that name in the working directory, or else the shipped one;
    ``ais_prompt.configs`` is always the shipped one.

    Raises:
        ConfigError: no such package.
    """
    if package == "ais_prompt":
        return str(shipped_root().parent)
    if package == "configs":
        own = Path.cwd() / "configs"
        return str(own if own.is_dir() else shipped_root())
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            f"there is no package {package!r} to read a base config from",
            fix="name the file relative to this one: `from .name import ...` or `from ..folder.name import ...`",
        )
    return str(next(iter(spec.submodule_search_locations)))


def _match_folder(kind: Kind, name: str, first: str) -> list[Path]:
    """Return the configs in the first folder of this name, its main one first: ``NAME_gen``, or else the only one.

    Raises:
        ConfigError: none of several is the main one.
    """
    for _, folder in _named_folders(kind, first):
        if files := [file for file in _config_files(folder) if file.parent.name == name]:
            main = [file for file in files if file.stem == f"{name}_gen"] or files
            if len(main) > 1:
                fix = f"name one of them: {listed(file.stem for file in files)}"
                raise ConfigError(f"{name!r} has several configs", where=place(files[0].parent), fix=fix)
            return [*main, *(file for file in files if file not in main)]
    return []


def _named_folders(kind: Kind, first: str = "") -> list[tuple[str, Path]]:
    """Return all folders in the order of the search, each with its package; those of others have none.

    The tree of ``first`` comes before those of other programs.
    """
    own, plugins = ([("", folder) for folder in found] for found in (_own_folders(kind), _plugin_folders(kind)))
    trees = sorted(_foreign_folders(kind), key=lambda tree: tree[0] != first)
    return [*own, *trees, *((SHIPPED, folder) for folder in _shipped_folders(kind)), *plugins]


def _named_files(folders: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str, Path]]:
    """Yield the configs of folders, each file once: its shortest name, its path in its folder without ``.py``, itself.

    Args:
        folders: as from `_named_folders`. A name that an earlier folder has means the file there.
    """
    taken: set[str] = set()
    seen: set[Path] = set()
    for owner, folder in folders:
        files = _config_files(folder)
        stems = Counter(file.stem for file in files)
        for file in files:
            relative = _relative_name(file, folder)
            names = [file.stem, relative] if stems[file.stem] == 1 else [relative, file.stem]
            names += [f"{owner}/{name}" for name in names] if owner else []
            if file.resolve() not in seen:
                yield next((name for name in names if name not in taken), str(file)), relative, file
            taken.update(names)
            seen.add(file.resolve())


def _own_folders(kind: Kind) -> list[Path]:
    own = [folder / kind for folder in (*CONFIG_FOLDERS.paths(), Path.cwd() / "configs")]
    shipped = (shipped_root() / kind).resolve()
    return [folder for folder in own if folder.resolve() != shipped]


def _shipped_folders(kind: Kind) -> list[Path]:
    """Return the shipped folders, those of shipped extensions last."""
    return [root / kind for root in (shipped_root(), *shipped_configs())]


def _plugin_folders(kind: Kind) -> list[Path]:
    return [folder / kind for folder in plugin_configs()]


def _trees() -> list[ConfigTree]:
    return [tree for give in steps("config_trees") for tree in give()]


def _foreign_folders(kind: Kind) -> list[tuple[str, Path]]:
    """Return the packages of other programs with the folders of their configs of a kind."""
    return [(tree.package, folder) for tree in _trees() for folder in tree.folders(kind)]


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Return the configs of a folder whose stem, or path in it without ``.py``, matches a pattern."""
    return [
        file
        for file in _config_files(folder)
        if fnmatchcase(file.stem, pattern) or fnmatchcase(_relative_name(file, folder), pattern)
    ]


def _config_files(folder: Path, *, deep: bool = True) -> list[Path]:
    """Return the configs of a folder; files that begin with an underscore are parts of others."""
    files: Iterable[Path] = folder.rglob("*.py") if deep else folder.glob("*.py")
    return sorted(file for file in files if not file.name.startswith("_"))


def _relative_name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).with_suffix("").as_posix()


def _summary(file: Path) -> str:
    """Return the first line of the docstring; empty if there is none, or the file cannot be read."""
    layout = tokenize.COMMENT, tokenize.NL
    try:
        # A list has many files, and to parse all of each takes five times as long.
        with open_regular(file) as lines:
            tokens = tokenize.tokenize(lines.readline)
            first = next(token for token in tokens if token.type not in (tokenize.ENCODING, *layout))
        docstring = ast.literal_eval(first.string) if first.type == tokenize.STRING else ""
    except (OSError, SyntaxError, ValueError, tokenize.TokenError):
        # A list is not the place to complain of one broken file; loading it will.
        return ""
    return next(iter(docstring.strip().splitlines()), "") if isinstance(docstring, str) else ""


def searched_folders(tree: ConfigTree, importing: Path) -> Iterator[Path]:
    """Yield the folders in which `file_in_tree` looks."""
    if tree.folder is not None:
        yield tree.folder.joinpath(*tree.inside)
    yield from (folder for folder in importing.resolve().parents if folder.name == "configs")
    yield Path.cwd() / "configs"
    yield from CONFIG_FOLDERS.paths()


Find: TypeAlias = Callable[[str], Path | None]
"""From a path in a config to the file or folder that is meant; None if there is none."""
PATH_KEYS = ("path", "tokenizer_path", "rows")


def resolve_data_path(path: str, config_dir: Path | None, run_dir: Path | None = None) -> Path | None:
    """Return the absolute path of a data file, sheet or model folder; None if there is none, as for a hub repository.

    A relative path is looked up in the working directory, then beside the config, then in the shipped ``configs``, then
    in the run folder that keeps the config.
    """
    if not path:
        return None
    expanded = expand(path)
    if _exists(expanded):
        return expanded.absolute()
    for folder in (config_dir, shipped_root(), run_dir):
        if folder is not None and _exists(found := folder / expanded):
            return found.absolute()
    return None


def replace_paths(args: Mapping[str, Any], find: Find) -> dict[str, Any]:
    """Return the arguments of a model or dataset with each path replaced by what ``find`` returns.

    ``data_files`` are left alone where ``path`` is a folder, because then they lie in that folder.
    """
    replaced = dict(args)
    for key in PATH_KEYS:
        if isinstance(path := args.get(key), str):
            replaced[key] = _found(path, find)
    if "data_files" in args:
        path = replaced.get("path")
        if not (isinstance(path, str) and _exists(Path(path)) and Path(path).is_dir()):
            replaced["data_files"] = _found(args["data_files"], find)
    return replaced


def _found(value: Any, find: Find) -> Any:
    """Return a path, a list of them, or a mapping from splits to either, as they are found."""
    if isinstance(value, str):
        found = find(value)
        return value if found is None else str(found)
    if isinstance(value, list | tuple):
        return type(value)(_found(item, find) for item in value)
    if isinstance(value, Mapping):
        return {split: _found(files, find) for split, files in value.items()}
    return value


def expand(path: str) -> Path:
    """Return the path with ``~`` replaced by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _exists(path: Path) -> bool:
    try:
        return split_sheet(path)[0].exists()
    except (OSError, ValueError):
        # A long prompt or any other text may be where a path is expected.
        return False
