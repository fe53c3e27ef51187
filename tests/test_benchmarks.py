import json
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

import pytest

ROOT = Path(__file__).parent.parent
Rows: TypeAlias = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Every row of a quick run without peers, by key."""
    file = tmp_path_factory.mktemp("benchmarks") / "rows.json"
    groups = "peers,serving,page,seam,hostile,threads,start,discovery,registration,audit,endurance"
    subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks", "--quick", "--no-peers"),
            *("--only", groups, "--json", file),
        ],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=300,
    )
    return {row["key"]: row for row in json.loads(file.read_text("utf-8"))["rows"]}


def test_every_promised_row_is_measured(rows: Rows) -> None:
    """A run gives each promised row a value, but for those that need a peer."""
    unmeasured = {key for key, row in rows.items() if row["value"] is None}

    assert {key.partition(".")[0] for key in rows} == {
        "peers",
        "serving",
        "page",
        "seam",
        "hostile",
        "threads",
        "start",
        "discovery",
        "registration",
        "audit",
        "endurance",
    }
    with_peers = {key for key in rows if key.startswith(("peers.", "serving."))}
    assert unmeasured == with_peers | {"start.peer"}


def test_a_row_without_its_peer_says_so(rows: Rows) -> None:
    """What could not be measured is a row that says why, and no row is dropped."""
    assert sum(key.startswith("peers.") for key in rows) == 7
    assert rows["peers.langchain-core"]["verdict"] == "not measured"
    assert rows["peers.langchain-core"]["beside"] == "without peers"


def test_no_tool_is_built_before_its_first_use(rows: Rows) -> None:
    """A host that found 46 tools has imported none of their modules."""
    assert rows["registration.early"]["value"] == 0


def test_no_hostile_value_ends_its_child(rows: Rows) -> None:
    """Every hostile value is refused in every channel: none crashes or hangs the child."""
    assert rows["hostile.worst"]["value"] < float("inf")
    assert "30 tried" in rows["hostile.worst"]["beside"]


def test_a_missed_bar_is_told_from_a_kept_one() -> None:
    """A value is judged against the goal first, then against what it must keep."""
    code = (
        "from benchmarks.bars import BARS\n"
        "bars = {bar.key: bar for bar in BARS}\n"
        "above, below = bars['peers.mcp'], bars['threads.trivial']\n"
        "print(*(above.verdict(v) for v in (1 / 9, 1 / 5, 1 / 3)), sep=',')\n"
        "print(*(below.verdict(v) for v in (0.9, 0.8, None)), above.shown(1 / 9), sep=',')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "goal,pass,MISSED\npass,MISSED,not measured,1/9\n"
