"""A tool that is an object of a class, with a schema of its own making and promised data."""

from typing import Annotated, Any, ClassVar

import attrs

import toolseam as seam

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@attrs.frozen
class WeatherSettings:
    """What the operator says in `[plugins.weather-kit]`."""

    api_key: Annotated[str, seam.Arg("Where forecasts would be fetched with.")] = ""
    offset: Annotated[int, seam.Arg("Degrees that are added.", ge=-5, le=5)] = 0


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

    @seam.hookimpl
    def tool_spec(self) -> seam.ToolSpec:
        """Describe the tool."""
        return seam.ToolSpec(
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

    @seam.hookimpl
    def execute(self, arguments: dict[str, Any], context: seam.ToolContext) -> seam.ToolResult:
        """Tell the weather."""
        place = arguments["place"]
        if isinstance(place, str) and not place.strip():
            raise seam.ToolError("Name a place.", seam.ErrorCode.INVALID_ARGUMENTS)
        first = DAYS.index(arguments["from"])
        rows = [
            (DAYS[(first + n) % 7], 15 + (n * 5) % 7 + context.settings.offset)
            for n in range(arguments["days"] or 3)
        ]
        return seam.ToolResult.text(
            "\n".join(f"{day}: {degrees} degrees" for day, degrees in rows),
            seam.ToolArtifact.table("Forecast", ["day", "degrees"], rows),
            data={"days": [{"day": day, "degrees": degrees} for day, degrees in rows]},
        )


FORECAST = Forecast()
