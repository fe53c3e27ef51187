"""The plain scan finds what importlib_metadata finds, and survives what it does not."""

import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import importlib_metadata
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolseam
from support.dist_info import tools, write_dist
from toolseam._entrypoints import Record, canonical, safe_path, scan

SPELLINGS = {
    "stock-pack": ("stock_pack", "Stock.Pack", "STOCK__pack"),
    "ping": ("ping", "Ping"),
    "zeta": ("zeta", "ZETA"),
}
NAMES = st.sampled_from(["greet", "ping", "read_records", "a", "z9_"])
VALUES = st.sampled_from(["acme", "acme.tools", "acme:tool", "acme.tools : box.tool", "acme [sql]"])
OTHERS = st.sampled_from(["", "# a comment", "[console_scripts]\nx = y:z", "   ", "[other]\n= \n"])


@st.composite
def entry_point_files(draw: st.DrawFn) -> str:
    """Draw the text of an `entry_points.txt` that any reader takes."""
    parts = [draw(OTHERS)]
    for group in draw(st.lists(st.sampled_from(["toolseam.tools", "toolseam.plugins"]))):
        parts.append(f"[{group}]")
        for name in draw(st.lists(NAMES, unique=True)):
            space = draw(st.sampled_from(["", " ", "\t"]))
            parts.append(f"{space}{name}{space}={space}{draw(VALUES)}{space}")
        parts.append(draw(OTHERS))
    return "\n".join(parts)


@st.composite
def paths(draw: st.DrawFn) -> list[dict[str, tuple[str, bool, str]]]:
    """Draw path entries: distributions by canonical name, with folder name, kind and text."""
    layout = st.dictionaries(st.sampled_from(sorted(SPELLINGS)), st.booleans(), max_size=3)
    return [
        {
            name: (draw(st.sampled_from(SPELLINGS[name])), egg, draw(entry_point_files()))
            for name, egg in kinds.items()
        }
        for kinds in draw(st.lists(layout, max_size=3))
    ]


def expected(path: list[str]) -> set[tuple[str, str, str, str]]:
    """Ask importlib_metadata, with nothing but `path` to look at."""
    before = sys.path
    sys.path = path
    try:
        points = [
            point
            for group in ("toolseam.tools", "toolseam.plugins")
            for point in importlib_metadata.entry_points(group=group)
        ]
    finally:
        sys.path = before
    found = set()
    for point in points:
        assert point.dist is not None
        value = point.module + (f":{point.attr}" if point.attr else "")
        found.add((point.group, point.name, value, canonical(point.dist.metadata["Name"])))
    return found


def names(records: tuple[Record, ...]) -> list[str]:
    """List the names of records in the order of the path."""
    return [record.name for record in records]


@given(paths())
def test_the_scan_agrees_with_importlib_metadata(
    entries: list[dict[str, tuple[str, bool, str]]],
) -> None:
    """Group, name, target and distribution are the same for any path of any distributions."""
    with tempfile.TemporaryDirectory() as folder:
        path = []
        for number, dists in enumerate(entries):
            place = Path(folder, str(number))
            place.mkdir()
            path.append(str(place))
            for spelling, egg, points in dists.values():
                write_dist(place, spelling, points=points, egg=egg)

        found = {
            (f"toolseam.{record.kind}s", record.name, record.value, record.distribution)
            for record in scan(path).records
        }

        assert found == expected(path)


def test_a_record_says_where_it_comes_from(tmp_path: Path) -> None:
    """Distribution, version, location, extras and target are read without an import."""
    write_dist(tmp_path, "Acme_Greet", "2.1", tools(greet="acme.greet:tool [sql, web]"))

    (record,) = scan([str(tmp_path)]).records

    assert (record.distribution, record.version) == ("acme-greet", "2.1")
    assert (record.value, record.extras) == ("acme.greet:tool", ("sql", "web"))
    assert (record.location, record.status, record.builtin) == (str(tmp_path), "found", False)


def test_with_status_changes_a_copy(tmp_path: Path) -> None:
    """A status is given to a copy; all else stays."""
    write_dist(tmp_path, "acme", points=tools(greet="acme"))
    (record,) = scan([str(tmp_path)]).records

    other = record.with_status("broken", "import_failed", "KeyError")

    assert (record.status, other.status, other.detail) == ("found", "broken", "KeyError")
    assert (other.name, other.folder, other.kind) == (record.name, record.folder, "tool")


@pytest.mark.parametrize(
    "points",
    [
        b"[toolseam.tools]\ngreet acme\n",
        b"[toolseam.tools]\n= acme\n",
        b"[toolseam.tools]\ngreet =\n",
        b"[toolseam.tools]\ngreet = acme\n\xff\n",
        b"[toolseam.tools]\ngreet = acme\n" + b"#" * (1 << 20),
        tools(Greet="acme").encode(),
        tools(greet="acme:").encode(),
        tools(greet="acme greet").encode(),
        tools(greet="acme[sql").encode(),
        tools(**{"g" * 65: "acme"}).encode(),
        "[toolseam.tools]\ngr\u202eeet = acme\n".encode(),
    ],
)
def test_malformed_entry_points_of_ours_are_told(tmp_path: Path, points: bytes) -> None:
    """What is wrong stays with the distribution, and the next one is found."""
    write_dist(tmp_path, "acme", points=points)
    write_dist(tmp_path, "good", points=tools(fine="good"))

    bad, good = scan([str(tmp_path)]).records

    assert (bad.status, bad.distribution, bad.value) == ("bad_metadata", "acme", "")
    assert bad.detail
    assert bad.name.isprintable()
    assert len(bad.name) <= 64
    assert (good.name, good.status) == ("fine", "found")


@pytest.mark.parametrize(
    "points", [b"[console_scripts\n\xff\xfe\nx\n", b"\0" * 9, b"= =\n[a]\nb\n"]
)
def test_malformed_entry_points_of_others_do_not_matter(tmp_path: Path, points: bytes) -> None:
    """A distribution that does not mention us cannot blind the host."""
    write_dist(tmp_path, "noise", points=points)
    write_dist(tmp_path, "good", points=tools(fine="good"))

    assert names(scan([str(tmp_path)]).records) == ["fine"]


@pytest.mark.parametrize("size", [1 << 15, 1 << 16, (1 << 20) - 100])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_long_file_is_read_to_its_end(tmp_path: Path, size: int, off: int) -> None:
    """What stands at the end of a long `entry_points.txt` is found like anything else."""
    end = tools(fine="good")
    points = b"#" * (size + off - len(end) - 1) + b"\n" + end.encode()
    write_dist(tmp_path, "long", points=points)

    assert names(scan([str(tmp_path)]).records) == ["fine"]


def test_a_pipe_or_a_folder_instead_of_a_file_blocks_nothing(tmp_path: Path) -> None:
    """Whatever stands where `entry_points.txt` should, the scan goes on."""
    info = write_dist(tmp_path, "pipe")
    (info / "entry_points.txt").unlink()
    os.mkfifo(info / "entry_points.txt")
    (write_dist(tmp_path, "folder") / "entry_points.txt").unlink()
    (tmp_path / "folder-1.0.dist-info" / "entry_points.txt").mkdir()
    write_dist(tmp_path, "good", points=tools(fine="good"))

    assert names(scan([str(tmp_path)]).records) == ["fine"]


def test_odd_path_entries_are_skipped(tmp_path: Path) -> None:
    """Missing folders, plain files and what is no text are left out as the import system does."""
    (tmp_path / "file").write_text("no archive")
    odd = [str(tmp_path / "missing"), str(tmp_path / "file"), "\0", None]

    assert scan(odd).records == ()  # type: ignore[arg-type]


def test_a_zipped_distribution_is_found(tmp_path: Path) -> None:
    """A wheel on the path is read through importlib_metadata, a broken neighbour left out."""
    with zipfile.ZipFile(tmp_path / "acme.zip", "w") as archive:
        archive.writestr("acme-1.5.dist-info/METADATA", "Name: acme\nVersion: 1.5\n")
        archive.writestr("acme-1.5.dist-info/entry_points.txt", tools(greet="acme"))
        archive.writestr("odd-1.0.dist-info/entry_points.txt", tools(odd="odd"))

    (record,) = scan([str(tmp_path / "acme.zip")]).records

    assert (record.name, record.version, record.folder) == ("greet", "1.5", "")


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"PK\x05\x06" + b"\xff" * 18, b"\0" * 99])
def test_a_file_that_is_no_archive_is_skipped(tmp_path: Path, data: bytes) -> None:
    """Anything may stand on the path under an archive's name."""
    file = tmp_path / "acme.zip"
    file.write_bytes(data)

    assert scan([str(file)]).records == ()


def test_a_source_folder_may_lack_its_version(tmp_path: Path) -> None:
    """An `.egg-info` without `PKG-INFO` has no version, and a name all the same."""
    info = write_dist(tmp_path, "acme", points=tools(greet="acme"), egg=True)
    (info / "PKG-INFO").unlink()

    (record,) = scan([str(tmp_path)]).records

    assert (record.distribution, record.version) == ("acme", "")


def test_an_egg_on_the_path_is_found(tmp_path: Path) -> None:
    """An unpacked egg keeps its metadata in `EGG-INFO`."""
    info = tmp_path / "acme-1.5-py3.11.egg" / "EGG-INFO"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(tools(greet="acme"))

    (record,) = scan([str(info.parent)]).records

    assert (record.name, record.distribution, record.version) == ("greet", "acme", "1.5")


def test_one_folder_under_two_names_is_one_folder(tmp_path: Path) -> None:
    """P18: `lib64 -> lib` yields each entry point once and shadows nothing."""
    write_dist(tmp_path / "lib", "stockpack", "1.2", tools(stock="stockpack"))
    (tmp_path / "lib64").symlink_to("lib")

    found = scan([str(tmp_path / "lib"), str(tmp_path / "lib64")])

    assert names(found.records) == ["stock"]
    assert found.shadowed == ()


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_the_first_on_the_path_is_the_one_that_python_imports(tmp_path: Path, version: str) -> None:
    """P18: of a source folder before a wheel the source counts, and the wheel is told."""
    write_dist(tmp_path / "src", "stockpack", version, tools(stock="stockpack"), egg=True)
    write_dist(tmp_path / "lib", "stockpack", "1.2", tools(stock="stockpack"))

    found = scan([str(tmp_path / "src"), str(tmp_path / "lib")])

    assert [(record.name, record.version) for record in found.records] == [("stock", version)]
    (other,) = found.shadowed
    assert (other.distribution, other.version, other.kept) == (
        "stockpack",
        "1.2",
        str(tmp_path / "src"),
    )


def test_a_distribution_without_tools_shadows_a_later_one(tmp_path: Path) -> None:
    """Python would import the first, so what the second offers is not there."""
    write_dist(tmp_path / "a", "stockpack", "2.0")
    write_dist(tmp_path / "b", "stockpack", "1.2", tools(stock="stockpack"))

    found = scan([str(tmp_path / "a"), str(tmp_path / "b")])

    assert found.records == ()
    assert [item.version for item in found.shadowed] == ["1.2"]


def test_a_planted_distribution_is_listed_and_never_counts(tmp_path: Path) -> None:
    """H04: entries inside the workspace, relative ones and links into it are untrusted."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    write_dist(workspace, "acme", "99", tools(greet="evil"))
    write_dist(workspace / "deep", "other", points=tools(ping="evil"))
    write_dist(outside, "acme", points=tools(greet="acme"))
    (tmp_path / "link").symlink_to(workspace / "deep")
    path = [str(workspace), str(tmp_path / "link"), str(outside)]

    records = {
        (r.name, r.distribution, r.version): r for r in scan(path, folder=str(workspace)).records
    }

    assert records["greet", "acme", "1.0"].status == "found"
    for key in (("greet", "acme", "99"), ("ping", "other", "1.0")):
        assert (records[key].status, records[key].reason) == ("untrusted", "untrusted_location")


@pytest.mark.parametrize("entry", ["", ".", "lib"])
def test_a_relative_entry_never_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """Where a relative entry leads is decided by the current folder, so nothing there counts."""
    monkeypatch.chdir(tmp_path)
    write_dist(tmp_path / entry, "acme", points=tools(greet="acme"))

    (record,) = scan([entry]).records

    assert (record.status, record.reason) == ("untrusted", "untrusted_location")


def test_a_place_that_the_operator_names_counts(tmp_path: Path) -> None:
    """A path entry inside the workspace counts once the operator named it."""
    write_dist(tmp_path / "lib", "acme", points=tools(greet="acme"))
    place = str(tmp_path / "lib")

    (record,) = scan([place], folder=str(tmp_path), places=[place]).records

    assert record.status == "found"


def test_builtins_are_known_by_location() -> None:
    """The distribution of the running toolseam is found, editable or not."""
    builtins = [record for record in scan().records if record.builtin]

    assert "read_records" in names(tuple(builtins))
    assert {record.distribution for record in builtins} == {"toolseam"}


def test_a_planted_toolseam_does_not_become_the_builtin(tmp_path: Path) -> None:
    """H04: the real one is kept whatever stands before it on the path."""
    write_dist(tmp_path, "toolseam", "99.0", tools(read_records="evil"))

    found = scan([str(tmp_path), *sys.path])

    (reader,) = [record for record in found.records if record.name == "read_records"]
    assert reader.builtin
    assert reader.value.startswith("toolseam_builtin.")
    assert ("toolseam", "99.0") in {(item.distribution, item.version) for item in found.shadowed}


def test_the_safe_path_drops_what_a_workspace_puts_before_the_library(tmp_path: Path) -> None:
    """S1: the current folder and `PYTHONPATH=.` go; site folders and `.pth` entries stay."""
    library = str(Path(os.__file__).parent)
    root = str(Path(toolseam.__file__).parent.parent)
    mine, after = str(tmp_path / "src"), str(tmp_path)
    site = sysconfig.get_path("purelib")
    path = ["", str(tmp_path), mine, "/elsewhere", root, library, site, after]

    assert safe_path(path, str(tmp_path)) == ["/elsewhere", root, library, site, after]
    assert safe_path(path, "/") == [root, library, site, after]
    assert safe_path(["", site, after], "/") == [site]


@pytest.mark.parametrize(
    ("name", "normal"), [("A_b.C", "a-b-c"), ("a--__..b", "a-b"), ("plain", "plain"), ("", "")]
)
def test_names_are_compared_as_pep_503_says(name: str, normal: str) -> None:
    """Case, and runs of `-`, `_` and `.`, do not tell names apart."""
    assert canonical(name) == normal


def test_the_scan_imports_nothing_heavy() -> None:
    """`toolseam list` needs none of the modules that cost more than a bare start."""
    code = (
        "import sys; from toolseam._selection import read_selection;"
        "from toolseam._discovery import discover; discover(read_selection());"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)

    heavy = {"attrs", "attr", "cattrs", "re", "typing", "enum", "importlib_metadata", "pathlib"}
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        check=True,
    )
    assert heavy & set(run.stdout.decode().split()) <= set(bare.stdout.decode().split())
