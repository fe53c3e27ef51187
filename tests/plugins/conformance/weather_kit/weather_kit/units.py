"""Tools that are known at run time alone: one a unit, made by a host plugin."""

from collections.abc import Iterable
from typing import Annotated

from toolseam import Arg, ToolResult, hookimpl, tool

toolseam_api = "1"

UNITS = {"fahrenheit": (1.8, 32.0), "kelvin": (1.0, 273.15)}


@hookimpl
def toolseam_tools() -> Iterable[object]:
    """Make a tool for each unit."""
    return [_converter(unit) for unit in UNITS]


def _converter(unit: str) -> object:
    factor, offset = UNITS[unit]

    @tool(
        effect="read_only",
        data_class="public_content",
        name=f"to_{unit}",
        description=f"Convert degrees Celsius to {unit}.",
        inline=True,
    )
    def convert(
        celsius: Annotated[float, Arg("Degrees Celsius.", ge=-273.15, le=1e6)],
    ) -> ToolResult:
        """Convert."""
        return ToolResult.text(f"{celsius * factor + offset:.2f} {unit}")

    return convert
