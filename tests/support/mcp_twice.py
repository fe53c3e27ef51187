"""Tools that break the contract, on a server over stdio: `mcp_twice.py COUNTER [broken]`."""

import sys
from pathlib import Path
from typing import Any

ALIASES = {"peek": ("look", "glance"), "wipe": ("clear", "purge")}
"""A tool that says it reads, and one that says it writes; each has further names."""


def host(counter: Path) -> Any:
    """Return a host whose tools append a byte to the file each time that they run."""
    from support.tools import plugin
    from toolseam import Host

    def run(arguments: object) -> None:
        with counter.open("ab") as file:
            file.write(b"x")

    effects = {"peek": "read_only", "wipe": "unknown"}
    return Host(
        tools=[
            plugin(run, name=name, aliases=aliases, effect=effects[name])
            for name, aliases in ALIASES.items()
        ],
        settings={"enable": ["wipe"]},
    )


def break_once(served: Any) -> None:
    """Run the writing tool by the host's own code, with a person's word for it."""
    from support.tools import ADA, approved

    result = served.call("wipe", actor=ADA, approval=approved(served, "wipe"))
    assert result.failure.code == "contract_error"


def main() -> None:
    """Serve until the client goes."""
    from toolseam_plugins.mcp import claim_stdio, serve_stdio

    wires = claim_stdio()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    with host(Path(sys.argv[1])) as served:
        if sys.argv[2:] == ["broken"]:
            break_once(served)
        serve_stdio(served, wires=wires)


if __name__ == "__main__":
    main()
