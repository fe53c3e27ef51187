from pathlib import Path

import pytest

from support.databases import ask, everything
from support.logbooks import one_log
from toolseam import ErrorCode, ToolResult
from toolseam_builtin.code import get_last_exception
from toolseam_builtin.workspace import Workspace

GROUP = """\
2025-05-06 07:00:01,004 ERROR depot.sync run failed
  + Exception Group Traceback (most recent call last):
  |   File "/srv/depot/sync.py", line 41, in run
  |     raise ExceptionGroup("stock sync failed", errs)
  | ExceptionGroup: stock sync failed (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/depot/parse.py", line 12, in to_qty
    |     return int(raw)
    | ValueError: invalid literal for int() with base 10: 'x9'
    +---------------- 2 ----------------
    | ExceptionGroup: bins (1 sub-exception)
    +-+---------------- 1 ----------------
      | Traceback (most recent call last):
      |   File "/srv/depot/bins.py", line 7, in look_up
      |     return BINS[code]
      | KeyError: 'A7'
      +------------------------------------
2025-05-06 07:00:01,200 INFO depot.sync stopped
"""
CHAIN = """\
2025-05-06 07:10:00,000 ERROR depot.load import failed
Traceback (most recent call last):
  File "/srv/depot/load.py", line 13, in price
    return row["sku"]
           ~~~^^^^^^^
KeyError: 'sku'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/depot/load.py", line 30, in main
    price({})
  File "/srv/depot/load.py", line 15, in price
    raise RuntimeError(msg) from exc
RuntimeError: import stopped at row 17
  hint: open stock.csv
Error: 1 row left
batch=2025-05
2025-05-06 07:10:00,050 INFO depot.load closing
"""


def last(workspace: Workspace, **arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return ask(get_last_exception, workspace, **arguments)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_group_is_told_with_its_members(tmp_path: Path, end: str) -> None:
    """Type, message, members in order with their places, time and logger (P19)."""
    result = last(one_log(tmp_path, GROUP.replace("\n", end)))

    data = result.data
    assert data is not None
    assert data["type"] == "ExceptionGroup"
    assert data["message"] == ["stock sync failed (2 sub-exceptions)"]
    assert (data["logger"], data["time"]) == ("depot.sync", "2025-05-06T07:00:01.004000")
    told = [(each["depth"], each["type"]) for each in data["exceptions"]]
    assert told == [
        (0, "ExceptionGroup"),
        (1, "ValueError"),
        (1, "ExceptionGroup"),
        (2, "KeyError"),
    ]
    places = [row[:3] for row in data["frames"]["rows"]]
    assert ["ValueError", "/srv/depot/parse.py", 12] in places
    assert ["KeyError", "/srv/depot/bins.py", 7] in places
    assert "stopped" not in result.content
    tree = next(artifact for artifact in result.artifacts if artifact.type == "tree")
    assert tree.nodes[2] == [1, "member: ExceptionGroup: bins (1 sub-exception)"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_chain_is_told_from_its_last_link(tmp_path: Path, end: str) -> None:
    """The last exception with all lines of its message, and the root cause (P20)."""
    result = last(one_log(tmp_path, CHAIN.replace("\n", end)))

    data = result.data
    assert data is not None
    assert data["type"] == "RuntimeError"
    assert data["message"] == [
        "import stopped at row 17",
        "  hint: open stock.csv",
        "Error: 1 row left",
        "batch=2025-05",
    ]
    assert [(each["role"], each["type"]) for each in data["exceptions"]] == [
        (None, "RuntimeError"),
        ("cause", "KeyError"),
    ]
    assert data["frames"]["rows"][0][:4] == ["RuntimeError", "/srv/depot/load.py", 15, "price"]
    assert "cause: KeyError: 'sku' at /srv/depot/load.py:13 (root cause)" in result.content
    assert "closing" not in result.content


def project(folder: Path) -> Workspace:
    """Make a workspace whose source ran under another folder, and its log."""
    lines = [f"line_{number} = {number}" for number in range(1, 41)]
    lines[12] = '        return row["sku"]'
    lines[14] = "        raise RuntimeError(msg) from exc"
    lines[15] = 'API_TOKEN = "Aster-9"'
    lines[29] = "    price({})"
    (folder / "depot").mkdir()
    (folder / "depot" / "load.py").write_text("\n".join(lines))
    return one_log(folder, CHAIN)


def test_source_is_shown_round_project_frames(tmp_path: Path) -> None:
    """Up to three frames are shown with six lines round them, near ones joined, marked."""
    result = last(project(tmp_path))

    code = [artifact.data.value for artifact in result.artifacts if artifact.type == "code"]
    assert [(each["first_line"], len(each["lines"]), each["marked"]) for each in code] == [
        (7, 15, [13, 15]),
        (24, 13, [30]),
    ]
    assert code[0]["language"] == "python"
    assert "> 15 |         raise RuntimeError(msg) from exc" in result.content
    assert "  14 | line_14 = 14" in result.content
    assert "depot/load.py, lines 7 to 21:" in result.content


def test_secrets_in_source_are_masked(tmp_path: Path) -> None:
    """An assignment near the frame shows no secret in any channel (H46)."""
    result = last(project(tmp_path))

    assert "API_TOKEN = [masked]" in result.content
    assert "Aster-9" not in everything(result)


def test_source_that_has_changed_is_said(tmp_path: Path) -> None:
    """A line that is not the one that ran is shown with a word on it, by its exact path only."""
    workspace = project(tmp_path)
    (tmp_path / "depot" / "load.py").write_text("other\n" * 40)
    exact = CHAIN.replace("/srv/depot", f"{tmp_path}/depot")

    elsewhere = last(workspace)
    here = last(one_log(tmp_path, exact))

    assert "None of the frames is in the workspace's sources" in elsewhere.content
    assert "This source has changed since" in here.content
    assert here.data is not None
    assert here.data["places"][0]["changed"] is True


@pytest.mark.parametrize("file", ["../outside/x.py", ".env", "node_modules/x.py", "<string>", ""])
def test_source_is_read_through_the_guard(tmp_path: Path, file: str) -> None:
    """A frame that names a file outside, hidden or of others shows nothing of it."""
    for path in ("outside", "work", "work/node_modules"):
        (tmp_path / path).mkdir()
    for path in ("outside/x.py", "work/.env", "work/node_modules/x.py"):
        (tmp_path / path).write_text("boom() # Aster-9\n")
    text = (
        f'x\nTraceback (most recent call last):\n  File "{file}", line 1, in f\n    boom()\nE: x\n'
    )

    result = last(one_log(tmp_path / "work", text))

    assert result.content.startswith("Exception 0 of 1")
    assert "Aster-9" not in everything(result)


def test_index_and_search_choose(tmp_path: Path) -> None:
    """`index` counts from the newest, `search` only what holds the text; both are said."""
    workspace = one_log(tmp_path, GROUP + CHAIN)

    older = last(workspace, index=1)
    found = last(workspace, search="BINS")

    assert older.content.startswith("Exception 1 of 2 in 1 log file, 0 being the newest.")
    assert "type: ExceptionGroup" in older.content
    assert found.content.startswith("Exception 0 of 1 in 1 log file whose record holds 'BINS'")


def test_empties_are_told_apart(tmp_path: Path) -> None:
    """No exception and an index past the last are successes, no logs `unavailable`."""
    none = last(one_log(tmp_path, "2025-05-06 07:00:00 INFO a: fine\n"))
    past = last(one_log(tmp_path, CHAIN), index=5)
    (tmp_path / "app.log").unlink()
    missing = last(Workspace(folder=tmp_path)).failure

    assert none.content == "No exception in 1 log file. fetch_logs shows their records."
    assert past.content == "1 exception in 1 log file: index=5 is past the last."
    assert missing is not None
    assert missing.code == ErrorCode.UNAVAILABLE


@pytest.mark.parametrize("arguments", [{"index": -1}, {"search": " "}, {"search": "x" * 201}])
def test_bad_arguments_are_refused(tmp_path: Path, arguments: dict[str, object]) -> None:
    """Out of range, blank or over-long is `invalid_arguments`."""
    result = last(one_log(tmp_path, CHAIN), **arguments)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.INVALID_ARGUMENTS


def test_secrets_in_messages_are_masked(tmp_path: Path) -> None:
    """Messages and printed source lines are masked, and search tells nothing of them."""
    text = CHAIN.replace("hint: open stock.csv", "url postgresql://app:Tulip-77@db/x").replace(
        "price({})", 'connect(password="Aster-9")'
    )
    workspace = one_log(tmp_path, text)

    assert "Tulip-77" not in everything(last(workspace))
    assert "Aster-9" not in everything(last(workspace))
    for guess in ("Tulip", "Aster"):
        assert last(workspace, search=guess).content.startswith("No exception whose record holds")


def test_a_long_chain_is_cut_aloud(tmp_path: Path) -> None:
    """Of a chain of hundreds the first are told, and how many exceptions and frames are not."""
    frame = f'  File "{"long/" * 60}x.py", line 99, in f\n    g()\n'
    link = "\n\nThe above exception was the direct cause of the following exception:\n\n"
    one = f"Traceback (most recent call last):\n{frame}ValueError: x"

    result = last(one_log(tmp_path, "2025-05-06 07:00:00 ERROR a: x\n" + link.join([one] * 200)))

    assert "140 more exceptions are left out." in result.content
    assert "outer frames are left out" in result.content
    assert len(result.content.encode()) < 44_000


def test_an_exception_without_frames_is_told(tmp_path: Path) -> None:
    """A traceback that has no frames still has type and message."""
    result = last(one_log(tmp_path, "Traceback (most recent call last):\nKeyError: 1\n"))

    assert "type: KeyError\nmessage: 1" in result.content
    assert [artifact.type for artifact in result.artifacts] == ["key_value"]


def test_a_source_that_became_shorter_is_passed_over(tmp_path: Path) -> None:
    """A frame behind the end of the file that is there now shows no source."""
    workspace = project(tmp_path)
    (tmp_path / "depot" / "load.py").write_text("short\n")

    assert "None of the frames is in the workspace's sources" in last(workspace).content


def test_many_frames_keep_the_innermost(tmp_path: Path) -> None:
    """Of a deep traceback the inner frames are listed, and the rest is counted."""
    frames = "".join(f'  File "x.py", line {n}, in f{n}\n    f{n + 1}()\n' for n in range(1, 301))
    text = f"2025-05-06 07:00:00 ERROR a: x\nTraceback (most recent call last):\n{frames}E: x\n"

    result = last(one_log(tmp_path, text))

    assert "  x.py:300 in f300 | f301()" in result.content
    assert "275 outer frames are left out" in result.content


def test_a_long_message_is_cut_aloud(tmp_path: Path) -> None:
    """Of a message of thousands of lines both ends are shown, and how many are left out."""
    text = CHAIN.replace("batch=2025-05", "more\n" * 5000 + "the end")

    result = last(one_log(tmp_path, text))

    assert "lines left out]" in result.content
    assert "    the end" in result.content
    assert len(result.content) < 20_000


def test_an_object_with_a_traceback_is_read(tmp_path: Path) -> None:
    """The traceback in a field of a JSON line is found, what is secret in others is not told."""
    text = (
        '{"time": "2025-05-06T07:00:00Z", "level": "error", "logger": "a", "message": "no",'
        ' "headers": [["X-Auth-Token", "Aster-9"]], "exception": "Traceback (most recent call'
        ' last):\\n  File \\"x.py\\", line 1, in f\\nValueError: y"}\n'
    )

    result = last(one_log(tmp_path, text))

    assert "type: ValueError" in result.content
    assert "time: 2025-05-06T07:00:00Z" in result.content
    assert "Aster-9" not in everything(result)
