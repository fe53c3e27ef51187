import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ToolError
from toolseam_builtin._logs._heads import head_of, level_of
from toolseam_builtin._logs._json import from_json
from toolseam_builtin._logs._records import split_records, style_of
from toolseam_builtin._logs._times import moment_of, moment_of_number, since

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


def records(text: str) -> list[str]:
    """Cut a text as a file of it would be."""
    return split_records(text, style_of(text.encode()))


FORMS = [
    ("2025-05-06 07:00:01,004 ERROR depot.sync run failed", "error", "depot.sync"),
    ("2025-05-06 07:00:01,004 - depot - WARNING - run failed", "warning", "depot"),
    ("2025-05-06 07:00:01 INFO museum: started", "info", "museum"),
    ("2025-05-06T07:00:01.123Z INFO [museum.web] started", "info", "museum.web"),
    ("2025-05-06 07:00:01.004 | ERROR    | depot.sync:run:41 - run failed", "error", "depot.sync"),
    ("[2025-05-06 07:00:01 +0000] [123] [INFO] Booting worker", "info", None),
    ("[2025-05-06 07:00:01,004: WARNING/MainProcess] slow", "warning", None),
    ("2025/05/06 07:00:01 [error] 7#7: *1 open() failed", "error", None),
    ("May  6 07:00:01 host app[123]: ERROR no", "error", "app"),
    ("<34>May  6 07:00:01 host app: no", None, None),
    ("<165>1 2025-05-06T07:00:01.003Z host app 123 - - no", None, None),
    ("ERROR 2025-05-06 07:00:01,004 views 123 456 failed", "error", None),
    ("[INFO] 2025-05-06 07:00:01 depot.x: fine", "info", "depot.x"),
    ('10.0.0.1 - ada [06/May/2025:07:00:01 +0000] "GET / HTTP/1.1" 200 5', None, None),
    ('[06/May/2025 07:00:01] "GET / HTTP/1.1" 200 5', None, None),
    ("[Tue May 06 07:00:01.123456 2025] [core:error] [pid 1] AH0: no", "error", None),
    ("[E 250506 07:00:01 web:12] uncaught", "error", "web"),
    ('time=2025-05-06T07:00:01Z level=warn logger=a.b msg="x y"', "warning", "a.b"),
    ("2025-05-06 07:00:01 [warning  ] slow query [depot.db] n=3", "warning", None),
    ("2025-05-06T07:00:01+0200 WARN no logger here", "warning", None),
]


@pytest.mark.parametrize(("line", "level", "source"), FORMS)
def test_usual_forms_are_read(line: str, level: str | None, source: str | None) -> None:
    """Time, level and logger are found in the forms that frameworks and servers write."""
    head = head_of(line, NOW)

    assert head.time is not None
    assert head.time.strftime("%m-%d %M:%S") == "05-06 00:01"
    assert head.level == level
    if source is not None:
        assert head.source == source


@pytest.mark.parametrize(
    ("line", "level", "source"),
    [
        ("WARNING:root:message", "warning", "root"),
        ("INFO:     Application startup complete.", "info", None),
        ("ERROR:    Exception in ASGI application", "error", None),
        ("[CRITICAL] no", "critical", None),
        ("just a line", None, None),
    ],
)
def test_forms_without_a_time_are_read(line: str, level: str | None, source: str | None) -> None:
    """What logging and uvicorn write by default has a level, and perhaps a logger."""
    head = head_of(line, NOW)

    assert (head.time, head.level, head.source) == (None, level, source)


@pytest.mark.parametrize("line", [line for line, *_ in FORMS])
def test_each_form_begins_a_record(line: str) -> None:
    """Two records of one form are two, with what stands below them."""
    text = f"{line}\n  more\nError: x\n{line}\n"

    assert records(text) == [f"{line}\n  more\nError: x", line]


def test_lines_without_heads_are_records() -> None:
    """Printed lines are one each, with what is indented below; a traceback is one."""
    text = (
        "starting\nTraceback (most recent call last):\n  File x\nKeyError: 1\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n  File y\nValueError: 2\nstopped\n  at once\n"
    )

    found = records(text)

    assert [each.split("\n")[0] for each in found] == [
        *("starting", "Traceback (most recent call last):", "stopped")
    ]
    assert found[1].endswith("ValueError: 2")


def test_lines_between_objects_are_kept() -> None:
    """Among JSON lines, other lines are records of their own."""
    text = '{"msg": "a"}\nTraceback (most recent call last):\n  File x\nKeyError: 1\n{"msg": "b"}\n'

    assert [each.split("\n")[-1] for each in records(text)] == [
        *('{"msg": "a"}', "KeyError: 1", '{"msg": "b"}')
    ]


LINE = st.one_of(
    st.sampled_from([line for line, *_ in FORMS]),
    st.sampled_from(
        ["", "  x", "Traceback (most recent call last):", "E: x", '{"a": 1}', "INFO: x"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=30),
)


@given(st.lists(LINE, max_size=20).map("\n".join))
def test_no_line_is_lost(text: str) -> None:
    """Whatever the lines, the records together hold each of them once and in order."""
    kept = [line for record in records(text) for line in record.split("\n") if line.strip()]

    assert [line.rstrip() for line in kept] == [
        line.rstrip() for line in text.split("\n") if line.strip()
    ]


@given(st.text(max_size=200))
def test_any_line_has_a_head(line: str) -> None:
    """No line makes the reading of its head or of its object fail."""
    head_of(line, NOW)
    from_json(line, NOW)
    moment_of(line, NOW)


@given(st.datetimes(NOW.replace(year=1990, tzinfo=None), NOW.replace(year=2099, tzinfo=None)))
def test_times_come_back_as_they_were_written(moment: datetime) -> None:
    """ISO 8601, its variants and milliseconds behind a comma give the moment itself."""
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    comma = f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03}"

    assert moment_of(comma, NOW) == moment
    assert moment_of(comma.replace("-", "/"), NOW) == moment
    assert moment_of(f"{moment:%d/%b/%Y:%H:%M:%S} +0000", NOW) == moment.replace(
        microsecond=0, tzinfo=UTC
    )


def test_times_without_a_year_are_never_ahead() -> None:
    """A syslog line of December, read in June, is of last year."""
    december, may = moment_of("Dec 31 23:00:00", NOW), moment_of("May  6 07:00:00", NOW)

    assert december is not None
    assert may is not None
    assert (december.year, may.year) == (2024, 2025)


@pytest.mark.parametrize("text", ["31/Feb/2025:07:00:00", "2025/13/01 07:00:00", "yesterday"])
def test_impossible_times_are_none(text: str) -> None:
    """A day that no calendar has is no time, and no failure."""
    assert moment_of(text, NOW) is None


@pytest.mark.parametrize(
    ("number", "year"),
    [(1746514801, 2025), (1746514801.5, 2025), (1746514801500, 2025), (-1, None), (1e300, None)],
)
def test_numbers_are_seconds_or_milliseconds(number: float, year: int | None) -> None:
    """Seconds and milliseconds since 1970 are told apart; others are no time."""
    moment = moment_of_number(number)

    assert (moment and moment.year) == year


@pytest.mark.parametrize(
    ("line", "level", "time"),
    [
        ('{"level": 30, "time": 1746514801000, "msg": "x"}', "warning", True),
        ('{"severity": "ERROR", "timestamp": "2025-05-06T07:00:01Z"}', "error", True),
        ('{"level": true, "time": {}, "name": 3}', None, False),
        ('{"time": 123456789012345678901234567890, "level": null}', None, False),
    ],
)
def test_objects_of_any_values_are_read(line: str, level: str | None, time: bool) -> None:
    """Numbers, names and what is neither are taken for what they are."""
    made = from_json(line, NOW)

    assert made is not None
    assert made[0].level == level
    assert (made[0].time is not None) is time


@pytest.mark.parametrize("line", ["[1]", "{", '"x"', "{" * 100_000, '{"a": 1' + "0" * 5_000 + "}"])
def test_other_json_is_text(line: str) -> None:
    """What is no object, or cannot be decoded, is a line like any other."""
    assert from_json(line, NOW) is None


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("WARN", "warning"),
        ("err", "error"),
        ("Fatal", "critical"),
        ("E", "error"),
        (50, "critical"),
    ],
)
def test_names_of_levels(name: object, level: str) -> None:
    """Levels go by many names and by number."""
    assert level_of(name) == level


@pytest.mark.parametrize("text", ["", "x", "1", "1y", "h", "2025", "2025-02-30", "99999999w"])
def test_since_refuses_what_it_cannot_read(text: str) -> None:
    """Neither a time nor a span is refused."""
    with pytest.raises(ToolError):
        since(text, NOW)


def test_hostile_lines_are_read_in_linear_time() -> None:
    """Long lines of what heads are made of do not multiply the time that they take."""
    for part in ("[", "a.", "2025-05-06 ", "INFO ", "\\", 'a="', "- ", "x "):
        text = f"{part * 100_000}\n"
        started = time.process_time()
        for record in records(text):
            head_of(record, NOW)
        assert time.process_time() - started < 2, part
