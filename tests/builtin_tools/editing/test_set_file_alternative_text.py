from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest

from toolseam_builtin.editing import set_file_alternative_text

if TYPE_CHECKING:
    from builtin_tools.editing.conftest import Site


@pytest.mark.parametrize("file", ["harbour.svg", "/harbour.svg", "./harbour.svg"])
def test_the_text_is_set_in_the_record_that_describes_the_file(site: Site, file: str) -> None:
    """However a path is spelled, the one record is found, changed and told in the history."""
    result = site.write(set_file_alternative_text, file=file, text="A red sail")

    assert result.content.splitlines() == [
        'Described files:1 "Harbour":',
        'alt: null → "A red sail"',
        'file: "harbour.svg"',
        "files_history: 1 row in the name of ada.",
    ]
    assert site.run("select alt from files order by id") == [("A red sail",), (None,), (None,)]
    assert site.run("select file_id, field, old, new, changed_by from files_history") == [
        (1, "alt", None, "A red sail", "ada")
    ]


def test_a_row_may_point_to_several_files(site: Site) -> None:
    """It describes each of them, however many columns point to files."""
    words = site.settings("files", files=("path", "title"))

    result = words.write(set_file_alternative_text, file="harbour.svg", text="A red sail")

    assert result.success, result.content


def test_an_empty_text_marks_decoration(site: Site) -> None:
    """Empty is a text of its own, and twice the same changes nothing."""
    site.write(set_file_alternative_text, file="harbour.svg", text="")
    again = site.write(set_file_alternative_text, file="harbour.svg", text="")

    assert site.run("select alt from files where id = 1") == [("",)]
    assert "Nothing was left to change." in again.content
    assert len(site.run("select id from files_history")) == 1


@pytest.mark.parametrize(
    ("file", "text", "code"),
    [
        ("none.svg", "x", "not_found"),
        ("../harbour.svg", "x", "not_found"),
        ("a/twice.png", "x", "conflict"),
        ("s3://bucket/harbour.svg", "x", "invalid_arguments"),
        ("harbour.svg", "x" * 31, "invalid_arguments"),
        ("", "x", "invalid_arguments"),
    ],
)
def test_what_cannot_be_described_is_refused(steady: Site, file: str, text: str, code: str) -> None:
    """An unknown file, one of two records, an address, a text too long: nothing changes."""
    before = steady.everything()

    result = steady.write(set_file_alternative_text, file=file, text=text)

    assert result.failure is not None, result.content
    assert result.failure.code.value == code
    assert steady.everything() == before


def test_a_column_that_is_not_editable_is_not_written(steady: Site) -> None:
    """To name the column is no leave to change it."""
    closed = steady.settings("files", editable=("title",))

    result = closed.write(set_file_alternative_text, file="harbour.svg", text="x")

    assert result.failure is not None
    assert result.failure.code.value == "permission_denied"


def test_without_a_table_of_files_the_keys_are_named(steady: Site) -> None:
    """Nothing is guessed where a write would go."""
    silent = steady.settings("files", alternative_text=None)

    result = silent.write(set_file_alternative_text, file="harbour.svg", text="x")

    assert result.failure is not None
    assert result.failure.code.value == "unavailable"
    assert result.failure.metadata["reason"] == "not_configured"
    assert "alternative_text" in result.content


def test_a_path_that_names_its_storage_is_found(steady: Site) -> None:
    """A row of another storage does not answer for it."""
    workspace = attrs.evolve(steady.workspace, storages={"media": "media", "old": "old"})
    named = attrs.evolve(steady, workspace=workspace)

    plain = named.preview(set_file_alternative_text, file="media:harbour.svg", text="x")

    assert plain[0] == 'Describe files:1 "Harbour":'


def test_a_row_that_names_its_storage_answers_for_that_one(site: Site) -> None:
    """The same path in two storages is two files."""
    site.run("update files set path = 'media:harbour.svg' where id = 1")
    workspace = attrs.evolve(site.workspace, storages={"media": "media", "old": "old"})
    named = attrs.evolve(site, workspace=workspace)

    right = named.write(set_file_alternative_text, file="media:harbour.svg", text="x")
    wrong = named.write(set_file_alternative_text, file="old:harbour.svg", text="x")

    assert right.success, right.content
    assert wrong.failure is not None
    assert wrong.failure.code.value == "not_found"
