"""One cleaner and one cut for every text that leaves (contract §7)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolseam._text import (
    CONTENT_BYTES,
    MESSAGE_BYTES,
    bound,
    clean,
    exact,
    is_clean,
    mend,
    short,
)

MIXED = "ж€😀" * 40  # P03: two, three and four bytes a character
HIDDEN = [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
HIDDEN += [0xE0000, 0xE0001, 0xE0041, 0xE007F, 0xD800, 0xDBFF, 0xDC00, 0xDFFF]
# Everything that Python can hold, lone surrogates included, with the troublemakers made frequent.
any_text = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("\r\n\t\x00\x1b\x7f\x85\u202e\u2066\u200d\U000e0041\ud800\udfffaж€😀"),
    )
)


class Loud(str):
    """A text whose own methods raise."""

    __slots__ = ()

    def __str__(self) -> str:
        """Raise, as a broken plugin's class might."""
        raise RuntimeError("asked")

    __format__ = __getitem__ = replace = __str__  # type: ignore[assignment]


def forbidden(text: str) -> list[str]:
    """List the characters of a text that may not leave."""
    bad = {chr(c) for c in [*range(32), 0x7F, *HIDDEN]} - {"\t", "\n"}
    bad |= {chr(c) for c in range(0xE0000, 0xE0080)}
    return [c for c in text if c in bad or "\ud800" <= c <= "\udfff"]


def test_the_caps_are_the_numbers_of_the_contract() -> None:
    """Content gets 50,000 bytes and a failure message 2,000."""
    assert (CONTENT_BYTES, MESSAGE_BYTES) == (50_000, 2_000)


@pytest.mark.parametrize("code", [c for c in range(32) if chr(c) not in "\t\n\r"])
def test_a_c0_control_shows_as_its_picture(code: int) -> None:
    """A control character becomes visible instead of acting on a terminal."""
    assert clean(f"a{chr(code)}b") == f"a{chr(0x2400 + code)}b"


def test_del_shows_as_its_picture() -> None:
    """DEL has a picture of its own, U+2421."""
    assert clean("a\x7fb") == "a\u2421b"


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\r\r\nb", "a\n\nb"), ("\r", "\n"), ("\n\r", "\n\n")],
)
def test_line_ends_become_newlines(raw: str, cleaned: str) -> None:
    """CRLF and CR are one newline each."""
    assert clean(raw) == cleaned
    assert clean("ж" + raw) == "ж" + cleaned


@pytest.mark.parametrize("code", HIDDEN)
def test_a_hidden_character_becomes_the_replacement_character(code: int) -> None:
    """C1, bidi controls, tag characters and lone surrogates become U+FFFD, one each."""
    assert clean(f"a{chr(code)}{chr(code)}b") == "a\ufffd\ufffdb"


@pytest.mark.parametrize(
    "text",
    [
        "tab\tand\nnewline",
        "क्\u200dष",  # a joiner inside a word
        "👩\u200d👩\u200d👧 ❤️ 🏴",  # joiners and selectors of emoji
        "\u200b \u00a0 \u2028 \u200e \u2060 \ufeff",
        "🚀",
        "",
    ],
)
def test_everything_else_stays(text: str) -> None:
    """Joiners, selectors, emoji, tabs, newlines and unusual spaces are left alone."""
    assert clean(text) == text
    assert is_clean(text)


@given(any_text)
def test_cleaning_is_idempotent_and_leaves_nothing_forbidden(text: str) -> None:
    """What has been cleaned once holds no forbidden character and stays as it is."""
    cleaned = clean(text)

    assert not forbidden(cleaned)
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize("size", [3_999, 4_000, 4_001, 20_000])
@pytest.mark.parametrize("control", ["\x00", "\x1f", "\x7f", "\r"])
def test_a_control_is_found_in_a_text_of_any_length(size: int, control: str) -> None:
    """The quick checks for short and for long texts agree."""
    assert not is_clean("x" * size + control)
    assert is_clean("x" * size + "\n")


@pytest.mark.parametrize("cap", range(60, 91))
def test_a_cut_splits_no_character(cap: int) -> None:
    """P03: for every cap the cut text fits, ends in its mark and begins as the original."""
    text, was_cut = bound(MIXED, cap)
    kept, mark = text.rsplit("\n", 1)

    assert was_cut
    assert len(text.encode()) <= cap
    assert mark == "[truncated: 120 characters in all]"
    assert MIXED.startswith(kept)
    assert len(text.encode()) > cap - 4
    assert "\ufffd" not in text


@pytest.mark.parametrize("text", [MIXED, "x" * 360, "€" * 120, "a\n" * 180])
def test_a_text_of_exactly_the_cap_is_untouched(text: str) -> None:
    """Exactly at the cap nothing is cut, one byte below it is."""
    assert len(text.encode()) == 360
    assert bound(text, 360) == (text, False)
    assert bound(text, 359)[1] is True


@given(any_text, st.integers(0, 400))
@example("\r\n" * 100 + "x", 100)
@example("a" + "\r\n" * 100, 100)
@example("\r\n" * 100, 100)
@example("a" + "\r\n" * 50, 50)
def test_a_bounded_text_fits_and_is_clean(text: str, cap: int) -> None:
    """For all texts and caps the result fits, is clean, and its start is the cleaned text's."""
    bounded, was_cut = bound(text, cap)

    assert len(bounded.encode()) <= cap
    assert not forbidden(bounded)
    if was_cut:
        kept = bounded.rsplit("\n[trunc", 1)[0] if "\n[trunc" in bounded else ""
        assert clean(text).startswith(kept)
        assert len(clean(text).encode()) > cap
    else:
        assert bounded == clean(text)


def test_the_mark_counts_the_characters_of_the_original() -> None:
    """The mark tells how long the whole was, before cleaning."""
    assert bound("\r\n" * 1_000, 100)[0].endswith("[truncated: 2000 characters in all]")


def test_a_giant_is_cut_to_the_cap() -> None:
    """Five million characters end in 50,000 bytes, whatever they are."""
    for character in ("x", "\x00", "\ud800", "€", "\r\n"):
        text, was_cut = bound(character * 5_000_000)

        assert was_cut
        assert CONTENT_BYTES - 4 < len(text.encode()) <= CONTENT_BYTES


def test_mending_replaces_each_half_of_a_pair_that_python_holds_apart() -> None:
    """Two surrogates side by side in a `str` are two lone ones, never joined to a character."""
    assert mend("a\ud83d\ude80b\udce9") == "a\ufffd\ufffdb\ufffd"
    assert mend("🚀") == "🚀"


def test_a_subclass_of_str_is_read_without_asking_it() -> None:
    """The characters of a text are taken from it, not from methods that a plugin wrote."""
    loud = Loud("abc")

    assert exact(loud) == "abc"
    assert type(exact(loud)) is str
    assert short(loud) == "abc"


@given(any_text)
def test_a_short_name_is_one_clean_line_of_64_characters(name: str) -> None:
    """A name that somebody else chose fits a line of a log."""
    shown = short(name)

    assert len(shown) <= 64
    assert not forbidden(shown)
    assert "\n" not in shown
    assert "\t" not in shown


def test_a_name_that_is_no_text_is_told_by_its_type() -> None:
    """A wrong kind of name shows its type, never its value."""
    assert short(4_000_777) == "int"
