"""The public names and their types agree, and examples import nothing else."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import ais_prompt
from ais_prompt import names
from ais_prompt.catalog import PARTS, public_names
from ais_prompt.errors import AisPromptError

DOCS = Path(__file__).parents[4] / "docs"


def test_all_names_are_functions_values_or_parts() -> None:
    parts = {name for kind in PARTS for name in public_names(kind)}
    assert set(ais_prompt.__all__) == {"__version__", *names.MODULES, *names.HOMES, *parts}
    assert not parts & names.HOMES.keys()


def test_every_error_is_public() -> None:
    def below(kind: type) -> set[str]:
        own = {one for one in kind.__subclasses__() if one.__module__ == "ais_prompt.errors"}
        return {kind.__name__}.union(*map(below, own))

    assert below(AisPromptError) == set(names.ERRORS)


def test_what_is_public_says_what_it_is() -> None:
    silent = [name for name in names.HOMES if not (getattr(ais_prompt, name).__doc__ or "").strip()]
    assert not silent


def test_type_information_is_shipped() -> None:
    assert (Path(ais_prompt.__file__).parent / "py.typed").exists()


PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("zh/*.md"), *DOCS.parent.glob("*.md"), DOCS / "python.ipynb"])
IMPORT = re.compile(r"\b(?:from (ais_prompt[\w.]*) import \(?([\w, ]+)|import (ais_prompt\.[\w.]+))")


def test_examples_import_only_what_the_reference_describes() -> None:
    for page in PAGES:
        for package, imported, module in IMPORT.findall(page.read_text("utf-8")):
            assert not module, f"{module} is internal"
            for name in imported.replace(" as ", ",").split(","):
                if package == "ais_prompt":
                    assert name.strip() in ("", *ais_prompt.__all__), name
                elif not package.startswith("ais_prompt.configs"):
                    assert names.HELPERS.get(name.strip()) == package, f"from {package} import {name}"


def test_a_helper_is_public_in_its_package() -> None:
    for name in names.HELPERS:
        package = importlib.import_module(names.HELPERS[name])
        assert name in package.__all__
        assert getattr(package, name) is not None
