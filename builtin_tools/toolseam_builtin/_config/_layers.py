"""Several settings files over each other, and which of them each value comes from."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import MASK
from toolseam_builtin._config._model import Written, is_mapping
from toolseam_builtin._config._reading import load
from toolseam_builtin._config._shown import hidden_in
from toolseam_builtin._page import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam_builtin.workspace import Workspace

_TOLD = frozenset({"doubled key", "not read"})
_MOST_TOLD = 5


@attrs.frozen
class Setting:
    """A value, the layer that set it, and what weaker layers had: layer and value, weakest first.

    Lists are values as a whole: a stronger layer replaces them, as it does a scalar.
    """

    value: object
    layer: str
    before: tuple[tuple[str, object], ...] = ()


Tree = dict[str, "Setting | Tree"]


@attrs.define
class Layers:
    """The settings of all layers over each other; what is said of each; what could not be read."""

    tree: Tree = attrs.field(factory=dict[str, "Setting | Tree"])
    said: list[str] = attrs.field(factory=list[str])
    warnings: list[str] = attrs.field(factory=list[str])


def read_layers(workspace: Workspace, end: float) -> Layers:
    """Lay all layers over each other; one that cannot be read is told and left out.

    Args:
        workspace: names them, the weakest first.
        end: a moment of `time.monotonic()` at which reading stops.
    """
    layers = Layers()
    for number, name in enumerate(workspace.settings_layers):
        label = one_line(name)
        if number and time.monotonic() >= end:
            layers.said.append(f"{label} (not read)")
            layers.warnings.append(f"{label} is left out: the time limit was reached before it.")
            continue
        try:
            _, parsed = load(workspace, name, end)
        except ToolError as refusal:
            absent = refusal.code == ErrorCode.NOT_FOUND
            layers.said.append(f"{label} ({'not there' if absent else 'not read'})")
            if not absent:
                layers.warnings.append(f"{label} is left out: {one_line(refusal.message)}")
            continue
        if is_mapping(parsed.value):
            lay(layers.tree, parsed.value, name)
        elif parsed.value is not None:
            layers.warnings.append(f"{label} is left out: it holds no keys at its top.")
        layers.said.append(label)
        lost = [each for each in parsed.findings.kept if each.kind in _TOLD]
        layers.warnings += [one_line(f"{name}: {each.text}") for each in lost[:_MOST_TOLD]]
    return layers


def lay(tree: Tree, values: dict[str, object], layer: str) -> None:
    """Put the values of a stronger layer into a tree; mappings are merged key by key.

    What is masked within its own layer stays so, whatever it is merged with.
    """
    masked = hidden_in(values)
    for key, given in values.items():
        below = tree.get(key)
        value = Written(MASK, MASK) if key in masked and given not in ("", None) else given
        if is_mapping(value) and value:
            if not isinstance(below, dict):
                # What was no mapping is overridden by each value that is now below its key.
                lost = () if below is None else (*below.before, (below.layer, below.value))
                below = tree[key] = {}
                lay(below, value, layer)
                _note(below, lost)
            else:
                lay(below, value, layer)
        else:
            tree[key] = Setting(value, layer, _had(below))


def plain(tree: Tree) -> dict[str, object]:
    """Return the effective values alone."""
    return {
        key: each.value if isinstance(each, Setting) else plain(each) for key, each in tree.items()
    }


def origin(tree: Tree, path: Sequence[str]) -> Setting:
    """Return the setting that a path of the effective values comes from.

    For a mapping that several layers share, the layer is their names, weakest first.
    """
    here: Setting | Tree = tree
    for key in path:
        if isinstance(here, Setting):
            break
        here = here[key]
    if isinstance(here, Setting):
        return here
    return Setting(None, ", ".join(_layers(here)))


def _had(below: Setting | Tree | None) -> tuple[tuple[str, object], ...]:
    if below is None:
        return ()
    if isinstance(below, Setting):
        return (*below.before, (below.layer, below.value))
    return ((", ".join(_layers(below)), plain(below)),)


def _note(tree: Tree, lost: tuple[tuple[str, object], ...]) -> None:
    for key, each in tree.items():
        if isinstance(each, Setting):
            tree[key] = attrs.evolve(each, before=(*lost, *each.before))
        else:
            _note(each, lost)


def _layers(tree: Tree) -> list[str]:
    """Return the layers that set anything in a tree, in the order in which they are met."""
    found: dict[str, None] = {}
    for each in tree.values():
        for layer in [each.layer] if isinstance(each, Setting) else _layers(each):
            found[layer] = None
    return list(found)
