import posixpath
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam_builtin import _storages as room

NAMES = ("media", "old", "data")
SEGMENTS = st.text(
    st.sampled_from("ab.é\u0301e:%~ \\-_[]{}\u212b\uac00"), min_size=1, max_size=6
).filter(lambda text: text not in {".", ".."})
PATHS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join).filter(lambda p: "::" not in p)


@given(PATHS, st.sampled_from(NAMES))
def test_each_spelling_means_the_file(path: str, storage: str) -> None:
    """Every text by which a file is looked up is understood as that file."""
    for text in room.spellings(storage, path, NAMES):
        reference = room.parse(text, NAMES)
        assert reference is not None
        assert reference.means(storage, path)


@given(PATHS, PATHS, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_a_spelling_means_no_other_file(path: str, other: str, storage: str, away: str) -> None:
    """A text with the storage's name means one storage, and no text means two different paths."""
    for text in room.spellings(storage, path, NAMES):
        reference = room.parse(text, NAMES)
        assert reference is not None
        if reference.means(away, other):
            assert unicodedata.normalize("NFC", path) == unicodedata.normalize("NFC", other)
            assert reference.storage in {None, away}


@given(PATHS, st.lists(st.sampled_from(["/", "./", "//"]), max_size=3))
def test_slashes_in_front_and_another_unicode_form_change_nothing(
    path: str, before: list[str]
) -> None:
    """A path is the same with slashes and dots in front, doubled slashes, and in NFD."""
    plain = room.plain(path)
    odd = "".join(before) + unicodedata.normalize("NFD", path).replace("/", "//")

    assert room.plain(odd) == plain == unicodedata.normalize("NFC", path)
    assert room.plain(plain) == plain


@given(st.text(st.sampled_from("a./b"), max_size=12))
def test_the_short_way_to_a_plain_path_gives_what_the_long_one_does(text: str) -> None:
    """An ASCII path is cleaned as one beyond ASCII is, whatever its slashes and dots."""
    long = room.plain(f"é/{text}").removeprefix("é").removeprefix("/")

    assert room.plain(text) == long
    assert ".." in text or posixpath.normpath(f"/{text}").lstrip("/") == long


@pytest.mark.parametrize(
    ("text", "storage", "path"),
    [
        ("a.jpg", None, "a.jpg"),
        ("/sub/a.jpg", None, "sub/a.jpg"),
        ("media:a.jpg", "media", "a.jpg"),
        ("media:/a.jpg", "media", "a.jpg"),
        ("other:a.jpg", None, "other:a.jpg"),
        ("data:a.jpg", "data", "a.jpg"),
        ("~/a", None, "~/a"),
        ("%2e%2e/a", None, "%2e%2e/a"),
        ("../a", None, "../a"),
    ],
)
def test_a_cell_is_a_path_with_or_without_a_storage(
    text: str, storage: str | None, path: str
) -> None:
    """A colon counts behind a storage's name alone, and everything else is a literal name."""
    reference = room.parse(text, NAMES)

    assert reference is not None
    assert (reference.storage, reference.path) == (storage, path)


@pytest.mark.parametrize(
    "text",
    [
        *("", "/", ".", "./", "media:", "media:/", "https://x.example/a.jpg", "zip::a", "a\0b"),
        *("mailto:a@b.example", "JavaScript:x", "s3://bucket/a.jpg"),
    ],
)
def test_what_is_no_path_in_a_storage_is_no_reference(text: str) -> None:
    """Nothing, a folder's root, addresses and chains point to no file."""
    assert room.parse(text, NAMES) is None


def test_an_inline_image_is_no_file() -> None:
    """A `data:` address is no path, unless a storage has that name."""
    assert room.parse("data:image/png;base64,AAAA", ("media",)) is None
