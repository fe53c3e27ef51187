import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import pictures
from toolseam_builtin._storages import Image, read_image

KINDS = {
    pictures.PNG: "image/png",
    pictures.GIF: "image/gif",
    pictures.BMP: "image/bmp",
    pictures.OLD_BMP: "image/bmp",
    pictures.JPEG: "image/jpeg",
    pictures.WEBP_EXTENDED: "image/webp",
    pictures.WEBP_LOSSLESS: "image/webp",
    pictures.WEBP_LOSSY: "image/webp",
}


@pytest.mark.parametrize("picture", KINDS, ids=lambda picture: repr(picture[:16]))
def test_the_size_is_read_from_the_head(picture: bytes) -> None:
    """Each format tells width and height, whatever follows the head."""
    assert read_image(picture) == Image(KINDS[picture], 3, 2)
    assert read_image(picture + b"\0" * 100) == Image(KINDS[picture], 3, 2)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ('<svg width="3" height="2"/>', (3, 2)),
        ("<svg xmlns='x' width='3px' height='2.5px' viewBox='0 0 9 9'>", (3, 2.5)),
        (
            '<?xml version="1.0"?>\n<!-- <svg width="9" height="9"/> -->\n<svg viewBox="0,0 3,2">',
            (3, 2),
        ),
        ('\ufeff<!DOCTYPE svg PUBLIC "a" "b"><svg width="100%" viewBox="0 0 3 2"/>', (3, 2)),
        ("<svg:svg viewBox='-1 -1 3 2'>", (3, 2)),
        ('<svg width="3em" height="2em"/>', (None, None)),
        ("<svg>", (None, None)),
        ('<svg title="a > b" width="3" height="2">', (3, 2)),
    ],
)
def test_a_drawing_tells_its_size_or_its_view_box(
    text: str, size: tuple[float | None, float | None]
) -> None:
    """Width and height count in pixels, else the view box; other units are no pixels."""
    assert read_image(text.encode()) == Image("image/svg+xml", *size)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE svg [<!ENTITY w "3"><!ENTITY l "&w;&w;">]><svg width="&l;" height="&w;"/>',
        '<!DOCTYPE svg [<!ENTITY w SYSTEM "file:///etc/passwd">]><svg width="&w;" height="2"/>',
    ],
)
def test_no_entity_is_expanded(text: str) -> None:
    """A drawing that names entities has no size: nothing is looked up or put in their place."""
    assert read_image(text.encode()) == Image("image/svg+xml")


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"<", b"<html><svg width='3' height='2'/></html>", b"svg", b"RIFF0000WAVEfmt "),
        *(b"BMxx", b"\x89PNG", b"GIF88a", b"<svgx width='3'>", b"<!-- <svg>"),
    ],
)
def test_what_begins_no_image_is_none(data: bytes) -> None:
    """Other content is no image, whatever it holds further on."""
    assert read_image(data) is None


@given(st.sampled_from(sorted(KINDS)), st.data())
def test_a_torn_head_never_fails(picture: bytes, data: st.DataObject) -> None:
    """Cut off or overwritten anywhere, a head gives a size, none, or no image, and no exception."""
    cut = data.draw(st.integers(0, min(len(picture), 200)))
    noise = data.draw(st.binary(max_size=20))

    image = read_image(picture[:cut] + noise)

    assert image is None or image.type in {*KINDS.values(), "image/svg+xml"}


@given(st.text(st.sampled_from("<>!-[]\"'=? svgDOCTYPEwidth&;0"), max_size=300))
def test_no_markup_fails(text: str) -> None:
    """Whatever a drawing's head holds, reading it ends without an exception."""
    read_image(f"<svg {text}".encode())
    read_image(f"<!DOCTYPE {text}<svg width='3' height='2'>".encode())


@pytest.mark.parametrize(
    "part",
    ["<!--", "<!DOCTYPE ", "<!DOCTYPE [", "<?", "<svg ", "<svg a='", " width", "<svg a=b "],
)
def test_hostile_markup_takes_no_time(part: str) -> None:
    """A head full of beginnings without an end is looked through in well under a second."""
    begin = time.process_time()

    read_image(("<svg>" + part * 60_000)[:262_144].encode())
    read_image((part * 60_000 + "svg")[:262_144].encode())

    assert time.process_time() - begin < 0.5
