"""No value that a tool can return crashes, hangs or fools the host (contract §1, §7).

Each value goes through every channel in a child process of its own, with memory and time limited.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.hostile import VALUES, trying

TEXTS = {
    "long text",
    "long NUL text",
    "long surrogate text",
    "text that grows by escapes",
    "loud text",
}
# Too large is no violation; whatever is not listed is of a wrong kind, and raises.
OMITTED = {
    *(TEXTS - {"loud text"}),
    "surrogates",
    "surrogate keys",
    "long key",
    "deep and wide",
    "shared",
    "shared tuples",
    "shared dicts",
    "shared surrogate",
    "references to one long text",
    "large table",
    "many integers",
    "many bad members",
    "many empty lists",
}
OUTCOMES = {"violation", "omitted", "held", "fault"}


@pytest.fixture(scope="module")
def tried() -> Iterator[Callable[[str], dict[str, Any]]]:
    """What tries one value after the other out, each in a process of its own."""
    with trying() as ask:
        yield ask


@pytest.mark.parametrize("name", VALUES)
def test_a_hostile_value_has_the_right_outcome_in_every_channel(
    tried: Callable[[str], dict[str, Any]], name: str
) -> None:
    """The child ends by itself, and every channel refuses, leaves out or holds the value."""
    child = tried(name)
    assert child["code"] == 0, child
    found = child["found"]

    assert set(found.values()) <= OUTCOMES
    as_data = "omitted" if name in OMITTED else "violation"
    assert (found["data"], found["metadata"], found["failure"]) == (as_data,) * 3
    as_text = "held" if name in TEXTS else "violation"
    assert (found["content"], found["message"]) == (as_text,) * 2
    assert found["label"] == ("held" if name in TEXTS else "fault")
    in_artifact = "held" if name == "loud text" else "fault"
    assert (found["text"], found["cell by hand"], found["by hand"]) == (
        in_artifact,
        in_artifact,
        "fault",
    )
    assert found.get("cells, fit=False", "fault") == "fault"
