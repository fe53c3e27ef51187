"""Importing a plugin under guard."""

import asyncio
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.dist_info import tools, write_dist
from toolseam._entrypoints import Record, scan
from toolseam._loading import load


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, whose modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(site: Path, code: str, target: str = "acme_tool", requires: str = "") -> Record:
    """Write a module and its metadata; returns the record."""
    (site / "acme_tool.py").write_text(code)
    info = write_dist(site, "acme", points=tools(greet=target))
    (info / "RECORD").write_text("acme_tool.py,,\n")
    with (info / "METADATA").open("a") as file:
        file.write(requires)
    (record,) = scan([str(site)]).records
    return record


def test_a_module_becomes_ready(site: Path) -> None:
    """The plugin comes back with its record."""
    record, plugin = load(install(site, "answer = 42\n"))

    assert (record.status, record.reason, record.detail) == ("ready", "", "")
    assert getattr(plugin, "answer", None) == 42


def test_an_object_inside_a_module_becomes_ready(site: Path) -> None:
    """`module:object.attribute` is followed to its end."""
    code = "class Box:\n    plugin = 'the plugin'\n"

    record, plugin = load(install(site, code, "acme_tool:Box.plugin"))

    assert (record.status, plugin) == ("ready", "the plugin")


@pytest.mark.parametrize("status", ["disabled", "untrusted", "conflict", "bad_metadata", "broken"])
def test_only_what_was_found_is_imported(site: Path, status: str) -> None:
    """Every other status stays, and the module does not run."""
    record = install(site, "raise SystemExit").with_status(status, "because")  # type: ignore[arg-type]

    assert load(record) == (record, None)
    assert "acme_tool" not in sys.modules


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("raise KeyError('CANARY')", "KeyError"),
        ("import sys; sys.exit('CANARY')", "SystemExit"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("def f(): f()\nf()", "RecursionError"),
        ("this is no Python, CANARY", "SyntaxError"),
        ("raise type('X' * 500 + '\\x1b\\u202e', (Exception,), {})", "X" * 64),
        ("class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd", "Odd"),
    ],
)
def test_whatever_an_import_raises_makes_a_broken_record(site: Path, code: str, name: str) -> None:
    """The type's name is told, cleaned and short; the exception's text never is."""
    record, plugin = load(install(site, code))

    assert (record.status, record.reason, plugin) == ("broken", "import_failed", None)
    assert record.detail.startswith(f"{name} ")
    assert "CANARY" not in record.detail
    assert record.detail.isprintable()


def test_the_person_at_the_keyboard_is_heard(site: Path) -> None:
    """A KeyboardInterrupt during an import gets out."""
    with pytest.raises(KeyboardInterrupt):
        load(install(site, "raise KeyboardInterrupt"))


def test_a_missing_attribute_is_broken(site: Path) -> None:
    """The target's object is not there."""
    record, _ = load(install(site, "", "acme_tool:nobody"))

    assert (record.status, record.detail) == ("broken", "AttributeError while importing acme_tool")


def test_an_object_whose_attributes_raise_is_broken(site: Path) -> None:
    """Looking at `toolseam_api` is under the same guard."""
    code = "class Odd:\n    def __getattr__(self, name): raise SystemExit\nplugin = Odd()\n"

    record, _ = load(install(site, code, "acme_tool:plugin"))

    assert record.status == "broken"


def test_a_missing_module_is_named(site: Path) -> None:
    """P17: a library that nobody declares is a broken plugin."""
    record, _ = load(install(site, "import libfoo_missing.deep\n"))

    assert (record.status, record.reason) == ("broken", "import_failed")
    assert record.detail == "ModuleNotFoundError: libfoo_missing"


def test_a_missing_module_of_its_own_is_no_missing_extra(site: Path) -> None:
    """A distribution without its module is broken, whatever extras it has."""
    requires = "Requires-Dist: acme-tool; extra == 'all'\n"

    record, _ = load(install(site, "", "acme_gone.tool", requires))

    assert (record.status, record.detail) == ("broken", "ModuleNotFoundError: acme_gone")


@pytest.mark.parametrize(
    ("module", "requirement", "extra"),
    [
        ("libbar", "libbar>=2; extra == 'bar'", "bar"),
        ("libbar.deep", "Lib.Bar ; python_version > '3' and extra == \"bar\"", None),
        ("lib_bar", 'Lib.Bar[x] (>=1) ; extra == "bar"', "bar"),
        ("qyaml", "PyQYAML; extra == 'yaml'", "yaml"),
        ("libbar", "libbar>=2", None),
        ("libbar", "libother; extra == 'bar'", None),
    ],
)
def test_a_missing_extra_says_what_to_install(
    site: Path, module: str, requirement: str, extra: str | None
) -> None:
    """The distribution's own metadata tells which extra brings the module."""
    requires = f"Requires-Dist: {requirement}\n"

    record, _ = load(install(site, f"import {module}\n", requires=requires))

    if extra is None:
        assert record.status == "broken"
    else:
        assert (record.status, record.reason) == ("missing_extra", extra)
        assert f"pip install 'acme[{extra}]'" in record.detail


def test_an_entry_point_may_name_its_extra(site: Path) -> None:
    """`module [extra]` is taken at its word."""
    record, _ = load(install(site, "import libqux\n", "acme_tool [qux]"))

    assert (record.status, record.reason) == ("missing_extra", "qux")


@pytest.mark.parametrize("api", ["'99'", "1", "None", "'1.0'", "'\\x1b[31m' * 99"])
def test_another_contract_version_is_incompatible(site: Path, api: str) -> None:
    """Versions are texts, and only those of the window are spoken."""
    record, plugin = load(install(site, f"toolseam_api = {api}\n"))

    assert (record.status, record.reason, plugin) == ("incompatible", "contract_version", None)
    assert record.detail.isprintable()


def test_an_object_states_its_own_contract_version(site: Path) -> None:
    """The module's statement and the object's both count."""
    code = "class Box:\n    toolseam_api = '2'\ntoolseam_api = '1'\nplugin = Box()\n"

    record, _ = load(install(site, code, "acme_tool:plugin"))

    assert record.status == "incompatible"


def test_what_an_import_prints_is_dropped_and_counted(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it reaches our stdout."""
    record, _ = load(install(site, "print('hello', flush=True)\n"))

    assert record.status == "ready"
    assert "6 bytes" in record.detail
    assert capsys.readouterr().out == ""


def test_a_plugin_finds_stdout_as_it_expects_it(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes and reconfiguring work during the import; afterwards it is stdout again."""
    code = (
        "import sys\nkept = sys.stdout\nkept.buffer.write(b'bytes')\n"
        "kept.reconfigure(errors='replace')\nassert kept.encoding.lower() == 'utf-8'\n"
        "kept.close()\n"
    )

    record, plugin = load(install(site, code))
    print("afterwards", file=getattr(plugin, "kept", None), flush=True)

    assert (record.status, record.detail) == ("ready", "printed 5 bytes while being imported")
    assert capsys.readouterr().out == "afterwards\n"


def test_other_threads_keep_stdout_during_an_import(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what the importing thread prints is dropped."""
    code = (
        "import threading\n"
        "other = threading.Thread(target=print, args=('from another thread',))\n"
        "other.start(); other.join(); print('mine')\n"
    )

    load(install(site, code))

    assert capsys.readouterr().out == "from another thread\n"


def test_a_module_from_elsewhere_is_refused_before_it_runs(
    site: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H05: trust in a distribution is no trust in a module of its name found before it."""
    record = install(site, "answer = 42\n")
    planted = tmp_path_factory.mktemp("planted")
    (planted / "acme_tool.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(planted)

    refused, plugin = load(record)

    assert (refused.status, refused.reason, plugin) == ("broken", "module_elsewhere", None)
    assert "acme_tool" not in sys.modules


def test_what_the_record_lists_and_nobody_finds_is_broken(site: Path) -> None:
    """A file that somebody removed is a missing module."""
    record = install(site, "")
    (site / "acme_tool.py").unlink()

    assert load(record)[0].detail == "ModuleNotFoundError: acme_tool"


def test_an_archive_is_loaded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of a zip's extras, so a missing library there is a broken plugin."""
    with zipfile.ZipFile(tmp_path / "acme.zip", "w") as archive:
        archive.writestr("acme-1.0.dist-info/METADATA", "Name: acme\nVersion: 1.0\n")
        points = tools(good="acme_zipped", bad="acme_zipped_bad")
        archive.writestr("acme-1.0.dist-info/entry_points.txt", points)
        archive.writestr("acme_zipped.py", "")
        archive.writestr("acme_zipped_bad.py", "import libfoo_missing\n")
    monkeypatch.syspath_prepend(tmp_path / "acme.zip")

    good, bad = (load(record)[0] for record in scan([str(tmp_path / "acme.zip")]).records)

    assert (good.status, bad.status) == ("ready", "broken")
    assert bad.detail == "ModuleNotFoundError: libfoo_missing"


def test_an_editable_install_may_keep_its_module_elsewhere(
    site: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A RECORD that lists no file of the module says nothing about where it is."""
    record = install(site, "")
    (site / "acme_tool.py").unlink()
    (site / "acme-1.0.dist-info" / "RECORD").write_text("_acme.pth,,\n")
    source = tmp_path_factory.mktemp("source")
    (source / "acme_tool.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(source)

    assert load(record)[0].status == "ready"


def test_a_package_is_recognised_by_its_folder(site: Path) -> None:
    """A package, and a package without `__init__`, belong to the distribution that lists them."""
    record = install(site, "", "acme_box.tool")
    (site / "acme_box").mkdir()
    (site / "acme_box" / "tool.py").write_text("")
    (site / "acme-1.0.dist-info" / "RECORD").write_text("acme_box/tool.py,,\n")

    assert load(record)[0].status == "ready"


def test_an_import_inside_a_running_loop_is_the_same(site: Path) -> None:
    """Loading needs no loop and disturbs none."""
    record = install(site, "answer = 42\n")

    async def main() -> Record:
        return load(record)[0]

    assert asyncio.run(main()).status == "ready"
