"""Other frameworks are no part of toolseam: what is not there is said, and nothing is imported."""

import subprocess
import sys
from typing import Any

import pytest

from support.tools import Counted, fine
from toolseam import Host, ToolseamError
from toolseam_plugins import interop

NAMES = {
    "to_fastmcp": ("fastmcp", "fastmcp"),
    "to_langchain": ("langchain_core", "langchain-core"),
    "to_llm": ("llm", "llm"),
    "to_openai_agents": ("agents", "openai-agents"),
    "to_pydantic_ai": ("pydantic_ai", "pydantic-ai-slim"),
}


def test_each_framework_has_a_way() -> None:
    """The names that the room offers are those that are tried here."""
    assert set(interop.__all__) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_framework_that_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence says what is missing and how to install it."""
    package, distribution = NAMES[name]
    monkeypatch.setitem(sys.modules, package, None)
    make: Any = getattr(interop, name)

    with pytest.raises(ToolseamError) as missing:
        make(Host(tools=[Counted(fine)]).session())

    assert str(missing.value) == f"{package} is not installed here: pip install {distribution}"


def test_the_room_is_cheap_to_enter() -> None:
    """Importing it imports no framework, and no validation library of theirs."""
    wanted = sorted({package for package, _ in NAMES.values()} | {"pydantic", "mcp", "langgraph"})
    code = f"import sys, toolseam_plugins.interop; print([n for n in {wanted} if n in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "[]\n"
