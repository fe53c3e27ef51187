"""A tool that is an async function."""

import asyncio
from typing import Annotated, Literal

from toolseam import Arg, ErrorCode, ToolResult, tool

toolseam_api = "1"

STATIONS = {"Vardø": 70.37, "Tromsø": 69.65, "Bodø": 67.28}


@tool(effect="read_only", data_class="public_content", group="weather")
async def nearest_station(
    latitude: Annotated[float, Arg("Degrees north.", ge=-90, le=90)],
    unit: Annotated[Literal["degrees", "kilometres"], Arg("How far away.")] = "degrees",
) -> ToolResult:
    """Name the weather station that is nearest to a latitude."""
    await asyncio.sleep(0)
    if latitude < 0:
        return ToolResult.error("There are no stations in the south.", ErrorCode.NOT_FOUND)
    name, north = min(STATIONS.items(), key=lambda station: abs(station[1] - latitude))
    distance = abs(north - latitude) * (1 if unit == "degrees" else 111.2)
    return ToolResult.text(f"{name}, {distance:.1f} {unit} away.")
