"""No value that a tool can return crashes, hangs or fools the host (contract §1, §7).

Each value goes through every channel in a child process of its own, with memory and time limited.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.hostile import VALUES

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


@pytest.mark.parametrize("name", VALUES)
def test_a_hostile_value_has_the_right_outcome_in_every_channel(name: str) -> None:
    """The child ends by itself, and every channel refuses, leaves out or holds the value."""
    child = subprocess.run(
        [sys.executable, "-m", "support.hostile", name],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2_000:]
    found = json.loads(child.stdout)

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
