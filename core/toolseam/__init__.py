"""Plugin framework for LLM tools: typed results, one seam, one way out."""

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from toolseam._approval import Approval
    from toolseam._artifacts import ArtifactType, ToolArtifact
    from toolseam._command import CommandResult
    from toolseam._context import Actor, ToolContext
    from toolseam._errors import ContractViolation, ErrorCode, ToolseamError
    from toolseam._hooks import hookimpl, hookspec
    from toolseam._host import Host
    from toolseam._json_safe import json_safe
    from toolseam._levels import DataClass, Effect, Zone
    from toolseam._render import WireText, render_tool_result
    from toolseam._result import ToolError, ToolResult
    from toolseam._result_json import decode_result, encode_result
    from toolseam._run_only import RunOnly
    from toolseam._runs import Budget, Decision, Run
    from toolseam._schema import Arg
    from toolseam._session import Session
    from toolseam._spec import ToolSpec
    from toolseam._steps import Step
    from toolseam._tool import tool

CONTRACT_VERSION = "1"
"""The version of the contract that this release keeps, apart from the release's own version."""

_HOMES = {
    "_approval": "Approval",
    "_artifacts": "ArtifactType ToolArtifact",
    "_command": "CommandResult",
    "_context": "Actor ToolContext",
    "_errors": "ContractViolation ErrorCode ToolseamError",
    "_hooks": "hookimpl hookspec",
    "_host": "Host",
    "_json_safe": "json_safe",
    "_levels": "DataClass Effect Zone",
    "_render": "WireText render_tool_result",
    "_result": "ToolError ToolResult",
    "_result_json": "decode_result encode_result",
    "_run_only": "RunOnly",
    "_runs": "Budget Decision Run",
    "_schema": "Arg",
    "_session": "Session",
    "_spec": "ToolSpec",
    "_steps": "Step",
    "_tool": "tool",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "CONTRACT_VERSION",
    "Actor",
    "Approval",
    "Arg",
    "ArtifactType",
    "Budget",
    "CommandResult",
    "ContractViolation",
    "DataClass",
    "Decision",
    "Effect",
    "ErrorCode",
    "Host",
    "Run",
    "RunOnly",
    "Session",
    "Step",
    "ToolArtifact",
    "ToolContext",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "ToolseamError",
    "WireText",
    "Zone",
    "decode_result",
    "encode_result",
    "hookimpl",
    "hookspec",
    "json_safe",
    "render_tool_result",
    "tool",
]


if not TYPE_CHECKING:  # a checker that saw it would let every misspelt name pass

    def __getattr__(name: str) -> object:
        # Lazy, so that `import toolseam` stays as cheap as an empty module.
        if name not in _HOME:
            message = f"module 'toolseam' has no attribute {name!r}"
            raise AttributeError(message)
        from importlib import import_module

        found = getattr(import_module(f"toolseam.{_HOME[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return __all__
