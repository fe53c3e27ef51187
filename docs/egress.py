"""Write the table of the egress proof as a real run gives it, where everything is installed.

`python docs/egress.py` rewrites it, `--check` says whether it is current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from toolseam_plugins.conformance import egress
from toolseam_plugins.conformance._egress import SINKS, Cell

PAGE = Path(__file__).parent / "reference" / "conformance.md"
BEGIN, END = "<!-- docs/egress.py -->\n", "<!-- docs/egress.py: end -->\n"
COLUMNS = {
    "data": ("data",),
    "metadata": ("metadata",),
    "artifacts": ("artifact_",),
    "of failures": ("failure_metadata",),
    "exceptions": ("exception",),
    "broken values": ("look_alike",),
    "settings": ("settings",),
    "environment": ("environment",),
}
"""By what stands above a column, how the places begin that it is about."""

RECORDED = {
    "call_wire": "the text for a provider",
    "acall_wire": "the same, awaited",
    "rendered": "the one renderer",
    "specifications": "what is said of the tools",
    "shown": "`repr` of results, steps, sessions",
    "log": "the log, but for what a tool raised",
    "run": "requests of a run, before any adapter",
    "openai": "HTTP bodies of a run: chat completions",
    "openai_responses": "HTTP bodies of a run: responses",
    "anthropic": "HTTP bodies of a run",
    "google": "HTTP bodies of a run",
    "mcp_stdio": "all bytes that a client reads",
    "mcp_http": "all bytes that a client reads, heads too",
    "mcp_mount": "what a mounted child gets, environment too",
    "langchain": "messages, and what is stored of them",
    "pydantic_ai": "HTTP bodies of an agent's run, and its messages",
    "openai_agents": "HTTP bodies of an agent's run, and its state",
    "fastmcp": "what a client gets",
    "llm": "HTTP bodies of a chain, and its responses",
    "otel": "exported spans",
}
"""By sink, what is looked through."""


def table(cells: tuple[Cell, ...]) -> str:
    """Draw one row a sink; a column is about one place or several alike."""
    out = {(cell.sink, cell.place) for cell in cells if cell.hit}
    places = dict.fromkeys(cell.place for cell in cells)
    lines = [["sink", "what is looked through", *COLUMNS], ["---"] * (len(COLUMNS) + 2)]
    for sink in dict.fromkeys(cell.sink for cell in cells):
        row = [f"`{sink}`", RECORDED[sink]]
        for begins in COLUMNS.values():
            leaks = [p for p in places if p.startswith(begins) and (sink, p) in out]
            row.append("**out**" if leaks else "stays")
        lines.append(row)
    drawn = "\n".join("| " + " | ".join(row) + " |" for row in lines)
    return f"\n{drawn}\n\n{len(lines) - 2} sinks, {len(places)} canaries, {len(out)} came out.\n\n"


def main() -> int:
    """Run the proof and rewrite the page, or with `--check` compare it."""
    missing = set(RECORDED) - set(SINKS)
    if missing:
        sys.stderr.write(f"not installed here: {', '.join(sorted(missing))}\n")
        return 1
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    wanted = before + BEGIN + table(egress()) + END + rest.partition(END)[2]
    if text == wanted:
        return 0
    if "--check" in sys.argv[1:]:
        sys.stderr.write("not current: the table of the egress proof; run docs/egress.py\n")
        return 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
