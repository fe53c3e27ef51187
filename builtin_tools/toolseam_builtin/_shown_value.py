"""The value of a variable or setting as it may be shown, judged by its name and by what it is."""

from __future__ import annotations

import json
import re

from toolseam import guards

WITHHELD = "[withheld]"
_WORKING_FOLDER = "PWD"
_USERINFO_ALONE = re.compile(r"[^\s:/@]*:[^\s@/]+(?=@[\w.-]+(?::\d+)?(?:/\S*)?$)")


def shown_value(name: str, value: str) -> str:
    """Mask the value of a variable; where masking fails, the value is withheld."""
    if not value:
        return value
    if guards.is_sensitive_name(name) and not (name == _WORKING_FOLDER and value.startswith("/")):
        return guards.MASK
    try:
        return _masked(value)
    except Exception:  # noqa: BLE001 - whatever it was, a value that was not judged is not shown
        return WITHHELD


def _masked(value: str) -> str:
    """Mask by the keys of JSON, by assignments within the value, by URL and by shape."""
    if value.lstrip()[:1] in {"{", "["}:
        try:
            document = json.loads(value)
        except ValueError:
            return guards.mask_source(value)
        masked = guards.mask_fields(document, _masked)
        return value if masked == document else json.dumps(masked, ensure_ascii=False)
    return _USERINFO_ALONE.sub(guards.MASK, guards.mask_source(value))
