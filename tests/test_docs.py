"""The documentation names what there is, and the changelog says what changed."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import toolseam
from toolseam import ErrorCode
from toolseam._policy import Reason

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


@pytest.mark.parametrize("name", toolseam.__all__)
def test_every_public_name_has_an_entry(name: str) -> None:
    """The page of public names describes each of them."""
    page = (REFERENCE / "api.md").read_text(encoding="utf-8")

    assert re.search(rf"^\.\. auto\w+:: toolseam\.{name}$", page, re.MULTILINE)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_code_is_explained(code: ErrorCode) -> None:
    """The contract's page has a row for each error code."""
    page = (REFERENCE / "contract.md").read_text(encoding="utf-8")

    assert f"| `{code.value}` |" in page


def reasons_in(source: str) -> set[str]:
    """Return the slugs that a module hands over as `metadata["reason"]`."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == "reason"]
        called = getattr(node, "func", None)
        name = getattr(called, "id", getattr(called, "attr", None))
        refusing = {"refusal", "unavailable", "conflict", "_conflict"}
        if isinstance(node, ast.Call) and name in refusing:
            found += [each.value for each in node.keywords if each.arg == "reason"]
            found += node.args[1:2] if name != "refusal" else []
    return {each.value for each in found if isinstance(each, ast.Constant)}  # type: ignore[misc]


def test_every_reason_is_explained() -> None:
    """The contract's page has a row for each slug that the core, or a builtin, gives as reason."""
    page = (REFERENCE / "contract.md").read_text(encoding="utf-8")
    sources = [*(ROOT / "core").rglob("*.py"), *(ROOT / "builtin_tools").rglob("*.py")]
    given = set(get_args(Reason)).union(*(reasons_in(p.read_text("utf-8")) for p in sources))

    assert given >= {"withdrawn", "used", "busy", "no_secret", "privileged_role"}
    assert {slug for slug in given if f"| `{slug}` |" not in page} == set()


def test_the_house_is_drawn_with_all_its_rooms() -> None:
    """The architecture page names each module of the core."""
    page = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    core = ROOT / "core" / "toolseam"
    rooms = {path.stem for path in core.glob("*.py")}
    rooms |= {path.parent.name for path in core.glob("*/__init__.py")}

    assert [room for room in rooms if not room.startswith("__") and f"`{room}`" not in page] == []


def test_the_tutorial_works(tmp_path: Path) -> None:
    """What a reader of the tutorial types is a module and checks that pass, as printed."""
    text = (DOCS / "tutorial" / "first-tool.md").read_text(encoding="utf-8")
    module, call, wrong, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "acme_greet.py").write_text(module, encoding="utf-8")
    (tmp_path / "reader.py").write_text(call + wrong, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "reader.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_page_is_reachable(page: Path) -> None:
    """Each page hangs in the index, in one of the four parts."""
    index = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()

    assert page.name == "index.md" or str(page.relative_to(DOCS).with_suffix("")) in index


def test_fragments_have_a_known_kind() -> None:
    """Each changelog fragment names an issue or a word, and a kind that towncrier knows."""
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    shape = re.compile(
        r"(\d+|\+\w+)\.(breaking|added|changed|deprecated|fixed|security)(\.\d+)?\.md"
    )

    assert [name for name in names if not shape.fullmatch(name)] == []


@pytest.mark.parametrize(
    ("page", "module", "least"),
    [("check-your-tool", "acme_notes", 41), ("prove-an-adapter", "acme_adapter", 7)],
)
def test_what_an_author_checks_passes_as_printed(
    page: str, module: str, least: int, tmp_path: Path
) -> None:
    """The tool or the adapter of a how-to page, and the lines that check it, pass as they stand."""
    text = (DOCS / "how-to" / f"{page}.md").read_text(encoding="utf-8")
    subject, checks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / f"{module}.py").write_text(subject, encoding="utf-8")
    (tmp_path / f"test_{module}.py").write_text(checks, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) >= least


def test_generated_pages_are_current() -> None:
    """The tables of settings keys and the list of checks are what the code gives today."""
    done = subprocess.run(
        [sys.executable, str(DOCS / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
