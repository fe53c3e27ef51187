import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.logbooks import numbered
from toolseam_builtin._logs import _reading
from toolseam_builtin._logs._files import find_logs
from toolseam_builtin._logs._reading import Budget
from toolseam_builtin._logs._records import newest_records
from toolseam_builtin._logs._shown import shown_text
from toolseam_builtin.workspace import Workspace

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


def never() -> bool:
    """Nobody cancels."""
    return False


def budget(left: int = 16_000_000, end: float = float("inf")) -> Budget:
    """Return a budget of so many bytes."""
    return Budget(end, never, left)


def texts(folder: Path, spent: Budget) -> list[str]:
    """Read all logs in a folder, the newest records first."""
    found = find_logs(Workspace(folder=folder))
    return [record.text for record in newest_records(found.logs, spent, NOW)]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in blocks of a hundredth of their size, for small files of many blocks."""
    monkeypatch.setattr(_reading, "_BLOCK", 10_000)
    monkeypatch.setattr(_reading, "_CARRIED", 40_000)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_meet_at_whole_records(tmp_path: Path) -> None:
    """A log of many blocks gives each record once, whatever stands at the borders."""
    record = "2025-05-06 07:00:00 ERROR a.b {}\n" + "  more of it\n" * 40
    (tmp_path / "a.log").write_text("".join(record.format(number) for number in range(200)))

    found = texts(tmp_path, budget())

    assert [text.partition("\n")[0].rpartition(" ")[2] for text in found] == [
        str(number) for number in range(199, -1, -1)
    ]
    assert {text.count("\n") for text in found} == {40}


@pytest.mark.usefixtures("small_blocks")
def test_a_record_larger_than_blocks_is_whole(tmp_path: Path) -> None:
    """A record of three blocks is carried from block to block."""
    (tmp_path / "a.log").write_text("2025-05-06 07:00:00 ERROR a.b x\n" + "  more\n" * 4_300)

    (text,) = texts(tmp_path, budget())

    assert text.count("  more") == 4_300


@pytest.mark.usefixtures("small_blocks")
def test_an_endless_record_is_given_in_pieces(tmp_path: Path) -> None:
    """What has no beginning for blocks is not carried for ever."""
    (tmp_path / "a.log").write_text("2025-05-06 07:00:00 ERROR a.b x\n" + "  more\n" * 15_000)

    found = texts(tmp_path, budget(200_000))

    assert 1 < len(found) < 5
    assert sum(text.count("more") for text in found) >= 14_990


@pytest.mark.usefixtures("small_blocks")
def test_a_piece_of_an_endless_record_begins_with_a_whole_line(tmp_path: Path) -> None:
    """Where a record is cut no line is: the rest of one would not tell that it is a secret."""
    line = "  password=" + "Aster9" * 10 + "\n"
    (tmp_path / "a.log").write_text("2025-05-06 07:00:00 ERROR a.b x\n" + line * 1_000)
    spent = budget()

    found = newest_records(find_logs(Workspace(folder=tmp_path)).logs, spent, NOW)

    assert not any("Aster9" in shown_text(record) for record in found)


def test_bytes_end_the_reading_aloud(tmp_path: Path) -> None:
    """The newest bytes are read, whole records of them given, and the end is named."""
    (tmp_path / "a.log").write_text(numbered(1, 59) * 100)
    spent = budget(1_000)

    found = texts(tmp_path, spent)

    assert found[0].endswith("line 59")
    assert 15 < len(found) < 25
    assert spent.stopped == "16,000,000 bytes"


def test_time_ends_the_reading_aloud(tmp_path: Path) -> None:
    """Past the moment nothing is opened any more."""
    (tmp_path / "a.log").write_text(numbered(1, 9))
    spent = budget(end=0)

    assert texts(tmp_path, spent) == []
    assert spent.stopped == "the time limit"


def test_a_packed_log_gets_half_of_what_is_left(tmp_path: Path) -> None:
    """A large packed log leaves bytes for others; what is cut of it ends with a whole record."""
    (tmp_path / "b.log.1.gz").write_bytes(gzip.compress((numbered(10, 59) * 100).encode()))
    (tmp_path / "c.log").write_text(numbered(1, 3))
    os.utime(tmp_path / "c.log", (1, 1))
    spent = budget(80_000)

    found = texts(tmp_path, spent)

    assert len(found) > 500
    assert all("line " in text for text in found)
    assert any(text.endswith("line 3") for text in found)
    assert "b.log.1.gz: only its oldest 40,000 bytes" in spent.warnings[0]


def test_files_older_than_wanted_are_not_opened(tmp_path: Path) -> None:
    """A rotated file that was last written to before the time asked for is left alone."""
    (tmp_path / "a.log").write_text(numbered(1, 3))
    (tmp_path / "a.log.1.gz").write_bytes(b"no gzip")
    os.utime(tmp_path / "a.log.1.gz", (1, 1))
    logs = find_logs(Workspace(folder=tmp_path)).logs
    spent = budget()

    found = list(newest_records(logs, spent, NOW, datetime(2025, 1, 1, tzinfo=UTC)))

    assert (len(found), spent.warnings) == (3, [])


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    """A file that is rotated away between looking and reading is a warning."""
    (tmp_path / "a.log").write_text("x\n")
    (tmp_path / "b.log").write_text("y\n")
    logs = find_logs(Workspace(folder=tmp_path)).logs
    (tmp_path / "a.log").unlink()
    spent = budget()

    assert [record.text for record in newest_records(logs, spent, NOW)] == ["y"]
    assert spent.warnings == ["a.log cannot be read."]


def test_colours_and_nul_bytes_are_dropped(tmp_path: Path) -> None:
    """What terminals are told, and holes that truncation leaves, do not hide a head."""
    line = b"\0" * 500 + b"\x1b[32m2025-05-06 07:00:00\x1b[0m \x1b[1;31mERROR\x1b[0m a.b no\n"
    (tmp_path / "a.log").write_bytes(line * 2)

    assert texts(tmp_path, budget()) == ["2025-05-06 07:00:00 ERROR a.b no"] * 2


def test_crashes_below_an_innocent_record_are_apart(tmp_path: Path) -> None:
    """Tracebacks that a program printed one after the other are records of their own."""
    crash = "Traceback (most recent call last):\n  File x\nKeyError: {}\n"
    (tmp_path / "a.log").write_text(
        "2025-05-06 07:00:00 INFO a: started\n" + crash.format(1) + crash.format(2)
    )
    (tmp_path / "b.log").write_text("2025-05-06 06:00:00 ERROR a: x\n" + crash * 2)

    found = texts(tmp_path, budget())

    assert [text.split("\n")[-1] for text in found] == [
        "KeyError: 2",
        "KeyError: 1",
        "KeyError: {}",
    ]


def test_years_that_no_clock_knows_are_read(tmp_path: Path) -> None:
    """A time at the edge of what can be told does not end the reading."""
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(
            "0001-01-01 00:00:00 INFO a: x\n9999-12-31 23:59:59 INFO a: y\n"
        )

    assert len(texts(tmp_path, budget())) == 4


KEY = "-----BEGIN PRIVATE KEY-----\n" + "QWJj0123456789ab\n" * 20 + "-----END PRIVATE KEY-----\n"


@pytest.mark.usefixtures("small_blocks")
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 600), st.booleans())
def test_a_private_key_is_masked_wherever_a_block_ends(
    tmp_path: Path, padding: int, dated: bool
) -> None:
    """A key in a log, with or without heads, is one record and masked, across blocks too."""
    head = "2025-05-06 07:00:00 INFO a: x\n" if dated else ""
    after = ("a long line " * 80 + "\n") * 11
    after = after[: 10_000 - padding]
    (tmp_path / "a.log").write_text("start\n" * 10 + head + KEY + after)
    logs = find_logs(Workspace(folder=tmp_path)).logs

    for record in newest_records(logs, budget(), NOW):
        if "QWJj" in record.text:
            assert "QWJj" not in shown_text(record)


def test_objects_nested_deep_are_withheld(tmp_path: Path) -> None:
    """An object that is nested too deep to be judged shows its time alone."""
    nested = '{"a":' * 80 + "1" + "}" * 80
    (tmp_path / "a.log").write_text(f'{{"time": "2025-05-06T07:00:00Z", "x": {nested}}}\n')
    (record,) = newest_records(find_logs(Workspace(folder=tmp_path)).logs, budget(), NOW)

    assert shown_text(record) == "2025-05-06T07:00:00Z [masked]"
