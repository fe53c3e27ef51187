"""Finding a provider: the operator's settings, kinds of our own, host plugins."""

import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest

from toolseam import Host, Zone, hookimpl
from toolseam._errors import LoadError
from toolseam._levels import DataClass
from toolseam.providers import Endpoint, ProviderError, ProviderFault
from toolseam.testing import ScriptedProvider


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the key of the maker and another one."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-maker")
    monkeypatch.setenv("TEAM_KEY", "sk-team")
    monkeypatch.delenv("NO_KEY", raising=False)


def giving(provider: Any) -> Any:
    """Return a host plugin that gives one provider, whoever is asked for."""
    return SimpleNamespace(toolseam_provider=hookimpl(lambda: provider))


def seen_by(*kinds: str) -> tuple[Any, list[Endpoint]]:
    """Return a host plugin that makes providers of these kinds, and what it was asked for."""
    asked: list[Endpoint] = []

    def toolseam_provider(endpoint: Endpoint) -> Any:
        asked.append(endpoint)
        if endpoint.kind not in kinds:
            return None
        return ScriptedProvider([], name=endpoint.name, zone=endpoint.zone)

    return SimpleNamespace(toolseam_provider=hookimpl(toolseam_provider)), asked


@pytest.mark.parametrize("kind", ["openai", "openai_responses"])
def test_a_kind_and_a_model_are_enough(kind: str) -> None:
    """Without settings a kind of our own is asked at its maker's, in the farthest zone."""
    with Host() as host:
        provider: Any = host.provider(f"{kind}:m")

    assert (provider.name, provider.zone) == (f"{kind}:m", Zone.EXTERNAL_GLOBAL)


def test_the_operators_settings_say_the_rest() -> None:
    """Kind, model, address, zone, key, time and options stand under the name that is asked for."""
    words = {
        "kind": "acme",
        "model": "small",
        "base_url": "http://localhost:1/v1",
        "zone": "local",
        "api_key_env": "TEAM_KEY",
        "timeout_s": 9,
        "options": {"temperature": 0},
    }
    plugin, asked = seen_by("acme")

    with Host(plugins=[plugin], settings={"providers": {"home": words}}) as host:
        host.provider("home")
        host.provider("home:large", zone="private_hosted", options={"seed": 1})

    said, changed = asked
    assert said == Endpoint(
        *("home", "acme", "small", "http://localhost:1/v1", Zone.LOCAL, "TEAM_KEY", 9.0),
        {"temperature": 0},
    )
    assert said.key("OPENAI_API_KEY") == "sk-team"
    assert (changed.name, changed.model, changed.zone) == ("home:large", "large", "private_hosted")
    assert changed.options == {"temperature": 0, "seed": 1}


def test_a_host_plugin_gives_the_one_provider_that_it_has() -> None:
    """A hook that takes nothing gives its provider, which is found by its name."""
    mine = ScriptedProvider([], name="acme")

    with Host(plugins=[giving(ScriptedProvider([], name="other")), giving(mine)]) as host:
        assert host.provider("acme") is mine


def test_a_plugin_does_not_take_the_name_of_a_kind_of_our_own() -> None:
    """As with tools, what is ours stays ours (P15)."""
    mine = ScriptedProvider([], name="openai:m")

    with Host(plugins=[giving(mine)]) as host:
        assert host.provider("openai:m") is not mine


def test_a_zone_that_is_no_zone_is_refused() -> None:
    """A misspelt zone is an error, and never the nearest."""
    with Host() as host, pytest.raises(ValueError, match="moon"):
        host.provider("openai:m", zone="moon")


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("acme:m", {}, "openai_responses"),
        ("openai", {}, "openai:MODEL"),
        ("openai:m", {"api_key_env": "NO_KEY"}, "NO_KEY"),
    ],
)
def test_what_cannot_be_given_is_told(name: str, more: Any, said: str) -> None:
    """Nobody gives it, no model, no key: a fault of the configuration that says what is missing."""
    with Host() as host, pytest.raises(ProviderError, match=said) as caught:
        host.provider(name, **more)

    assert caught.value.fault is ProviderFault.CONFIGURATION


def test_a_missing_extra_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK the error names the extra that brings it."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "toolseam_plugins.providers.find_spec",
        lambda name: None if name == "openai" else find(name),
    )

    with Host() as host, pytest.raises(ProviderError, match=r"toolseam\[openai\]"):
        host.provider("openai:m")


def test_an_address_of_the_operators_gets_no_key_of_the_maker() -> None:
    """The usual variable is meant for the maker's address alone."""
    assert Endpoint("a", "openai").key("OPENAI_API_KEY") == "sk-maker"
    assert Endpoint("a", "openai", base_url="http://x").key("OPENAI_API_KEY") is None
    named = Endpoint("a", "openai", base_url="http://x", api_key_env="TEAM_KEY")
    assert named.key("OPENAI_API_KEY") == "sk-team"


def test_a_provider_hook_that_names_what_it_does_not_get_is_refused() -> None:
    """A parameter that nobody gives is refused when the plugin loads."""
    odd = SimpleNamespace(toolseam_provider=hookimpl(lambda secret: None))

    with pytest.raises(LoadError, match="secret"):
        Host(plugins=[odd])


def test_an_undeclared_zone_gets_little() -> None:
    """A run with a provider of no declared zone is held to the farthest, whatever the session."""
    plugin, _ = seen_by("acme")
    with Host(plugins=[plugin]) as host:
        provider = host.provider("acme:m")
        run = host.session(zone="local").run(provider, messages=[], mark=DataClass.SOURCE_CODE)

    assert run.reason == "policy_denied"
