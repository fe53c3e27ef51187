"""The demo's logs: the current file, a rotated one, and an older one that was packed."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from toolseam.cli._demo._files import CALLER_LINE, PRICES_LINE, WEB_LINE

if TYPE_CHECKING:
    from pathlib import Path

_OLDEST = """\
2026-03-14 08:00:02,114 INFO museum: started
2026-03-14 09:12:40,770 WARNING museum.cache: entry home-en is 301 seconds old
2026-03-14 17:58:11,001 INFO museum: GET /health
"""
_OLDER = """\
2026-03-15 08:00:01,921 INFO museum: started
2026-03-15 10:31:07,415 INFO museum: GET /pages/visit
2026-03-15 11:02:55,318 WARNING museum: app/pages.py:21: DeprecationWarning: positional languages
2026-03-15 15:44:20,096 ERROR museum.mail: mail.museum.example did not answer within 15 s
"""
_NEWEST = f"""\
2026-03-16 08:00:02,240 INFO museum: started
2026-03-16 09:05:13,502 INFO museum: GET /tickets/3/price
2026-03-16 09:05:13,509 ERROR museum: request failed
Traceback (most recent call last):
  File "app/web.py", line {WEB_LINE}, in price
    return {{"event": int(event), "cents": prices.price_of(int(event))}}
  File "app/prices.py", line {CALLER_LINE}, in price_of
    return cents(row["price"])
  File "app/prices.py", line {PRICES_LINE}, in cents
    return int(euros) * 100 + int(rest or 0)
ValueError: invalid literal for int() with base 10: '14,00'
2026-03-16 09:06:41,033 INFO museum: GET /pages/visit
2026-03-16 09:20:00,871 WARNING museum.cache: entry home-de is 309 seconds old
"""


def write_logs(folder: Path) -> None:
    """Write `museum.log`, `museum.log.1` and `museum.log.2.gz`."""
    folder.mkdir()
    (folder / "museum.log").write_text(_NEWEST, encoding="utf-8")
    (folder / "museum.log.1").write_text(_OLDER, encoding="utf-8")
    (folder / "museum.log.2.gz").write_bytes(gzip.compress(_OLDEST.encode(), mtime=0))
