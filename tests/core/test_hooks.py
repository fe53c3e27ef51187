import inspect
from typing import Any

import pytest

from toolseam import hookimpl
from toolseam._binding import _PARAMETERS as TOOL_PARAMETERS
from toolseam._hooks import PROJECT, PluginHooks, ToolHooks
from toolseam._wrappers import _PARAMETERS as PLUGIN_PARAMETERS


@pytest.mark.parametrize(
    ("hooks", "known"), [(ToolHooks, TOOL_PARAMETERS), (PluginHooks, PLUGIN_PARAMETERS)]
)
def test_what_is_verified_at_load_is_what_the_hooks_declare(hooks: type, known: Any) -> None:
    """The tables of parameters are those of the hook specifications, name by name."""
    declared = {
        name: tuple(inspect.signature(function).parameters)[1:]
        for name, function in vars(hooks).items()
        if not name.startswith("_")
    }
    assert known == declared


def test_the_marker_is_of_this_project() -> None:
    """A function that `hookimpl` marks is known to pluggy as toolseam's."""

    @hookimpl
    def execute(arguments: object) -> None: ...

    assert PROJECT == "toolseam"
    assert getattr(execute, "toolseam_impl", None) is not None
