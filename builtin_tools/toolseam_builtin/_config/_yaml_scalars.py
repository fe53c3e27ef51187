"""What a bare YAML scalar is, by the rules of YAML 1.1 that PyYAML keeps."""

from __future__ import annotations

import re

from toolseam_builtin._config._model import Written

_LONGEST = 100
"""A longer scalar is text: nobody writes such a number, and base 60 takes quadratic time."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_YES = frozenset({"yes", "Yes", "YES", "on", "On", "ON"})
_NO = frozenset({"no", "No", "NO", "off", "Off", "OFF"})
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
_OTHER_BASE = re.compile(r"[-+]?0(?:b[01_]+|x[0-9a-fA-F_]+)")
_BASE_60 = re.compile(r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+")
_BASE_60_FLOAT = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*")
_FLOAT = re.compile(r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?"
    r"(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?"
)


def resolve(text: str) -> tuple[object, str | None]:
    """Return the value of a bare scalar, and what it is taken for where that may surprise."""
    if text in _NULLS:
        return None, None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE, None
    if text in _YES or text in _NO:
        truth = text in _YES
        return Written(f"{'true' if truth else 'false'} (written {text})", truth), "a boolean"
    if len(text) > _LONGEST or not (text[0] in "-+." or text[0].isdigit()) or not text.isascii():
        return text, None
    return _number(text)


def _number(text: str) -> tuple[object, str | None]:
    bare = text.replace("_", "")
    if _DECIMAL.fullmatch(text):
        return _told(text, int(bare), "a number" if "_" in text else None)
    if _OCTAL.fullmatch(text):
        return _told(text, int(bare, 8), "an octal number")
    if _OTHER_BASE.fullmatch(text) and len(bare.lstrip("+-")) > len("0x"):
        return _told(text, int(bare, 0), None)
    if _BASE_60.fullmatch(text):
        return _told(text, int(_base_60(bare)), "a number to base 60")
    if _FLOAT.fullmatch(text):
        number = float(bare)
        short = repr(number) != text.removeprefix("+")
        return _told(text, number, "a number, without its last zeros" if short else None)
    if _BASE_60_FLOAT.fullmatch(text):
        return _told(text, _base_60(bare), "a number to base 60")
    if _NO_NUMBER.fullmatch(text):
        return Written(text, text), None
    if _DATE.fullmatch(text):
        return Written(text, text), "a date"
    if _TIME.fullmatch(text):
        return Written(text, text), "a date with its time"
    return text, None


def _told(text: str, value: float, odd: str | None) -> tuple[object, str | None]:
    if value in {float("inf"), float("-inf")}:
        return Written(text, text), odd
    shown = str(value)
    return (value if shown == text else Written(f"{shown} (written {text})", value)), odd


def _base_60(bare: str) -> float:
    sign = -1 if bare.startswith("-") else 1
    whole: float = 0
    for part in bare.lstrip("+-").split(":"):
        whole = whole * 60 + (float(part) if "." in part else int(part))
    return sign * whole
