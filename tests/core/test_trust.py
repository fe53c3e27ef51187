"""What `toolseam trust` writes."""

import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam._errors import SettingsError
from toolseam._settings import load_settings
from toolseam._settings_files import operator_folder
from toolseam._trust import trust_distribution, trust_workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a file."""
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "toolseam.toml").write_text('[workspace]\ndatabase = "app.db"\n')
    return place


def test_a_distribution_is_trusted_by_its_name() -> None:
    """The operator's own file and its comments are not touched."""
    config = Path(operator_folder(), "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text('# mine\ntrust = ["first"]\n')

    file = trust_distribution("Acme_Greet")
    trust_distribution("acme-greet")

    assert load_settings().operator.trust == ("first", "acme-greet")
    assert config.read_text() == '# mine\ntrust = ["first"]\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in file.parent.iterdir()} == {"config.toml", "trust.toml"}


@pytest.mark.parametrize("name", ["", "*", "/lib", "a b", 'a"', "é", "a\n", "--", "x" * 3 + "["])
def test_what_is_no_name_is_not_trusted(name: str) -> None:
    """Everything at once, or a place, is for the operator to write himself."""
    with pytest.raises(SettingsError):
        trust_distribution(name)


def test_a_workspace_is_trusted_with_its_present_file(folder: Path) -> None:
    """A change of the file ends the trust; giving it again restores it."""
    trust_workspace(folder)
    assert load_settings(folder).workspace_trusted

    (folder / "toolseam.toml").write_text('[workspace]\ndatabase = "other.db"\n')
    assert not load_settings(folder).workspace_trusted

    trust_workspace(folder)
    assert load_settings(folder).workspace_trusted


def test_a_workspace_without_a_file_is_trusted_as_such(tmp_path: Path) -> None:
    """A file that appears later was not what was trusted."""
    trust_workspace(tmp_path)
    assert load_settings(tmp_path).workspace_trusted

    (tmp_path / "pyproject.toml").write_text('[tool.toolseam.workspace]\nweb_app = "evil:app"\n')

    assert not load_settings(tmp_path).workspace_trusted


def test_trust_belongs_to_one_folder(folder: Path, tmp_path: Path) -> None:
    """A copy elsewhere is not trusted; a link to the folder is the folder."""
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    (other / "toolseam.toml").write_bytes((folder / "toolseam.toml").read_bytes())
    link.symlink_to(folder)

    trust_workspace(folder)

    assert not load_settings(other).workspace_trusted
    assert load_settings(link).workspace_trusted


def test_no_such_folder(tmp_path: Path) -> None:
    """Trust is for what is there."""
    with pytest.raises(SettingsError):
        trust_workspace(tmp_path / "none")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The file is named, the operating system's text is not."""
    Path(operator_folder()).parent.mkdir(parents=True)
    Path(operator_folder()).symlink_to(tmp_path / "nowhere")

    with pytest.raises(SettingsError) as error:
        trust_distribution("acme")

    assert error.value.file == Path(operator_folder(), "trust.toml")
    assert "Errno" not in str(error.value)


def test_a_failed_write_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old trust stays, and no temporary file."""
    file = trust_distribution("acme")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "CANARY", str(self), None, str(target))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(SettingsError) as error:
        trust_distribution("other")

    assert "CANARY" not in str(error.value)
    assert list(file.parent.iterdir()) == [file]
    assert load_settings().operator.trust == ("acme",)


NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=12)


@given(NAMES.filter(lambda name: name not in {".", ".."}))
def test_any_folder_name_comes_back(name: str) -> None:
    """Quotes, backslashes and control characters survive the file."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, name)
        folder.mkdir()
        config = Path(place, "..config", "config.toml")
        config.parent.mkdir()
        config.write_text("")

        trust_workspace(folder, config=config)

        assert load_settings(folder, operator_file=config).workspace_trusted
