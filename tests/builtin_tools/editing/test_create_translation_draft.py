from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from toolseam_builtin.editing import create_translation_draft

if TYPE_CHECKING:
    from builtin_tools.editing.conftest import Site

GERMAN: dict[str, Any] = {"table": "pages", "key": 1, "language": "de"}


def test_a_record_is_copied_as_a_draft(site: Site) -> None:
    """The copy has the language, the link and the draft's flag; what must be unique differs."""
    lines = site.preview(create_translation_draft, **GERMAN)
    result = site.write(create_translation_draft, **GERMAN)

    flag = "true" if site.workspace.trusted else "1"
    assert lines == [
        "Create as a draft a new record of pages:",
        f"draft: {flag}",
        'language: "de"',
        "translation_of: 1",
        'slug: "home-de"',
        "parent_id: null",
        "position: 1",
        'title: "Home"',
        "price: null",
        "opens: null",
        'notes: "first"',
        'copied from pages:1 "Home"',
        "pages_history will name ada.",
    ]
    assert result.success, result.content
    made = site.run(
        "select title, slug, language, translation_of, notes, access_token, tag"
        " from pages where id = 6"
    )
    assert made == [("Home", "home-de", "de", 1, "first", None, "Home!")]
    assert site.run("select count(*) from pages where id = 6 and draft = " + flag) == [(1,)]
    history = site.run("select field, old from pages_history where page_id = 6 order by field")
    assert [field for field, _ in history] == [
        "draft", "language", "notes", "position", "slug", "title", "translation_of"
    ]  # fmt: skip
    assert {old for _, old in history} == {None}


def test_an_existing_translation_is_a_conflict_unless_overwritten(site: Site) -> None:
    """Copying over it keeps its own key and slug, and says old and new."""
    site.write(create_translation_draft, **GERMAN)
    site.run("update pages set title = 'Start', notes = null where id = 6")
    before = site.everything()

    refused = site.write(create_translation_draft, **GERMAN)
    kept = site.everything()
    lines = site.preview(create_translation_draft, **GERMAN, overwrite=True)
    result = site.write(create_translation_draft, **GERMAN, overwrite=True)

    assert refused.failure is not None
    assert refused.failure.code.value == "conflict"
    assert "pages:6" in refused.content
    assert kept == before
    assert 'title: "Start" → "Home"' in lines
    assert 'The translation pages:6 "Start" is overwritten.' in lines
    assert result.success, result.content
    assert site.run("select title, slug, notes from pages where id = 6") == [
        ("Home", "home-de", "first")
    ]
    assert site.run("select field, old, new from pages_history where old is not null") == [
        ("title", "Start", "Home")
    ]
    again = site.write(create_translation_draft, **GERMAN, overwrite=True)
    assert "Nothing was left to change." in again.content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"key": 99}, "not_found"),
        ({"language": "en"}, "invalid_arguments"),
        ({"language": ""}, "invalid_arguments"),
        ({"language": "x" * 36}, "invalid_arguments"),
        ({"overwrite": "yes"}, "invalid_arguments"),
    ],
)
def test_what_does_not_fit_is_refused(steady: Site, arguments: dict[str, Any], code: str) -> None:
    """An absent original, its own language, no language at all: nothing is made."""
    before = steady.everything()

    result = steady.write(create_translation_draft, **(GERMAN | arguments))

    assert result.failure is not None, result.content
    assert result.failure.code.value == code
    assert steady.everything() == before


def test_a_translation_is_not_translated(site: Site) -> None:
    """The refusal names the original."""
    site.write(create_translation_draft, **GERMAN)

    result = site.write(create_translation_draft, table="pages", key=6, language="fr")

    assert result.failure is not None
    assert result.failure.code.value == "invalid_arguments"
    assert "original is 1" in result.content


@pytest.mark.parametrize("role", ["draft", "language"])
def test_without_the_columns_nothing_is_made(steady: Site, role: str) -> None:
    """The missing key is named."""
    result = steady.settings("pages", **{role: None}).write(create_translation_draft, **GERMAN)

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "not_configured"
    assert f'{role} = "..."' in result.content


def test_without_a_link_the_preview_says_so(site: Site) -> None:
    """A copy that nothing links to its original is made, and the approver is told."""
    loose = site.settings("pages", translation_of=None)

    lines = loose.preview(create_translation_draft, **GERMAN)

    assert "Nothing links it to its original: translation_of names no column." in lines
