import gzip
import os
import time
from pathlib import Path

import pytest

from support.databases import ask, everything
from support.logbooks import numbered, one_log, rotated, rows
from toolseam import ErrorCode, ToolResult
from toolseam_builtin.system import fetch_logs
from toolseam_builtin.workspace import Workspace


def fetch(workspace: Workspace, **arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return ask(fetch_logs, workspace, **arguments)


def texts(result: ToolResult) -> list[str]:
    """Give the text of each record."""
    return [str(row[-1]) for row in rows(result)]


MIXED = """\
2025-05-06 07:00:00,000 INFO depot: started
2025-05-06 07:00:01,000 WARNING depot.stock: row 3 is empty
2025-05-06 07:00:02,000 ERROR depot.stock run failed
Traceback (most recent call last):
  File "/srv/depot/stock.py", line 3, in run
    return int(raw)
ValueError: invalid literal for int() with base 10: 'x9'
2025-05-06 07:00:03,000 INFO depot: stopped
"""


def test_newest_records_come_first_and_whole(tmp_path: Path) -> None:
    """Records are listed with their file, the newest first, a traceback with its record."""
    result = fetch(one_log(tmp_path, MIXED))

    assert result.content.split("\n") == [
        "4 records in 1 log file; 4 shown, the newest first.",
        "app.log: 2025-05-06 07:00:03,000 INFO depot: stopped",
        "app.log: 2025-05-06 07:00:02,000 ERROR depot.stock run failed",
        "    Traceback (most recent call last):",
        '      File "/srv/depot/stock.py", line 3, in run',
        "        return int(raw)",
        "    ValueError: invalid literal for int() with base 10: 'x9'",
        "app.log: 2025-05-06 07:00:01,000 WARNING depot.stock: row 3 is empty",
        "app.log: 2025-05-06 07:00:00,000 INFO depot: started",
    ]


def test_table_and_data_say_the_same(tmp_path: Path) -> None:
    """The table has time and level as written, the data has them typed."""
    result = fetch(one_log(tmp_path, MIXED), level="warning", limit=2)

    table = result.artifacts[0]
    assert table.columns == ["time", "level", "source", "file", "text"]
    assert table.rows[1] == [
        "2025-05-06 07:00:01,000",
        "WARNING",
        "depot.stock",
        "app.log",
        "2025-05-06 07:00:01,000 WARNING depot.stock: row 3 is empty",
    ]
    moment, level, source, *_ = rows(result)[1]
    assert moment == "2025-05-06T07:00:01"
    assert (level, source) == ("warning", "depot.stock")


def test_rotated_logs_are_read_in_order(tmp_path: Path) -> None:
    """The current file is the newest, then 1, 2 and 10; what decodes of the cut one is there."""
    result = fetch(rotated(tmp_path), limit=50)

    numbers = [int(text[17:19]) for text in texts(result)]
    assert numbers[:30] == list(range(40, 10, -1))
    assert numbers == list(range(40, 40 - len(numbers), -1))
    assert len(numbers) > 35
    assert "logs/app.log.10.gz is cut off" in result.content
    assert "logs/zeros.log.3.gz holds no text" in result.content


def test_the_newest_lines_are_of_the_current_file(tmp_path: Path) -> None:
    """A few newest records come from the file that is written to, whatever else lies there."""
    result = fetch(rotated(tmp_path), limit=3)

    assert [row[3] for row in rows(result)] == ["logs/app.log"] * 3
    assert texts(result)[0].endswith("line 40")


def test_crlf_reads_alike(tmp_path: Path) -> None:
    """A log with CRLF line ends gives the same records."""
    assert texts(fetch(one_log(tmp_path, MIXED.replace("\n", "\r\n")))) == texts(
        fetch(one_log(tmp_path, MIXED))
    )


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"level": "warning"}, 2),
        ({"level": "critical"}, 0),
        ({"source": "depot"}, 4),
        ({"source": "depot.stock"}, 2),
        ({"source": "stock"}, 0),
        ({"source": "app.log"}, 4),
        ({"search": "INVALID LITERAL"}, 1),
        ({"search": "nowhere"}, 0),
        ({"level": "info", "source": "depot.stock", "search": "row"}, 1),
    ],
)
def test_filters_narrow(tmp_path: Path, arguments: dict[str, object], found: int) -> None:
    """Level is a lower bound, a logger includes those below it, text is found in any case."""
    result = fetch(one_log(tmp_path, MIXED), **arguments)

    assert result.content.startswith(f"{found} record")
    assert len(rows(result)) == found


def test_since_takes_moments_and_spans(tmp_path: Path) -> None:
    """`since` is a date, a time with or without a zone, or a span back from now."""
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - 600))
    workspace = one_log(tmp_path, f"2025-05-06 07:00:00 INFO old\n{now} INFO new\n")

    for since in ("1h", "15m", "1d12h", "2025-06-01", "2025-05-06T23:59:59Z", "2025-05-07 00:00"):
        assert [text[20:] for text in texts(fetch(workspace, since=since))] == ["INFO new"], since
    assert len(rows(fetch(workspace, since="5m"))) == 0
    assert len(rows(fetch(workspace, since="2025-01-01"))) == 2
    assert "this host's local time, UTC" in fetch(workspace, since="5m").content


@pytest.mark.parametrize(
    "arguments",
    [
        *({"since": text} for text in ("soon", "2h ago", "-2h", "2025-13-01", "999999w", " ")),
        *({"search": text} for text in ("", " ", "x" * 201)),
        *({"source": text} for text in ("", "\t")),
        *({"limit": limit} for limit in (0, 51)),
        {"level": "loud"},
    ],
)
def test_bad_arguments_are_refused(tmp_path: Path, arguments: dict[str, object]) -> None:
    """What is blank, out of range or no time is `invalid_arguments`."""
    result = fetch(one_log(tmp_path, MIXED), **arguments)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.INVALID_ARGUMENTS


def test_a_cut_answer_counts_the_rest(tmp_path: Path) -> None:
    """The answer says how many records match, how many are shown, and how to see others."""
    result = fetch(one_log(tmp_path, numbered(1, 59)), limit=5)

    assert result.content.startswith("59 records in 1 log file; 5 shown")
    assert "More with a larger limit (at most 50) or a narrower" in result.content
    assert result.data is not None
    assert result.data["total"] == 59


def test_without_logs_it_is_unavailable(tmp_path: Path) -> None:
    """Neither configured nor found is `unavailable` and names the setting."""
    for workspace in (Workspace(folder=tmp_path), Workspace(folder=tmp_path, logs=("x/*.log",))):
        failure = fetch(workspace).failure

        assert failure is not None
        assert failure.code == ErrorCode.UNAVAILABLE
        assert "workspace.logs" in failure.message
        assert failure.metadata["reason"] == "not_configured"


def test_an_empty_log_is_a_success(tmp_path: Path) -> None:
    """An empty log is an answer that says what was looked at."""
    assert fetch(one_log(tmp_path, "")).content == (
        "0 records in 1 log file; 0 shown, the newest first."
    )


SECRETS = """\
2025-05-06 07:00:00 INFO depot.db connecting to postgresql://app:Tulip-77@db/shop
2025-05-06 07:00:01 INFO depot.mail login password=Aster-9 ok
2025-05-06 07:00:02 ERROR depot.mail failed
Traceback (most recent call last):
  File "mail.py", line 3, in login
    SECRET_KEY = "Aster-9"
jwt.InvalidTokenError: Signature has expired
"""


def test_secrets_are_masked_in_every_channel(tmp_path: Path) -> None:
    """URLs and assignments are masked; the message of an exception about tokens is not (H46)."""
    result = fetch(one_log(tmp_path, SECRETS))

    assert "Tulip-77" not in everything(result)
    assert "Aster-9" not in everything(result)
    assert "postgresql://[masked]@db/shop" in result.content
    assert "jwt.InvalidTokenError: Signature has expired" in result.content


def test_every_field_of_an_object_is_masked(tmp_path: Path) -> None:
    """Time, level and logger of a JSON line may be anything, and are masked like its message."""
    url = "postgresql://app:Tulip-77@db/shop"
    keys = ("time", "level", "logger", "message", "other", "exc_info")

    result = fetch(one_log(tmp_path, "".join(f'{{"a": 1, "{key}": "{url}"}}\n' for key in keys)))

    assert len(rows(result)) == 6
    assert "Tulip-77" not in everything(result)


@pytest.mark.parametrize("known", ["Aster", "password=A", "tulip-7", "app:T"])
def test_search_tells_no_secret(tmp_path: Path, known: str) -> None:
    """A true beginning of a secret is answered like a false one (H46)."""
    workspace = one_log(tmp_path, SECRETS)
    false = known.replace("A", "B").replace("tulip", "dahlia").replace("T", "D")

    right, wrong = (fetch(workspace, search=guess) for guess in (known, false))

    assert right.content.replace(repr(known), "") == wrong.content.replace(repr(false), "")
    assert len(rows(fetch(workspace, search="password=[mask"))) == 1
    assert len(rows(fetch(workspace, search="MASKED"))) == 3


def test_the_hosts_own_log_is_left_out(tmp_path: Path) -> None:
    """Records of toolseam itself are never shown, searched or counted (H45)."""
    text = "".join(
        f"2025-05-06 07:00:0{n} ERROR {name} Aster-9\n"
        for n, name in enumerate(("toolseam.tools.x", "toolseam:", "toolseams.x"))
    )

    result = fetch(one_log(tmp_path, text))

    assert [row[2] for row in rows(result)] == ["toolseams.x"]
    assert result.content.startswith("1 record ")


def test_json_lines_read_like_other_logs(tmp_path: Path) -> None:
    """A line of JSON gives time, level, logger and message; fields and traceback follow."""
    text = (
        '{"timestamp": "2025-05-06T07:00:00Z", "level": "info", "logger": "a", "event": "hi"}\n'
        '{"ts": 1746514801.5, "level": 40, "name": "b", "msg": "no", "password": "Aster-9",'
        ' "n": 3, "exc_info": "Traceback (most recent call last):\\n  File \\"x\\", line 1, in f'
        '\\nKeyError: 1"}\n'
        "plain line\n"
    )

    result = fetch(one_log(tmp_path, text))

    assert texts(result) == [
        "plain line",
        (
            "1746514801.5 ERROR b: no password=[masked] n=3\nTraceback (most recent call last):\n"
            '  File "x", line 1, in f\nKeyError: 1'
        ),
        "2025-05-06T07:00:00Z info a: hi",
    ]
    assert [row[1] for row in rows(result)] == [None, "error", "info"]
    assert len(rows(fetch(Workspace(folder=tmp_path), search="aster"))) == 0


def test_records_without_a_level_are_counted(tmp_path: Path) -> None:
    """Where a level is asked for, records that have none are left out, and that is said."""
    result = fetch(one_log(tmp_path, MIXED + "2025-05-06 07:00:09,000 - - -\n"), level="debug")

    assert "1 records have no level and are left out." in result.content


def test_long_records_keep_head_and_tail(tmp_path: Path) -> None:
    """Of a record with thousands of lines both ends are shown, and how much is left out."""
    frames = "".join(f"  line {number}\n" for number in range(3000))

    result = fetch(one_log(tmp_path, f"2025-05-06 07:00:00 ERROR a.b x\n{frames}  the end\n"))

    assert "    … [" in result.content
    assert "the end" in result.content
    assert "lines of long records are left out" in result.content
    assert len(result.content.encode()) < 20_000


def test_long_lines_are_cut_at_a_megabyte(tmp_path: Path) -> None:
    """Of one endless line a part is shown, with its length, and the limit is named (H30)."""
    result = fetch(one_log(tmp_path, f"2025-05-06 07:00:00 ERROR a.b {'x' * 1_500_000}\n"))

    assert "1 longer than 1,000,000 bytes, cut there" in result.content
    assert len(result.content) < 10_000


def test_a_page_that_is_full_shows_fewer(tmp_path: Path) -> None:
    """Records that do not fit are counted, not cut."""
    line = f"2025-05-06 07:00:00 INFO a.b {'é' * 1_500}\n"

    result = fetch(one_log(tmp_path, line * 40), limit=40)

    assert 5 < len(rows(result)) < 40
    assert result.content.startswith("40 records")
    assert len(result.artifacts[0].rows) == len(rows(result))


def test_a_large_log_is_read_from_its_end(tmp_path: Path) -> None:
    """Of a large log the newest 16 MB are read within the time, and that is said."""
    line = "2025-05-06 07:00:00,000 INFO depot.count a line of an ordinary length, {}\n"
    with (tmp_path / "big.log").open("w") as file:
        for _ in range(40):
            file.write("".join(line.format(number) for number in range(10_000)))
        file.write(line.format("last"))
    started = time.process_time()

    result = fetch(Workspace(folder=tmp_path))

    assert time.process_time() - started < 2.5
    assert texts(result)[0].endswith("last")
    assert "Stopped at " in result.content


def test_several_logs_are_merged_by_time(tmp_path: Path) -> None:
    """Records of two logs come in one order of time."""
    for name, seconds in (("a.log", (1, 3, 5)), ("b.log", (2, 4))):
        (tmp_path / name).write_text(
            "".join(f"2025-05-06 07:00:0{second} INFO {name} {second}\n" for second in seconds)
        )

    result = fetch(Workspace(folder=tmp_path))

    assert [text[-1] for text in texts(result)] == ["5", "4", "3", "2", "1"]


def test_damaged_and_foreign_files_are_named(tmp_path: Path) -> None:
    """A damaged gzip file gives what could be unpacked; others that cannot be read are named."""
    packed = bytearray(gzip.compress(os.urandom(60_000) + numbered(1, 9).encode()))
    packed[50_000] ^= 255
    (tmp_path / "a.log.1.gz").write_bytes(bytes(packed))
    (tmp_path / "b.log.2.bz2").write_bytes(b"BZh")
    (tmp_path / "c.log.3.gz").write_bytes(b"no gzip")
    (tmp_path / "d.log").write_bytes("\ufeffx".encode("utf-16-le"))

    result = fetch(Workspace(folder=tmp_path))

    assert "a.log.1.gz is damaged" in result.content
    assert "c.log.3.gz is damaged" in result.content
    assert "not read (1): b.log.2.bz2" in result.content
    assert "d.log is UTF-16" in result.content
    assert result.metadata["warnings"]


def test_two_members_are_one_log(tmp_path: Path) -> None:
    """A gzip file of several members is read to its end."""
    members = gzip.compress(numbered(1, 2).encode()) + gzip.compress(numbered(3, 4).encode())
    (tmp_path / "a.log.1.gz").write_bytes(members)

    assert [text[-1] for text in texts(fetch(Workspace(folder=tmp_path)))] == ["4", "3", "2", "1"]


def test_no_line_is_forged(tmp_path: Path) -> None:
    """A record's further lines are indented, and no sign in one begins a new line."""
    text = "2025-05-06 07:00:00 INFO a.b one\napp.log: 2025 ERROR forged\u2028app.log: x\n"

    lines = fetch(one_log(tmp_path, text)).content.split("\n")

    assert lines[2] == "    app.log: 2025 ERROR forged↵app.log: x"
