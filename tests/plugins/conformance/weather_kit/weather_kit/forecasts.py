"""A tool that is an object of a class, with a schema of its own making and promised data."""

from typing import Annotated, Any, ClassVar

import attrs

from toolseam import (
    Arg,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@attrs.frozen
class WeatherSettings:
    """What the operator says in `[plugins.weather-kit]`."""

    api_key: Annotated[str, Arg("Where forecasts would be fetched with.")] = ""
    offset: Annotated[int, Arg("Degrees that are added.", ge=-5, le=5)] = 0


class Forecast:
    """Tells the weather of a place from its name, for as many days as asked."""

    toolseam_api = "1"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "place": {
                "description": "A name, or a pair of coordinates.",
                "anyOf": [
                    {"type": "string", "minLength": 1, "maxLength": 80},
                    {
                        "type": "array",
                        "items": {"type": "number", "minimum": -180, "maximum": 180},
                        "minItems": 2,
                        "maxItems": 2,
                    },
                ],
            },
            "days": {
                "type": ["integer", "null"],
                "description": "How many days.",
                "minimum": 1,
                "maximum": 7,
                "default": 3,
            },
            "from": {"description": "The first day.", "enum": list(DAYS), "default": "Monday"},
        },
        "required": ["place"],
    }
    OUTPUT: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
        },
        "required": ["days"],
        "$defs": {
            "day": {
                "type": "object",
                "properties": {"day": {"type": "string"}, "degrees": {"type": "integer"}},
                "required": ["day", "degrees"],
            }
        },
    }

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name="forecast",
            description="The weather of the next days at a place.",
            parameters=self.SCHEMA,
            output_schema=self.OUTPUT,
            effect="read_only",
            data_class="public_content",
            settings=WeatherSettings,
            aliases=("weather",),
            parallel_safe=True,
        )

    @hookimpl
    def execute(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Tell the weather."""
        place = arguments["place"]
        if isinstance(place, str) and not place.strip():
            raise ToolError("Name a place.", ErrorCode.INVALID_ARGUMENTS)
        first = DAYS.index(arguments["from"])
        rows = [
            (DAYS[(first + n) % 7], 15 + (n * 5) % 7 + context.settings.offset)
            for n in range(arguments["days"] or 3)
        ]
        return ToolResult.text(
            "\n".join(f"{day}: {degrees} degrees" for day, degrees in rows),
            ToolArtifact.table("Forecast", ["day", "degrees"], rows),
            data={"days": [{"day": day, "degrees": degrees} for day, degrees in rows]},
        )


FORECAST = Forecast()
