from pathlib import Path

import pytest
from importlib_metadata import Distribution

from toolseam import Actor, ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin.system import list_packages
from toolseam_builtin.system._packages import Package, installed
from toolseam_builtin.system.list_packages import compose


def distribution(
    folder: Path,
    name: str = "stockpack",
    version: str = "1.2",
    *,
    info: str = "dist-info",
    extra: str = "Summary: Stock on hand\n",
    points: str = "[toolseam.tools]\nread_stock = stockpack.tools\n",
) -> Path:
    """Write the metadata of an installed distribution; give its folder."""
    place = folder / (f"{name}-{version}.{info}" if info == "dist-info" else f"{name}.{info}")
    place.mkdir(parents=True)
    document = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{extra}"
    (place / ("METADATA" if info == "dist-info" else "PKG-INFO")).write_text(document)
    (place / "entry_points.txt").write_text(points)
    return folder


def found(*path: Path) -> tuple[list[Package], int]:
    """Give the packages on an import path."""
    return installed(Distribution.discover(path=[str(folder) for folder in path]))


def call(**arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return harness(list_packages).call(arguments)


def test_a_linked_folder_is_no_second_installation(tmp_path: Path) -> None:
    """`lib64 -> lib` gives one row without a shadow (P18)."""
    lib = distribution(tmp_path / "lib")
    (tmp_path / "lib64").symlink_to("lib")

    assert found(lib, tmp_path / "lib64") == ([Package("stockpack", "1.2", "Stock on hand", 1)], 0)


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_the_first_on_the_path_counts(tmp_path: Path, version: str) -> None:
    """An editable source folder first on the path wins, and the other is reported (P18)."""
    source = distribution(tmp_path / "src", version=version, info="egg-info")
    lib = distribution(tmp_path / "lib")

    packages, _ = found(source, lib)

    assert packages == [Package("stockpack", version, "Stock on hand", 1, ("1.2",))]


def test_names_are_compared_in_their_canonical_form(tmp_path: Path) -> None:
    """Case, dash, dot and underscore make no other package."""
    packages, _ = found(
        distribution(tmp_path / "a", "Stock.Pack"), distribution(tmp_path / "b", "stock_pack")
    )

    assert [(package.name, package.shadowed) for package in packages] == [("Stock.Pack", ("1.2",))]


def test_bad_metadata_hides_no_other(tmp_path: Path) -> None:
    """What cannot be read is counted; a malformed entry_points.txt offers no tools."""
    lib = distribution(tmp_path, "bad", points="[toolseam.tools]\nno target\n")
    distribution(tmp_path, "good")
    distribution(tmp_path, "nameless", extra="").joinpath(
        "nameless-1.2.dist-info", "METADATA"
    ).write_text("Metadata-Version: 2.1\nName: \nVersion: 1.2\n")
    (tmp_path / "empty-1.0.dist-info").mkdir()
    (tmp_path / "bytes-1.0.dist-info").mkdir()
    (tmp_path / "bytes-1.0.dist-info" / "METADATA").write_bytes(b"\xff\xfeName: x")

    packages, unreadable = found(lib)

    assert [(package.name, package.tools) for package in packages] == [("bad", 0), ("good", 1)]
    assert unreadable == 3
    assert compose(packages, unreadable, None).text.endswith("3 could not be read.")


def test_what_a_package_says_of_itself_is_one_masked_line(tmp_path: Path) -> None:
    """A summary forges no line, shows no secret and is cut with its length."""
    lib = distribution(tmp_path, extra=f"Summary: see x://a:Aster9@h {'y' * 300}\n")

    summary = found(lib)[0][0].summary

    assert "Aster9" not in summary
    assert summary.endswith("characters in all]")


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two versions of stockpack on the interpreter's own path."""
    monkeypatch.syspath_prepend(str(distribution(tmp_path / "lib")))
    monkeypatch.syspath_prepend(str(distribution(tmp_path / "src", version="1.3")))


@pytest.mark.usefixtures("twice")
def test_the_answer_tells_versions_tools_and_shadows() -> None:
    """One line a package says name, version, summary, tools and what is hidden."""
    result = call(filter="STOCKPACK")

    assert result.content.split("\n")[1:] == [
        "- stockpack 1.3: Stock on hand [tools: 1] [shadowed: 1.2]",
        "1 installed more than once: the first on the import path counts.",
    ]
    assert result.artifacts[0].rows == [["stockpack", "1.3", "Stock on hand", "1", "1.2"]]
    assert result.data is not None
    assert result.data["rows"] == [["stockpack", "1.3", "Stock on hand", 1, ["1.2"]]]


def test_the_host_itself_is_listed() -> None:
    """Without a filter every distribution has a row, toolseam with its tools among them."""
    result = call()

    names = [row[0] for row in result.artifacts[0].rows]
    assert "attrs" in names
    assert names == sorted(names, key=lambda name: name.lower().replace("_", "-").replace(".", "-"))
    assert any(row[0] == "toolseam" and int(row[3]) > 0 for row in result.artifacts[0].rows)


def test_nothing_found_is_a_success() -> None:
    """A filter without a match says how many were looked at."""
    result = call(filter="zebra-crossing")

    assert result.success
    assert "0 of " in result.content


@pytest.mark.parametrize("value", ["", "  ", "x" * 201])
def test_blank_and_long_filters_are_refused(value: str) -> None:
    """A blank or over-long filter is `invalid_arguments`."""
    failure = call(filter=value).failure

    assert failure is not None
    assert failure.code == ErrorCode.INVALID_ARGUMENTS


def test_a_full_page_says_how_many_are_left() -> None:
    """More packages than fit are cut between rows, and counted."""
    packages = [Package(f"pack-{number:04}", "1.0", "x" * 100, 0) for number in range(900)]

    answer = compose(packages, 0, None)

    shown = len(answer.artifacts[0].rows)
    assert answer.text.startswith(f"900 installed packages, {shown} shown.")
    assert answer.text.endswith("More with a narrower filter.")
    assert 100 < shown < 900


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(list_packages, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
