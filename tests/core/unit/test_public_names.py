"""What ``from ais_prompt import …`` and ``from ais_prompt.inferencers import …`` give."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import ais_prompt
from ais_prompt import registry
from ais_prompt.catalog import PARTS, public_names
from ais_prompt.moved import FIRST_NAMES, MOVED, stored_name
from ais_prompt.prompts import READY_MADE

PACKAGES = {
    "encoders": "data",
    "evaluators": "evaluators",
    "inferencers": "inferencers",
    "models": "models",
    "postprocessors": "postprocess",
    "readers": "data",
    "retrievers": "data",
    "partitioners": "plan",
    "runners": "plan",
    "templates": "prompts",
}
"""Kind of part → the package that offers its parts. Transports have the names of libraries."""

NAMED = [(kind, name) for kind in PACKAGES for name in public_names(kind)]

HEAVY = {"torch", "transformers", "datasets", "openai", "aiohttp", "pyarrow"}


def test_a_public_name_is_there() -> None:
    for name in ais_prompt.__all__:
        assert getattr(ais_prompt, name) is not None


def test_every_part_can_be_imported_from_its_package_and_from_the_top() -> None:
    for kind, name in NAMED:
        part = getattr(registry, kind.upper()).get(name)
        package = importlib.import_module(f"ais_prompt.{PACKAGES[kind]}")
        assert getattr(package, name) is part
        assert getattr(ais_prompt, name) is part
        assert name in package.__all__
        assert name in ais_prompt.__all__


def test_every_part_with_a_python_name_is_public() -> None:
    assert {*PACKAGES, "transports"} == set(PARTS)
    hidden = {name for kind in PACKAGES for name in PARTS[kind]} - {name for _, name in NAMED}
    assert {name for name in hidden if "-" not in name} == {"general"}  # the name of a module


@pytest.mark.parametrize("name", [*READY_MADE, "RoleTemplate", "RoleTemplateInterface"])
def test_role_templates_can_be_imported_from_their_package_and_from_the_top(name: str) -> None:
    assert getattr(importlib.import_module("ais_prompt.prompts.chat_formats"), name) is getattr(ais_prompt, name)


@pytest.mark.parametrize("package", ["ais_prompt", *(f"ais_prompt.{name}" for name in sorted(set(PACKAGES.values())))])
def test_other_names_are_not(package: str) -> None:
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'PromptLst'"):
        _ = importlib.import_module(package).PromptLst


def loaded(statement: str) -> set[str]:
    """The packages that a fresh Python has loaded after a statement."""
    program = f"import sys; {statement}; print(*{{m.split('.')[0] for m in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.process
def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not loaded("import ais_prompt") & {*HEAVY, "mmengine", "click"}


@pytest.mark.process
def test_importing_every_part_imports_nothing_heavy() -> None:
    names = ", ".join(name for _, name in NAMED)
    assert not loaded(f"from ais_prompt import {names}") & HEAVY


@pytest.mark.process
def test_reading_configs_leaves_the_cache_of_yapf_alone() -> None:
    assert "yapf" not in loaded("import ais_prompt.config.load, ais_prompt.registry")
    assert "yapf" in loaded(
        "from ais_prompt.mmengine_import import Config; assert Config({'a': 1}).pretty_text == 'a = 1\\n'"
    )


def test_a_part_that_has_moved_is_stored_under_its_first_name() -> None:
    for name, first in FIRST_NAMES.items():
        module, _, part = first.rpartition(".")
        found = getattr(importlib.import_module(module), part)
        assert stored_name(found.__module__, part) == first, name
        assert f"{found.__module__}.{part}" == name


def test_modules_that_have_moved_have_their_old_names() -> None:
    moved = {**MOVED, "ais_prompt.chat.role_templates": "ais_prompt.prompts.role_templates"}
    for old, new in moved.items():
        assert importlib.import_module(old) is importlib.import_module(new)
    with pytest.raises(ModuleNotFoundError, match=r"ais_prompt\.data\.nowhere"):
        importlib.import_module("ais_prompt.readers.nowhere")


@pytest.mark.thorough
def test_no_module_is_only_the_old_name_of_another() -> None:
    for path in Path(ais_prompt.__file__).parent.rglob("*.py"):
        body = ast.parse(path.read_text("utf-8")).body
        own = [one for one in body if not isinstance(one, ast.Import | ast.ImportFrom | ast.Expr)]
        assert own or path.name in ("__init__.py", "__main__.py"), (
            f"put the old name of {path} into ais_prompt/moved.py"
        )
