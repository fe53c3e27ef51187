import platform
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import ask, everything
from toolseam import Actor, ErrorCode
from toolseam.testing import harness
from toolseam_builtin.system import get_python_info
from toolseam_builtin.system._pairs import Fact, told
from toolseam_builtin.system._places import short_place
from toolseam_builtin.system.get_python_info import compose
from toolseam_builtin.workspace import Workspace


def test_it_tells_what_one_looks_up_first(tmp_path: Path) -> None:
    """Version, implementation, platform, flags, encodings and the import path are there."""
    result = ask(get_python_info, Workspace(folder=tmp_path))

    items = dict(result.artifacts[0].items)
    assert result.content.startswith(f"CPython {platform.python_version()}\n")
    assert items["version"] == sys.version.replace("\n", "↵")
    assert items["encoding of file names"] == "utf-8"
    assert "import path 0" in items
    assert items["optimisation"] == str(sys.flags.optimize)


def test_text_items_and_data_say_the_same(tmp_path: Path) -> None:
    """Every fact is a line of the text, an item of the artifact and a row of the data."""
    result = ask(get_python_info, Workspace(folder=tmp_path))

    items = result.artifacts[0].items
    lines = result.content.split("\n")[1:]
    assert [f"{name}: {text}" for name, text in items] == lines[: len(items)]
    assert result.data is not None
    assert [row[0] for row in result.data["rows"]] == [name for name, _ in items]
    assert dict(result.data["rows"])["optimisation"] == sys.flags.optimize


def test_no_folder_of_a_person_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither home, environment nor workspace show in full, on the import path either."""
    home = tmp_path / "home" / "ada"
    (home / "lib").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.syspath_prepend(str(home / "lib"))
    monkeypatch.syspath_prepend("/home/grace/secret/plan")

    result = ask(get_python_info, Workspace(folder=tmp_path / "home" / "ada" / "site"))

    told_all = everything(result)
    assert str(home) not in told_all
    assert "/home/grace" not in told_all
    assert dict(result.artifacts[0].items)["import path 1"] == "~/lib"
    assert dict(result.artifacts[0].items)["import path 0"] == "…/secret/plan"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("", "(the current folder)"),
        ("relative/x", "relative/x"),
        ("/srv/site", "."),
        ("/srv/site/", "."),
        ("/srv/site/app", "app"),
        ("/srv/sitely/app", "…/sitely/app"),
        (f"{sys.prefix}/bin/x", "<prefix>/bin/x"),
        (sys.prefix, "<prefix>"),
        ("/", "…/"),
    ],
)
def test_a_path_is_named_by_the_nearest_folder(path: str, named: str) -> None:
    """Workspace, environment, base and home come before the last two segments."""
    assert short_place(path, "/srv/site") == named


def test_a_home_that_is_the_root_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose home is `/` has not every path in it."""
    monkeypatch.setenv("HOME", "/")

    assert short_place("/opt/x/y/z", "/srv/site") == "…/y/z"


def test_a_python_that_lacks_modules_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules that were not built are named, and a warning says so."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    result = ask(get_python_info, Workspace(folder=tmp_path))

    items = dict(result.artifacts[0].items)
    assert "sqlite3" in items["modules that are missing"]
    assert not {"SQLite", "TLS"} & set(items)
    assert any("without some modules" in warning for warning in result.metadata["warnings"])


@given(st.text(alphabet="abc/. ", max_size=30))
def test_a_path_outside_is_never_whole(tail: str) -> None:
    """Whatever lies below a foreign home, that home is not named in full."""
    assert "/home/grace/x" not in short_place(f"/home/grace/x/deep/{tail}", "/srv/site")


def test_what_surprises_is_warned_of() -> None:
    """Optimisation, another encoding and missing modules are said in words."""
    answer = compose(
        [
            Fact("optimisation", "1", 1),
            Fact("encoding of files", "iso8859-1", "iso8859-1"),
            Fact("modules that are missing", "lzma", ["lzma"]),
        ]
    )

    assert answer.text.count("Warning: ") == 3
    assert len(answer.warnings) == 3
    assert answer.metadata == {"warnings": answer.warnings}


def test_a_page_that_is_full_says_so() -> None:
    """Facts that do not fit are counted, and long values are cut with their length."""
    facts = [Fact(f"fact {number}", "x" * 3_000) for number in range(60)]

    answer = told("Facts", facts, heading="60 facts.", more="{shown} of 60 shown.")

    shown = len(answer.artifacts[0].items)
    assert 10 < shown < 60
    assert f"{shown} of 60 shown." in answer.text
    assert "[3,000 characters in all]" in answer.text


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_python_info, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
