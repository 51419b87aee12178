"""Providers: a name in place of address and key variable."""

from __future__ import annotations

import pytest

from ais_prompt import OpenAIChatModel, OpenAICompletionModel
from ais_prompt.catalog import PROVIDERS
from ais_prompt.errors import ConfigError
from ais_prompt.models import check_address, check_variable_name, find_provider
from ais_prompt.plan import argument_faults, served_model


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_sets_address_and_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    known = PROVIDERS[name]
    model = OpenAIChatModel("m", provider=name)
    assert (model.address, model.api_key) == (known.base_url, known.key)
    assert model.identity() == OpenAIChatModel("m").identity()
    check_address(known.base_url)
    assert check_variable_name(known.key) == known.key
    assert known.base_url.startswith("https://")
    assert not known.base_url.endswith(("/", "completions"))


def test_what_the_config_says_itself_wins() -> None:
    model = OpenAICompletionModel("m", "http://127.0.0.1:8000/v1", "MY_KEY", provider="deepseek")
    assert (model.address, model.api_key) == ("http://127.0.0.1:8000/v1", "MY_KEY")
    assert OpenAIChatModel("m", api_key=None, provider="deepseek").api_key is None


def test_an_unknown_provider_is_a_fault_with_the_nearest_name() -> None:
    [fault] = argument_faults(OpenAIChatModel, {"model": "m", "provider": "deepsek"}, "models[0]")
    assert (fault.where, fault.fix) == ("models[0].provider", "did you mean 'deepseek'?")
    with pytest.raises(ConfigError, match="there is no provider named 'x'"):
        find_provider("x")


def test_the_command_line_takes_a_provider_for_an_address() -> None:
    assert served_model(["groq"], "m") == {"type": "OpenAIChatModel", "model": "m", "provider": "groq"}


def test_providers_are_in_order() -> None:
    assert list(PROVIDERS) == sorted(PROVIDERS)
