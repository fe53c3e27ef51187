import compileall
import re
from pathlib import Path

import pytest

from support.commands import documented, toolseam
from support.environments import Environment, install, make_environment
from support.wheels import build_wheel
from toolseam.cli._new import NameRefused, names_for

# What installing could spoil; its own tests have asked the whole kit by then.
INSTALLED = (
    *("--only", "entry-point-resolves", "--only", "entry-point-named-like-tool"),
    *("--only", "plugin-loads", "--only", "imports-alone"),
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment of its own that sees the running toolseam and its test tools."""
    return make_environment(tmp_path_factory.mktemp("new"), [])


def test_a_new_package_passes_its_own_tests_installed_and_as_written(
    tmp_path: Path, environment: Environment
) -> None:
    """What `new` writes is tested in its folder, installs, conforms, is trusted, and answers."""
    written = toolseam("new", "acme-greet", cwd=tmp_path)
    project = tmp_path / "acme-greet"
    config = tmp_path / "config"
    assert written.code == 0

    tested = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    install(environment, build_wheel(project, tmp_path))
    found = environment.run("-m", "toolseam", "list", cwd=project, config=config)
    checked = environment.run(
        *("-m", "toolseam", "check", "acme-greet", *INSTALLED), cwd=project, config=config
    )
    trusted = environment.run("-m", "toolseam", "trust", "acme-greet", cwd=project, config=config)
    ran = environment.run(
        *("-m", "toolseam", "run", "greet", "--arg", "name=Ada"), cwd=project, config=config
    )

    assert tested.returncode == 0, tested.stdout
    assert int(re.findall(r"(\d+) passed", tested.stdout)[0]) > 40
    assert "greet\tuntrusted" in found.stdout
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.splitlines()[-1] == "1 tool, 4 checks: 4 passed"
    assert trusted.returncode == 0, trusted.stderr
    assert (ran.returncode, ran.stdout) == (0, "Hello, Ada!\n"), ran.stderr


def test_json_is_as_documented(tmp_path: Path) -> None:
    """`--json` names the folder, its files, and what the package is called."""
    ran = toolseam("new", "Acme_Weather", "--tool", "forecast", "--json", cwd=tmp_path)

    documented("new").validate(ran.json)
    assert ran.json["distribution"] == "acme-weather"
    assert ran.json["module"] == "acme_weather"
    assert ran.json["tool"] == "forecast"
    assert sorted(ran.json["files"]) == sorted(
        str(file.relative_to(tmp_path / "acme-weather"))
        for file in (tmp_path / "acme-weather").rglob("*")
        if file.is_file()
    )
    assert compileall.compile_dir(tmp_path / "acme-weather", quiet=1)


@pytest.mark.parametrize("name", ["../evil", "ac\x1bme", "acme-read-records"])
def test_a_name_that_would_not_work_writes_nothing(tmp_path: Path, name: str) -> None:
    """A name is judged before anything is written, and said harmlessly."""
    ran = toolseam("new", "--", name, cwd=tmp_path)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err
    assert "\x1b" not in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        *("../evil", "/tmp/evil", "acme greet", "-acme", "acme-", "ac\x1bme", "akmé", "", "x" * 65),
        *("json", "toolseam", "pytest", "9lives", "class", "acme-read-records", "acme-9"),
    ],
)
def test_a_name_is_judged_by_form_module_and_tool(name: str) -> None:
    """No distribution's name, no module's, no tool's, or one that would stand in for another."""
    with pytest.raises(NameRefused):
        names_for(name)


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """A second `new` changes nothing, not even an empty folder's."""
    (tmp_path / "acme-greet").mkdir()

    ran = toolseam("new", "acme-greet", cwd=tmp_path)

    assert ran.code == 2
    assert "is there already" in ran.err
    assert list((tmp_path / "acme-greet").iterdir()) == []


def test_it_says_what_to_do_next(tmp_path: Path) -> None:
    """The closing lines install, test, check, trust and run the new tool."""
    ran = toolseam("new", "acme-greet", cwd=tmp_path)

    assert "pip install -e '.[test]'" in ran.out
    assert "toolseam check acme-greet" in ran.out
    assert "toolseam trust acme-greet" in ran.out
    assert "toolseam run greet --arg name=Ada" in ran.out
