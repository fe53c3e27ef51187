"""Pictures of 3 by 2 pixels, as small as their formats allow, made by hand."""

from __future__ import annotations

import struct

PNG = (
    b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 3, 2, 8, 2, 0, 0, 0) + b"\0" * 4
)
GIF = b"GIF89a" + struct.pack("<HHBBB", 3, 2, 0, 0, 0) + b";"
BMP = b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + struct.pack("<IiiHH", 40, 3, -2, 1, 24)
OLD_BMP = b"BM" + struct.pack("<IHHI", 26, 0, 0, 26) + struct.pack("<IHHHH", 12, 3, 2, 1, 24)
JPEG = (
    b"\xff\xd8"
    + (b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + b"\0" * 9)
    + (b"\xff\xe1" + struct.pack(">H", 60_000) + b"\xff\xc0" * 29_999)
    + b"\xff\xff\xd0"
    + (b"\xff\xc4" + struct.pack(">H", 4) + b"\0\0")
    + (b"\xff\xc2" + struct.pack(">HBHH", 11, 8, 2, 3) + b"\1\1\x11\0")
)


def webp(chunk: bytes, body: bytes) -> bytes:
    """Return a WebP file of one chunk."""
    inner = b"WEBP" + chunk + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(inner)) + inner


WEBP_EXTENDED = webp(b"VP8X", b"\0\0\0\0" + b"\2\0\0" + b"\1\0\0")
WEBP_LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 2 | 1 << 14) + b"\0")
WEBP_LOSSY = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 3 | 1 << 14, 2))
