"""Secrets that show by the name they are assigned to, in one line of source or configuration."""

import re

from toolseam.guards._names import is_sensitive_name, mentions_secret
from toolseam.guards._secrets import MASK

# A name, perhaps quoted or the last of a subscript, then what assigns to it. A comparison counts
# where a literal follows, a comma where it parts the name in a call from a literal.
_PAIR = re.compile(
    r"(?<![\w.$-])(?P<name>[\w.$-]++)[\"'`]?\]?[?!]?[ \t]*+"
    r"(?P<sign>=>|[!=]==?(?=[ \t]*[\"'])|[:?|+&]{0,2}=(?!=)|:(?!:)|,(?=[ \t]*[\"']))[ \t]*"
)
_TARGETS = re.compile(r"[ \t]*(?P<targets>[^=:#\"']{1,200}?)[ \t]{0,40}:?=(?![=>~])[ \t]*")
_NAME = re.compile(r"[\w.$-]+")

_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'")
_COMPARES = frozenset({"==", "===", "!=", "!=="})
_LOOK_BACK = 500

_LITERAL = re.compile(
    r"[A-Za-z]{0,2}(?:\"(?!\"\")(?:[^\"\\]|\\.)*+\"|'(?!'')(?:[^'\\]|\\.)*+')(?=\s*(?:[,;)\]}]|$))"
    r"|[\w.+-]++(?=\s*(?:[)\]}]|,(?:\s|$)))"
)
# Masked already, or one of the constants that tell nothing.
_CLEAN = re.compile(
    rf"(?:{re.escape(MASK)}|None|True|False|null|true|false|\"\"|'')(?=\s*(?:[,;)\]}}]|$))"
)

_TYPE_NAME = r"(?:str|bytes|int|float|bool|None|Any|object|string|number|boolean|null)\b"
_DECLARED = re.compile(rf"{_TYPE_NAME}(?:[ \t]*\|[ \t]*{_TYPE_NAME})*[ \t]*(?:[,)}};#]|=[ \t]*|$)")
_ANNOTATION = re.compile(r"(?:[^=,()\[\]]|\[[^\[\]]*\])*+(?:=[ \t]*|(?=[,)])|$)")
_CONTROL = re.compile(
    r"[ \t]*(?:async[ \t]+)?(?:if|elif|else|while|for|with|def|class|try|except|match|case|switch"
    r"|fn|func|function)\b|.*\blambda\b"
)

# What puts no sign between the name and the value.
_UNSIGNED = (
    re.compile(r"(?<![\w-])--?(?P<name>[A-Za-z][\w-]*)[ \t]+(?P<value>[^\s-]\S*)"),
    re.compile(r"<(?P<name>[A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>(?P<value>[^<]+)"),
    re.compile(r"(?:key|name)=[\"'](?P<name>[^\"']+)[\"']\s+value=(?P<value>\"[^\"]*\"|'[^']*')"),
    re.compile(r"^\s*(?:ENV|ARG|setenv|SetEnv|set(?:\s+-\w+)+)\s+(?P<name>\w+)\s+(?P<value>\S.*)"),
)


def mask_assignment(line: str) -> str:
    """Mask the right side of an assignment whose left side is a sensitive name, in one line.

    Assignments are the forms of Python, JSON, YAML, TOML, INI, environment files, shells, XML and
    most other languages: quoted keys, keyword arguments, annotated names, comparisons with a
    literal and command-line flags included. A literal within a bracket of its line is masked by
    itself, anything else to the end of the line. An empty right side stays empty.

    Args:
        line: One line without its line end; ``mask_source`` takes text of several.

    Returns:
        The line, the same object where nothing in it is assigned to a sensitive name.
    """
    return mask_line(line)[0]


def mask_line(line: str) -> tuple[str, str | None]:
    """Mask one line; tell too what was masked to its end, for it may go on in the next line.

    Args:
        line: One line without its line end.

    Returns:
        The masked line, and the right side that ran to the end of the line (empty if it had
        nothing), or None if there is none.
    """
    if not mentions_secret(line):
        return line, None
    targets = _TARGETS.match(line)
    if targets and "," in targets["targets"] and open_brackets(targets["targets"]) == 0:
        names = _NAME.findall(targets["targets"])
        if any(map(is_sensitive_name, names)):
            return line[: targets.end()] + MASK, line[targets.end() :]
    masked, rest = _mask_pairs(line)
    for pattern in _UNSIGNED:
        masked = pattern.sub(_mask_value, masked)
    return masked, rest


def open_brackets(text: str) -> int:
    """Count the brackets that a text leaves open, those within string literals apart."""
    bare = _STRING.sub("", text)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def _mask_value(match: re.Match[str]) -> str:
    """Replace the value of a match if its name is sensitive."""
    if not is_sensitive_name(match["name"]):
        return match[0]
    start, stop = (place - match.start() for place in match.span("value"))
    return match[0][:start] + MASK + match[0][stop:]


def _mask_pairs(line: str) -> tuple[str, str | None]:
    """Mask the values of the pairs of a line, from left to right."""
    shown: list[str] = []
    place = here = counted = depth = 0
    while pair := _PAIR.search(line, here):
        here = start = pair.end()
        before = line[max(0, pair.start() - _LOOK_BACK) : pair.start()]
        if not is_sensitive_name(pair["name"]) or not _assigns(before, pair, line):
            continue
        depth += open_brackets(line[counted : pair.start()])
        counted = pair.start()
        if pair["sign"] == ":":
            declared = (_ANNOTATION if _in_call(before) else _DECLARED).match(line, start)
            if declared:
                if "=" not in declared[0]:
                    continue
                start = declared.end()
        if clean := _CLEAN.match(line, start):
            here = clean.end()
        elif start == len(line):
            return "".join((*shown, line[place:])), ""
        elif (literal := _LITERAL.match(line, start)) and (depth > 0 or pair["sign"] in _COMPARES):
            shown += (line[place:start], MASK)
            here = place = literal.end()
        else:
            return "".join((*shown, line[place:start], MASK)), line[start:]
    return ("".join((*shown, line[place:])) if shown else line), None


def _assigns(before: str, pair: re.Match[str], line: str) -> bool:
    """Tell whether a comma parts name and value of a call, and a colon opens no block of code."""
    if pair["sign"] == ",":
        return before.rstrip("\"'`").endswith("(")
    if pair["sign"] != ":":
        return True
    if pair.end() == len(line):
        return not _CONTROL.match(line)
    return not re.search(r"\blambda\b[^:]*$", before)


def _in_call(before: str) -> bool:
    """Tell whether a name stands in round brackets, where a colon annotates."""
    bare = _STRING.sub("", before)
    return bare.count("(") > bare.count(")") and bare.rfind("(") > bare.rfind("{")
