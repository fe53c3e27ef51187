import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import ask, everything
from toolseam import Actor, ErrorCode, ToolError, ToolResult
from toolseam.testing import harness
from toolseam_builtin.system import list_scheduled_tasks
from toolseam_builtin.system._crontab import Crontab, Task, form_of
from toolseam_builtin.system._plan import Dated, Plan, make_plan
from toolseam_builtin.system._schedule import Schedule, read_schedule
from toolseam_builtin.system.list_scheduled_tasks import compose
from toolseam_builtin.workspace import Workspace

LISBON = ZoneInfo("Europe/Lisbon")
P30 = """\
# depot jobs
SHELL=/bin/sh
PATH="/usr/bin:/bin"
CRON_TZ=Europe/Lisbon
MAILTO=ops@example.test

	15 6	* * *	depot	/opt/depot/sync --all
00 */4 10-20/2 May mon-tue	depot	tidy
@reboot	depot	/opt/depot/warm
@daily depot  report # weekly too
5 4 * * sun depot weekly
bad line here
*/5 * * * *	depot
"""


def write(folder: Path, name: str, text: str = P30) -> None:
    """Write a crontab into the workspace."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def call(folder: Path, **arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return ask(list_scheduled_tasks, Workspace(folder=folder), **arguments)


def plan_of(folder: Path, now: datetime, **settings: object) -> Plan:
    """Plan what a workspace has, as of a moment."""
    workspace = Workspace(folder=folder, **settings)
    return make_plan(workspace, None, None, time.monotonic() + 60, now)


def test_a_system_crontab_is_read_to_its_end(tmp_path: Path) -> None:
    """Five tasks of one user in one zone, and the two bad lines with their numbers (P30)."""
    write(tmp_path, "cron.d/depot")

    plan = plan_of(tmp_path, datetime(2026, 3, 1, tzinfo=UTC))

    assert [dated.task.line for dated in plan.tasks] == [7, 8, 9, 10, 11]
    assert {(dated.task.user, dated.zone) for dated in plan.tasks} == {("depot", "Europe/Lisbon")}
    assert plan.tasks[0].task.command == "/opt/depot/sync --all"
    assert plan.tasks[2].schedule == Schedule("When cron starts", None)
    assert plan.tasks[3].task.command == "report # weekly too"
    assert [fault.line for fault in plan.faults] == [12, 13]


def test_a_users_own_crontab_has_no_user_column(tmp_path: Path) -> None:
    """Read as a user's crontab the first command begins with the word `depot` (P30)."""
    write(tmp_path, "crontab")

    plan = plan_of(tmp_path, datetime(2026, 3, 1, tzinfo=UTC))

    assert plan.tasks[0].task.command == "depot\t/opt/depot/sync --all"
    assert {dated.task.user for dated in plan.tasks} == {None}
    assert [fault.line for fault in plan.faults] == [12]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("crontab", "user"),
        ("etc/crontab", "system"),
        ("deploy/crontab", "user"),
        ("cron.d/site", "system"),
        ("etc/cron.d/site", "system"),
        ("jobs.cron", "user"),
    ],
)
def test_the_path_decides_how_a_crontab_is_read(name: str, form: str) -> None:
    """`cron.d` and `etc/crontab` are the system's, all else a user's own."""
    assert form_of(name) == form


def test_an_argument_decides_before_the_path(tmp_path: Path) -> None:
    """`form` reads a crontab the other way, for all of them or for the one that is named."""
    write(tmp_path, "crontab")
    write(tmp_path, "cron.d/depot")

    assert {row[5] for row in call(tmp_path, form="system").artifacts[0].rows} == {"depot"}
    assert {row[5] for row in call(tmp_path, form="user").artifacts[0].rows} == {""}
    one = call(tmp_path, file="crontab", form="system")
    assert one.artifacts[0].rows[0][0] == "crontab:7"
    assert one.data is not None
    assert one.data["files"] == ["crontab"]


def test_the_next_run_is_in_the_crontabs_zone(tmp_path: Path) -> None:
    """A schedule holds in the zone that `CRON_TZ` names, over a change of its clocks too."""
    write(tmp_path, "crontab", "CRON_TZ=Europe/Lisbon\n30 1 * * * one\n0 6 * * * two\n")

    plan = plan_of(tmp_path, datetime(2026, 3, 29, 0, 0, tzinfo=UTC))

    first, second = (dated.schedule.next for dated in plan.tasks)
    assert first == datetime(2026, 3, 29, 2, 0, tzinfo=LISBON)  # 01:30 is not on that day
    assert second is not None
    assert second.utcoffset() == timedelta(hours=1)


def test_a_zone_holds_for_the_lines_below_it(tmp_path: Path) -> None:
    """Without `CRON_TZ` the machine's zone counts; an unknown one leaves the next run open."""
    write(
        tmp_path,
        "crontab",
        "0 0 * * * a\nCRON_TZ=Asia/Tokyo\n0 0 * * * b\nCRON_TZ=Moon/Base\n0 0 * * * c\n",
    )

    plan = plan_of(tmp_path, datetime(2026, 3, 1, tzinfo=UTC))

    local, tokyo, unknown = plan.tasks
    assert local.schedule.next is not None
    assert tokyo.schedule.next is not None
    assert tokyo.schedule.next.isoformat() == "2026-03-02T00:00:00+09:00"
    assert unknown.schedule.next is None
    assert "Moon/Base" in plan.warnings[0]


@pytest.mark.parametrize(
    ("schedule", "words", "following"),
    [
        ("15 6 * * *", "At 06:15 every day", "2026-03-20T06:15"),
        ("00 */4 10-20/2 May mon-tue", None, "2026-05-04T00:00"),
        ("5 4 * * sun", "At 04:05 on Sunday", "2026-03-22T04:05"),
        ("5 4 * * 7", "At 04:05 on Sunday", "2026-03-22T04:05"),
        ("0 0 13 * 5", None, "2026-03-20T00:00"),
        ("0 0 29 feb *", None, "2028-02-29T00:00"),
        ("@hourly", None, "2026-03-19T13:00"),
        ("@annually", None, "2027-01-01T00:00"),
    ],
)
def test_a_schedule_has_words_and_a_next_time(
    schedule: str, words: str | None, following: str
) -> None:
    """Names, steps, macros, leap days and either of two kinds of days are as cron has them."""
    found = read_schedule(schedule, datetime(2026, 3, 19, 12, 30, tzinfo=UTC))

    assert isinstance(found, Schedule)
    assert words is None or found.words == words
    assert found.next is not None
    assert found.next.isoformat()[:16] == following


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        ("60 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * L * *", "day of month"),
        ("0 0 30 2 *", "day of month"),
        ("* * * mayo *", "month"),
        ("* * * * 5#2", "day of week"),
        ("* * * * mon-", "day of week"),
        ("a b c d e", "minute"),
        ("@fortnightly", "no such word"),
        ("@Daily", "no such word"),
    ],
)
def test_a_schedule_that_cron_would_refuse_is_said(schedule: str, why: str) -> None:
    """What is wrong is named by its field; other schedulers' forms are not cron's."""
    found = read_schedule(schedule, datetime(2026, 3, 19, tzinfo=UTC))

    assert isinstance(found, str)
    assert why in found


def test_a_random_time_has_no_next_run() -> None:
    """`0~30` is for cron alone to draw."""
    assert read_schedule("0~30 5 * * *", datetime(2026, 3, 19, tzinfo=UTC)) == Schedule(
        "At a time that cron picks at random within what is given"
    )


def test_secrets_are_masked(tmp_path: Path) -> None:
    """Values behind flags, in assignments, URLs and variables are masked (H53, S8)."""
    write(
        tmp_path,
        "crontab",
        "API_TOKEN=Aster9\nDB='postgres://a:Aster9@h/x'\n"
        "0 0 * * * /opt/sync --password Aster9 --all\n"
        "0 0 * * * /opt/sync --api-key=Aster9\n"
        "0 0 * * * PGPASSWORD=Aster9 pg_dump site\n"
        "0 0 * * * curl https://u:Aster9@h/hook?token=Aster9\n"
        '0 0 * * * curl -H "Authorization: Bearer Aster9Aster9Aster9" https://h\n'
        "password Aster9\n",
    )

    result = call(tmp_path)

    assert len(result.artifacts[0].rows) == 5
    assert "Aster9" not in everything(result)
    assert "API_TOKEN=[masked]" in result.content


def test_text_table_and_data_say_the_same(tmp_path: Path) -> None:
    """Each cell of a task stands in the text, and the data has the same tasks typed."""
    write(tmp_path, "cron.d/depot")

    result = call(tmp_path)

    assert result.content.startswith("5 scheduled tasks in 1 crontab.\nLooked at: cron.d/depot.\n")
    rows = result.artifacts[0].rows
    assert all(cell in result.content for row in rows for cell in row)
    assert result.data is not None
    assert [f"{file}:{line}" for file, line, *_ in result.data["rows"]] == [row[0] for row in rows]
    assert result.data["rows"][2][5] is None
    assert [fault[1] for fault in result.data["not_understood"]] == [12, 13]
    assert [row[1] for row in result.artifacts[1].rows] == ["SHELL", "PATH", "CRON_TZ", "MAILTO"]
    assert result.artifacts[1].rows[1][2] == "/usr/bin:/bin"
    assert "cron.d/depot:12: " in result.metadata["warnings"][0]


def test_crontabs_are_found_by_their_usual_names(tmp_path: Path) -> None:
    """In the folder and the folders in it; hidden files, links and deeper ones are left."""
    for name in ("crontab", "a.cron", "deploy/b.crontab", "etc/cron.d/c", "cron.d/d"):
        write(tmp_path, name, "0 0 * * * root x\n")
    for name in (".e.cron", "a/b/crontab", "f.txt", ".g/crontab"):
        write(tmp_path, name, "0 0 * * * root x\n")
    (tmp_path / "link.cron").symlink_to(tmp_path / "a.cron")

    files = plan_of(tmp_path, datetime.now(UTC)).files

    assert list(files) == ["a.cron", "cron.d/d", "crontab", "deploy/b.crontab", "etc/cron.d/c"]


def test_nothing_found_is_a_success(tmp_path: Path) -> None:
    """A workspace without a crontab has no tasks, and the answer says so."""
    result = call(tmp_path)

    assert result.success
    assert "0 scheduled tasks in 0 crontabs." in result.content
    assert "no crontab was found" in result.content


def test_the_setting_names_a_file_or_a_folder(tmp_path: Path) -> None:
    """`scheduler` names a crontab at any place in the workspace."""
    write(tmp_path, "ops/live/jobs", "0 0 * * * x\n")

    now = datetime.now(UTC)
    assert list(plan_of(tmp_path, now, scheduler="ops/live/jobs").files) == ["ops/live/jobs"]
    assert list(plan_of(tmp_path, now, scheduler="ops/live").files) == ["ops/live/jobs"]


def test_a_setting_that_leads_out_needs_trust(tmp_path: Path) -> None:
    """Outside the folder only a trusted workspace's word counts."""
    write(tmp_path, "outside/crontab", "0 0 * * * x\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    now = datetime.now(UTC)

    with pytest.raises(ToolError) as caught:
        plan_of(inside, now, scheduler="../outside/crontab")
    trusted = plan_of(inside, now, scheduler="../outside/crontab", trusted=True)
    folder = plan_of(inside, now, scheduler=str(tmp_path / "outside"), trusted=True)

    assert caught.value.metadata["reason"] == "untrusted_workspace"
    assert (list(trusted.files), list(folder.files)) == (["crontab"], ["crontab"])


def test_a_setting_that_names_nothing_is_unavailable(tmp_path: Path) -> None:
    """A missing file is `unavailable`, naming the setting."""
    failure = ask(list_scheduled_tasks, Workspace(folder=tmp_path, scheduler="gone")).failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert "scheduler" in failure.message


@pytest.mark.parametrize("file", ["gone", "../etc/crontab", ".env", "notes.txt", "/etc/passwd"])
def test_only_crontabs_can_be_asked_for(tmp_path: Path, file: str) -> None:
    """Any other name, whether or not it exists, is `not_found` with one text."""
    write(tmp_path, "crontab")
    write(tmp_path, ".env", "A=1\n")
    write(tmp_path, "notes.txt", "A=1\n")

    failure = call(tmp_path, file=file).failure

    assert failure is not None
    assert failure.code == ErrorCode.NOT_FOUND
    assert failure.message == "No crontab has this name; those found: crontab."


def test_without_the_library_it_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schedules need an extra, which the refusal names."""
    write(tmp_path, "crontab", "0 0 * * * x\n")
    monkeypatch.setitem(sys.modules, "cronsim", None)

    failure = call(tmp_path).failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert failure.metadata["reason"] == "missing_extra"
    assert "toolseam[system]" in failure.message


def test_a_page_says_how_to_get_the_rest(tmp_path: Path) -> None:
    """More tasks than fit are counted, and `offset` gives the others."""
    write(tmp_path, "crontab", "".join(f"0 0 * * * task {n} {'x' * 90}\n" for n in range(400)))

    first = call(tmp_path)
    shown = len(first.artifacts[0].rows)
    second = call(tmp_path, offset=shown)

    assert 20 < shown < 400
    assert f"400 scheduled tasks in 1 crontab, shown 1 to {shown}." in first.content
    assert f"More with offset={shown}." in first.content
    assert second.artifacts[0].rows[0][0] == f"crontab:{shown + 1}"


def test_time_that_runs_out_is_said(tmp_path: Path) -> None:
    """Crontabs that are not read, and tasks that are not judged, are counted."""
    write(tmp_path, "crontab", "0 0 * * * x\n")

    plan = make_plan(
        Workspace(folder=tmp_path, scheduler="crontab"), None, None, time.monotonic() - 1
    )

    assert plan.warnings == ["1 crontabs were not read in time."]


def test_a_large_crontab_keeps_to_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two megabytes of lines are answered within the time that a tool has."""
    write(tmp_path, "crontab", "*/7 3-9 * * mon-fri /opt/x --password Aster9\n" * 50_000)
    monkeypatch.setattr(list_scheduled_tasks, "_SECONDS", 0.3)
    start = time.process_time()

    result = call(tmp_path)

    assert time.process_time() - start < 2
    assert result.success
    assert "bytes only" in result.content
    assert "Aster9" not in everything(result)


def test_what_cron_passes_over_is_warned_of(tmp_path: Path) -> None:
    """A name with a point in `cron.d`, and a last line without an end, are not run by cron."""
    write(tmp_path, "cron.d/site.old", "0 0 * * * root x")

    result = call(tmp_path)

    assert "Debian's cron passes over" in result.content
    assert "no line end" in result.content


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("* * * * *", "no user and no command"),
        ("* * * * * root", "no command behind"),
        ("* * * * * /usr/bin/x y", "own crontab?"),
        ("* * *", "has 3"),
        ("1" * 101 + " * * * * root x", "characters"),
        ("@daily", "no user"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line: str, why: str) -> None:
    """A line without schedule, user or command is reported, and its text is not repeated."""
    crontab = Crontab()

    crontab.read("cron.d/x", f"{line}\n", "system")

    assert crontab.tasks == []
    assert why in crontab.faults[0].why
    assert "/usr/bin" not in crontab.faults[0].why


def test_line_ends_of_other_systems_are_taken(tmp_path: Path) -> None:
    """CRLF and a byte order mark are no part of a command."""
    (tmp_path / "crontab").write_bytes(b"\xef\xbb\xbf0 0 * * * one\r\n@daily two\r\n")

    plan = plan_of(tmp_path, datetime.now(UTC))

    assert [dated.task.command for dated in plan.tasks] == ["one", "two"]


def test_what_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    """A second name of a file may not be read; pipes are no crontabs; the others are told."""
    write(tmp_path, "a.cron", "0 0 * * * x\n61 0 * * * x\n")
    write(tmp_path, "notes.txt", "0 0 * * * y\n")
    os.link(tmp_path / "notes.txt", tmp_path / "b.cron")
    os.mkfifo(tmp_path / "c.cron")

    result = call(tmp_path)

    assert [row[0] for row in result.artifacts[0].rows] == ["a.cron:1"]
    assert "Warning: b.cron may not be read here." in result.content
    assert "a.cron:2: minute: out of range" in result.content


def test_a_folder_that_is_gone_has_no_crontabs(tmp_path: Path) -> None:
    """A workspace that cannot be listed has nothing to show."""
    assert call(tmp_path / "gone").success


def test_more_than_are_read_or_listed_are_counted(tmp_path: Path) -> None:
    """Crontabs, faults and variables beyond the most are counted, and the way to them is said."""
    for number in range(203):
        write(tmp_path, f"{number:03}.cron", "0 0 * * * x\n")
    write(tmp_path, "000.cron", "bad line\n" * 60 + "A=0123456789012345678901234567890\n" * 400)

    content = call(tmp_path).content

    assert "Only the first 200 crontabs are read; 3 are left." in content
    assert "… and 10 more; ask for one file." in content
    assert "variables are not shown; ask for one file." in content


@given(st.text(alphabet="*/,-0123456789 \t@=#%monjaluserd\"'\n", max_size=200))
def test_any_text_is_read_as_a_crontab(text: str) -> None:
    """Every line that is neither blank nor a remark is a task, a variable or a fault."""
    for form in ("user", "system"):
        crontab = Crontab()

        crontab.read("crontab", text, form)

        lines = [line for line in text.split("\n") if line.strip(" \t")]
        wanted = [line for line in lines if not line.strip(" \t").startswith("#")]
        extra = 1 if text and not text.endswith("\n") else 0
        counted = len(crontab.tasks) + len(crontab.variables) + len(crontab.faults)
        assert counted == len(wanted) + extra


@given(st.text(alphabet="*/,-0123456789~LW#?monfrijadecSUN@", max_size=20))
def test_any_schedule_is_judged(text: str) -> None:
    """Whatever stands in a field, the answer is a schedule or a reason."""
    found = read_schedule(f"{text} * * * *", datetime(2026, 3, 19, tzinfo=UTC))

    assert isinstance(found, Schedule | str)


def test_line_breaks_forge_no_line() -> None:
    """What looks like a line end in a command or a file's name stays one line."""
    task = Task("a\nb", 1, "@reboot", "x\x0by\u2028- fake:1", "root")
    dated = Dated(task, Schedule("When cron starts"), "UTC")

    answer = compose(Plan([task.file], [dated]), 0)

    assert len(answer.text.split("\n")) == 4
    assert "\u2028" not in answer.text


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(list_scheduled_tasks, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
