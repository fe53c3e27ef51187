from pathlib import Path

import pytest

from toolseam import ErrorCode, ToolError
from toolseam_builtin._logs._files import find_logs
from toolseam_builtin._logs._names import generation_of, is_log_name, newest_first
from toolseam_builtin.workspace import Workspace


def found(workspace: Workspace) -> dict[str, list[str]]:
    """Give the files of each log, the newest first."""
    return {log.name: [file.shown for file in log.files] for log in find_logs(workspace).logs}


def refused(workspace: Workspace) -> ToolError:
    """Give the refusal of a workspace whose logs cannot be read."""
    with pytest.raises(ToolError) as caught:
        find_logs(workspace)
    return caught.value


def written(folder: Path, *names: str) -> Path:
    """Write a line into each of these files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return folder


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("app.log", "app.log"),
        ("app.log.2", "app.log"),
        ("app.log.10.gz", "app.log"),
        ("app.log.gz", "app.log"),
        ("app.log.2025-05-06", "app.log"),
        ("app.log-20250506.gz", "app.log"),
        ("app.log.2025-05-06_07-00", "app.log"),
        ("app.2025-05-06.log", "app.log"),
        ("app.2025-05-06_07-00-01_123456.log", "app.log"),
        ("app.3.log", "app.log"),
        ("worker-3.log", "worker-3.log"),
        ("logs/a.log.1", "logs/a.log"),
        ("syslog.1", "syslog"),
    ],
)
def test_rotated_files_belong_to_their_log(name: str, base: str) -> None:
    """By number, by date, before or behind the suffix: a rotated file names its log."""
    assert generation_of(name).base == base


def test_numbers_sort_as_numbers_and_dates_as_dates() -> None:
    """The file that is written to is the newest, then small numbers, then late dates (P21)."""
    assert newest_first(["a.log.10.gz", "a.log.2.gz", "a.log", "a.log.1"]) == [
        *("a.log", "a.log.1", "a.log.2.gz", "a.log.10.gz")
    ]
    assert newest_first(["a.log-20250501", "a.log", "a.log-20250601.gz"]) == [
        *("a.log", "a.log-20250601.gz", "a.log-20250501")
    ]


@pytest.mark.parametrize(
    ("name", "is_log"),
    [("app.log", True), ("out", True), ("a.jsonl.1", True), ("log.py", False), ("x.db", False)],
)
def test_a_folder_of_logs_holds_other_files_too(name: str, is_log: bool) -> None:
    """What has the suffix of a program or of data is no log."""
    assert is_log_name(name) is is_log


def test_logs_are_found_by_looking_around(tmp_path: Path) -> None:
    """Without a setting, `*.log` in the folder and what lies in `logs/` and `log/` is found."""
    names = ("app.log", "app.log.1", "logs/web/a.out", "log/b.jsonl", "src/c.log", "log/d.py")

    assert found(Workspace(folder=written(tmp_path, *names))) == {
        "app.log": ["app.log", "app.log.1"],
        "log/b.jsonl": ["log/b.jsonl"],
        "logs/web/a.out": ["logs/web/a.out"],
    }


def test_patterns_name_what_is_read(tmp_path: Path) -> None:
    """Patterns and names of files are followed, folders at any depth, hidden files never."""
    written(tmp_path, "v/a/x.log", "v/y.log", "v/y.log.1", "v/.z.log", "w.log", ".h/q.log")

    assert found(Workspace(folder=tmp_path, logs=("v/*.log",))) == {"v/y.log": ["v/y.log"]}
    assert [*found(Workspace(folder=tmp_path, logs=("v/**/*.log", "w.log")))] == [
        *("v/a/x.log", "v/y.log", "w.log")
    ]
    assert [*found(Workspace(folder=tmp_path, logs=("v/**",)))] == ["v/a/x.log", "v/y.log"]
    assert refused(Workspace(folder=tmp_path, logs=(".h/*.log",))).code == ErrorCode.UNAVAILABLE


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    """A folder may be named; an empty pattern and one that matches nothing give nothing."""
    written(tmp_path, "v/x.log", "v/y/z.log")

    assert [*found(Workspace(folder=tmp_path, logs=("v/",)))] == ["v/x.log"]
    assert [*found(Workspace(folder=tmp_path, logs=("", "v/*/*.log", ".")))] == ["v/y/z.log"]
    assert refused(Workspace(folder=tmp_path, logs=("", "q/*.log"))).code == ErrorCode.UNAVAILABLE


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """A link to a folder or file outside is no log, whether looked for or named."""
    work = written(tmp_path / "work", "in.log")
    written(tmp_path / "outside", "secret.log")
    (work / "logs").symlink_to("../outside")
    (work / "out.log").symlink_to("../outside/secret.log")

    assert [*found(Workspace(folder=work))] == ["in.log"]
    for pattern in ("out.log", "*t.log"):
        assert refused(Workspace(folder=work, logs=(pattern,))).code == ErrorCode.UNAVAILABLE
    assert refused(Workspace(folder=work, logs=("logs/*",))).metadata["reason"] == (
        "untrusted_workspace"
    )


@pytest.mark.parametrize("up", ["../outside/*.log", "{}/outside/secret.log", "{}/outside/*"])
def test_logs_outside_need_trust(tmp_path: Path, up: str) -> None:
    """A pattern that leads out is followed in a trusted workspace only, with the whole path."""
    work = written(tmp_path / "work", "in.log")
    written(tmp_path / "outside", "secret.log")
    logs = (up.format(tmp_path),)

    assert refused(Workspace(folder=work, logs=logs)).metadata["reason"] == "untrusted_workspace"
    assert [*found(Workspace(folder=work, logs=logs, trusted=True))] == [
        f"{tmp_path}/outside/secret.log"
    ]


def test_a_hard_link_is_no_log(tmp_path: Path) -> None:
    """A second name of a file, which may stand outside, is not read."""
    work = written(tmp_path / "work", "in.log")
    written(tmp_path / "outside", "secret.log")
    (work / "hard.log").hardlink_to(tmp_path / "outside" / "secret.log")

    assert [*found(Workspace(folder=work))] == ["in.log"]


def test_a_forest_of_folders_is_walked_in_part(tmp_path: Path) -> None:
    """A pattern over thousands of folders stops, and says that there are more."""
    for number in range(1_010):
        (tmp_path / "logs" / f"d{number:04}").mkdir(parents=True)
    written(tmp_path, "logs/d0000/a.log")

    assert "more log files than" in find_logs(Workspace(folder=tmp_path)).warnings[0]
