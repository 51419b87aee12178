"""The config of a run folder: readable, and the same run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.config import hidden_again, literal_values, load_config, parse_run, render_config

Write = Callable[[str, str], Path]

KEYS = st.one_of(st.text("ab_ -0é.", max_size=4), st.integers(-3, 3), st.sampled_from(["type", "n"]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.dictionaries(KEYS, inner, max_size=3),
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def test_it_reads_like_a_config_that_a_person_wrote() -> None:
    values = {
        "work_dir": "outputs",
        "models": [{"type": "M", "abbr": "demo", "kwargs": {"a b": 1, "class": (1,), "x": []}}, {}],
        "datasets": [{"infer_cfg": {"prompt_template": {"type": "T", "template": "Q: {q}\nA: " + "x" * 80}}}],
    }
    assert render_config(values) == (
        '"""The config of this run, resolved. Run it again: aisprompt run <this file>."""\n'
        "\n"
        "work_dir = 'outputs'\n"
        "\n"
        "models = [\n"
        "    dict(\n"
        "        type='M',\n"
        "        abbr='demo',\n"
        "        kwargs={\n"
        "            'a b': 1,\n"
        "            'class': (1,),\n"
        "            'x': [],\n"
        "        },\n"
        "    ),\n"
        "    dict(),\n"
        "]\n"
        "\n"
        "datasets = [\n"
        "    dict(\n"
        "        infer_cfg=dict(\n"
        "            prompt_template=dict(\n"
        "                type='T',\n"
        f"                template='Q: {{q}}\\nA: {'x' * 80}',\n"
        "            ),\n"
        "        ),\n"
        "    ),\n"
        "]\n"
    )


def test_a_run_can_be_repeated_from_its_own_config_elsewhere(write: Write, folder: Path) -> None:
    write("project/data/sums.jsonl", "{}\n")
    write("project/my_parts.py", "")
    write(
        "project/parts.py",
        """
        from ais_prompt.prompts import PromptTemplate
        from ais_prompt.inferencers import GenInferencer
        sums_datasets = [dict(
            path='data/sums.jsonl',
            reader_cfg=dict(input_columns='q', output_column='a', test_range='[:2]'),
            infer_cfg=dict(
                prompt_template=dict(type=PromptTemplate, template='{q}'),
                inferencer=dict(type=GenInferencer),
            ),
        )]
        """,
    )
    path = write(
        "project/eval.py",
        """
        from mmengine.config import read_base
        with read_base():
            from .parts import *
        from ais_prompt.models import OpenAIChatModel
        custom_imports = dict(imports=['my_parts'])
        models = [dict(type=OpenAIChatModel, model='m', api_key='MY_API_KEY', stop_words=('\\n',), ratio=float('inf'))]
        datasets = sums_datasets
        """,
    )
    spec = parse_run(load_config(path, ["models.0.max_out_len=7"]))
    again_path = write("outputs/eval/20250101_000000/config.py", render_config(spec.resolved))
    again = parse_run(load_config(again_path))
    assert replace(again, config_file=path) == spec
    assert again.models[0].part.args["max_out_len"] == 7
    assert again.datasets[0].source.args["path"] == str(folder / "project/data/sums.jsonl")
    assert render_config(again.resolved) == again_path.read_text("utf-8")


def test_no_secret_is_written() -> None:
    text = render_config(
        {"models": [{"type": "M", "api_key": "s3cret", "headers": {"Authorization": "Bearer s3cret"}}]}
    )
    assert "s3cret" not in text
    assert text.count("'***'") == 2


def test_a_config_of_an_earlier_version_loses_its_secrets() -> None:
    values = {"models": [{"type": "M", "headers": {"Cookie": "s3cret"}, "n": (-1, float("inf")), "d": {1: None}}]}
    assert hidden_again(render_config(values)) == render_config(values)
    old = render_config(values).replace("***", "s3cret")
    assert "s3cret" in old
    assert hidden_again(old) == render_config(values)


def test_a_config_that_was_edited_stays() -> None:
    assert hidden_again("models = [make_model()]") == "models = [make_model()]"


@given(st.dictionaries(st.sampled_from(["models", "datasets", "x"]), VALUES, max_size=2))
def test_configs_that_mmengine_wrote_are_read_without_running_them(values: dict[str, object]) -> None:
    """It writes ``dict({0: 'a'})`` for keys that are no identifiers; both peers write the config of a run with it."""
    from mmengine.config import Config

    assert literal_values(Config(values).pretty_text) == values


@pytest.mark.parametrize("code", ["x = dict(open('ran', 'w'))", "x = dict({}, {})", "x = dict(**y)", "x = {**y}"])
def test_code_is_no_literal(code: str) -> None:
    with pytest.raises(ValueError, match=r"literal|malformed"):
        literal_values(code)
