"""A host plugin whose provider says what the environment tells it to, for commands that ask."""

import json
from pathlib import Path
from typing import Any

from support.dist_info import write_dist

PLUGIN = '''\
"""A provider of the kind `script`; what it is sent is appended to a file."""

import json
import os

from toolseam import hookimpl
from toolseam.providers import Delta, ProviderError, ProviderFault, Reply, ToolCall, Usage


class Scripted:
    def __init__(self, endpoint, lines):
        self.name = endpoint.name
        self.zone = endpoint.zone
        if endpoint.model != "foreign":
            self.endpoint = endpoint
        self.lines = iter(lines)

    async def complete(self, request):
        with open(os.environ["SCRIPT_SENT"], "a") as file:
            tools = [spec.name for spec in request.tools]
            told = [getattr(each, "text", "") for each in request.messages]
            file.write(json.dumps({"tools": tools, "told": told, "base": str(self.base)}) + "\\n")
        line = next(self.lines, {"fault": "connection"})
        if "fault" in line:
            raise ProviderError("It failed.", ProviderFault(line["fault"]))
        calls = tuple(ToolCall(name, given) for name, given in line.get("calls", ()))
        return Reply(line.get("text", ""), calls, usage=Usage(3, 4))

    @property
    def base(self):
        return getattr(getattr(self, "endpoint", None), "base_url", None)


class Streaming(Scripted):
    async def stream(self, request):
        reply = await self.complete(request)
        for letter in reply.text:
            yield Delta(letter)
        yield reply


@hookimpl
def toolseam_provider(endpoint):
    if endpoint.kind != "script":
        return None
    kind = Streaming if endpoint.model == "streams" else Scripted
    return kind(endpoint, json.loads(os.environ["SCRIPT"]))
'''


def write_scripted(folder: Path) -> None:
    """Write the distribution `acme-script` into a folder that is to be on the path."""
    folder.mkdir(exist_ok=True)
    write_dist(folder, "acme_script", points="[toolseam.plugins]\nscript = acme_script\n")
    (folder / "acme_script.py").write_text(PLUGIN)


def says(folder: Path, *lines: dict[str, Any]) -> dict[str, str]:
    """Return the environment in which it says these lines and notes what it is sent."""
    return {"SCRIPT": json.dumps(lines), "SCRIPT_SENT": str(folder / "sent.jsonl")}


def sent(folder: Path) -> list[dict[str, Any]]:
    """Return what it was sent, request by request."""
    file = folder / "sent.jsonl"
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines()]
