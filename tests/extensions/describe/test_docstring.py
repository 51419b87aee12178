"""Docstrings are cut into their parts."""

from __future__ import annotations

from ais_prompt.extensions.describe.docstring import Docstring, parse_docstring, read_docstring

TEXT = """Join two
texts.

A paragraph::

    join("a", "b")

Args:
    first, second: the texts,
        in order.
    sep: between them (``' '``: a blank).

Returns:
    The longer
    text.

Raises:
    ValueError: one is empty.
"""


class Base:
    """A base.

    Args:
        size: in bytes.
        name: of the base.
    """


class Derived(Base):
    """Another one.

    Attributes:
        name: its own.
    """


def test_the_parts_of_a_docstring() -> None:
    assert parse_docstring(TEXT) == Docstring(
        "Join two texts.",
        'A paragraph::\n\n    join("a", "b")',
        {"first": "the texts, in order.", "second": "the texts, in order.", "sep": "between them (``' '``: a blank)."},
        {"ValueError": "one is empty."},
        "The longer text.",
    )


def test_a_docstring_of_one_line_and_none() -> None:
    assert parse_docstring("Stop.") == Docstring("Stop.")
    assert parse_docstring("") == Docstring()


def test_a_class_has_the_arguments_of_its_bases_too() -> None:
    assert read_docstring(Derived).items == {"size": "in bytes.", "name": "its own."}
