"""What a stored copy keeps of content, by the level of privacy (policy-and-runs, Privacy)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from toolseam.guards import mask_fields, mask_secrets
from toolseam.runs import Privacy

if TYPE_CHECKING:
    from collections.abc import Mapping

CHARACTERS = 2_000
# What is kept is the beginning; a secret that this cut beheads is far behind it.
_LOOKED_AT = 100_000
_MAIL = re.compile(r"[\w.%+'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_TOO_DEEP = "[nested too deeply]"


def kept(content: Mapping[str, Any], level: Privacy) -> dict[str, Any] | None:
    """Return what is stored of the content of a step; None is nothing at all.

    Args:
        content: JSON values by content key.
        level: `none` and `metadata` keep nothing, `redacted` the shape, `full` all of it.
    """
    if level is Privacy.FULL:
        return dict(content)
    if level is Privacy.REDACTED:
        return {key: redacted(value) for key, value in content.items()}
    return None


def redacted(value: object) -> object:
    """Return a copy of a JSON value whose texts, and keys, went through the redactor.

    What stands under a sensitive name is masked whole. Two keys that become one stay two.
    """
    try:
        return _with_redacted_keys(mask_fields(value, redact))
    except RecursionError:
        return _TOO_DEEP


def redact(text: str) -> str:
    """Return a text without secret shapes and e-mail addresses, of at most 2,000 characters.

    This lowers the risk, it does not remove it.
    """
    said, _ = mask_secrets(text[:_LOOKED_AT])
    said = _MAIL.sub("[e-mail]", said)
    if len(said) <= CHARACTERS:
        return said
    return f"{said[:CHARACTERS]} [{len(text):,} characters in all]"


def _with_redacted_keys(value: object) -> object:
    if isinstance(value, dict):
        found: dict[str, object] = {}
        for key, each in cast("dict[str, object]", value).items():
            name = plain = redact(key)
            number = 1
            while name in found:
                number += 1
                name = f"{plain} ({number})"
            found[name] = _with_redacted_keys(each)
        return found
    if isinstance(value, list):
        return [_with_redacted_keys(each) for each in cast("list[object]", value)]
    return value
