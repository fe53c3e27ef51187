"""Who is asked and where: what the operator says of a provider, and the provider made of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from toolseam._errors import publish
from toolseam._levels import Zone
from toolseam._messages import ProviderError, ProviderFault
from toolseam._settings_keys import ProviderSettings
from toolseam._text import short

if TYPE_CHECKING:
    from toolseam._messages import Provider
    from toolseam._wrappers import HostPlugins


@attrs.frozen
class Endpoint:
    """A provider as it is asked for: `name` is what was written, say `openai:gpt-5`.

    Args:
        name: how steps and logs name it.
        kind: whose words it speaks; what a provider plugin goes by.
        model: what it is asked for there, or "" if the plugin knows.
        base_url: instead of the maker's own address.
        zone: where it stands, as the operator says; undeclared is `external_global`.
        api_key_env: the environment variable that holds the key.
        timeout_s: seconds that an answer may take.
        options: of the kind's own.
    """

    name: str
    kind: str
    model: str = ""
    base_url: str | None = None
    zone: Zone = Zone.EXTERNAL_GLOBAL
    api_key_env: str | None = None
    timeout_s: float = 120.0
    options: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)

    def key(self, usual: str) -> str | None:
        """Return the key, from the variable that the operator names.

        Args:
            usual: the variable that is meant where nobody names one. It is the maker's: another
                address is sent a key only if its variable was named.

        Raises `ProviderError` where the variable that is needed is not set.
        """
        variable = self.api_key_env or (usual if self.base_url is None else None)
        if variable is None:
            return None
        key = os.environ.get(variable)
        if not key:
            message = f"{short(self.name)} needs a key: set {short(variable)}."
            raise ProviderError(message, ProviderFault.CONFIGURATION)
        return key


publish(globals(), "Endpoint")


def endpoint_of(
    table: Mapping[str, ProviderSettings], name: str, changes: Mapping[str, Any]
) -> Endpoint:
    """Return where a provider is: `NAME:MODEL`, or a `NAME` whose settings name the model.

    Args:
        table: `[providers]` of the operator's file.
        name: one of its names, or a kind.
        changes: what host code or the command line says; None is nothing said.
    """
    head, _, model = name.partition(":")
    said = table.get(head, ProviderSettings())
    found = Endpoint(
        name,
        said.kind or head,
        model or said.model or "",
        said.base_url,
        said.zone,
        said.api_key_env,
        said.timeout_s,
        said.options,
    )
    given = {key: value for key, value in changes.items() if value is not None}
    if "zone" in given:
        given["zone"] = Zone(given["zone"])
    if "options" in given:
        given["options"] = {**found.options, **given["options"]}
    return attrs.evolve(found, **given)


def provider_of(plugins: HostPlugins, endpoint: Endpoint) -> Provider:
    """Return the provider: of our own kinds, or of a host plugin that gives one of this name.

    Raises `ProviderError` where nobody gives one.
    """
    from toolseam_plugins import providers

    made = providers.make(endpoint)
    if made is not None:
        return made
    for _, give in plugins.implementations("toolseam_provider"):
        offered: Provider | None = give(endpoint=endpoint)
        if offered is not None and offered.name == endpoint.name:
            return offered
    known = ", ".join(providers.KINDS)
    message = f"Nobody gives a provider {short(endpoint.name)!r}; kinds of our own: {known}."
    raise ProviderError(message, ProviderFault.CONFIGURATION)
