"""The shapes that secrets have, each as a function from a text to the places of its secrets.

Each one has a gate besides, which lets every text through that holds one of its secrets and hardly
any other: whether there is anything to look for is found out twenty times faster than where.

Every pattern begins with a literal character that is rare in prose and in code, its pivot, and
looks back from there: one literal character is found at the speed of memory, anything else a
hundred times slower. A text whose shapes nobody looks for costs no compilation.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from toolseam.guards._basic import BASIC_GATE, basic_pairs
from toolseam.guards._gate import Gate
from toolseam.guards._names import STEMS, is_sensitive_name

Spans = Callable[[str], Iterator[tuple[int, int]]]

_SECRET_IN_QUERY = frozenset({"key", "sig", "signature", "auth", "odbc_connect", "accountkey"})
_HARMLESS_IN_QUERY = frozenset({"hash", "salt"})
_MODES = ("live", "test")


class Shape(NamedTuple):
    """One shape: the gate that a text passes first, and the places of its secrets in there."""

    gate: Gate
    spans: Spans


def _find(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Find all places of a pattern, which is compiled when a text first needs it."""
    return re.finditer(pattern, text, re.ASCII)


def _token(prefix: str, rest: str, pivot: int = 0, gate: str = "") -> Shape:
    """Find tokens that are no part of a longer word: a fixed prefix, then what ``rest`` says.

    A ``rest`` that looks around needs a ``gate`` of its own: how it has to begin.
    """
    head, tail = re.escape(prefix[: pivot + 1]), re.escape(prefix[pivot + 1 :])
    literal = re.escape(prefix[pivot]) if pivot else head + tail
    back = f"(?<={head})(?<!\\w{head}){tail}" if pivot else f"(?<!\\w{head + tail})"
    pattern = f"{literal}{back}{rest}(?!\\w)"

    def spans(text: str) -> Iterator[tuple[int, int]]:
        return ((match.start() - pivot, match.end()) for match in _find(pattern, text))

    # How far the last run goes is nothing to a gate.
    least = gate or re.sub(r",\}$", "}", rest)
    return Shape(Gate(re.escape(prefix) + least, literals=(prefix,)), spans)


def _family(look: str, *tokens: Shape) -> Shape:
    """Find tokens of many vendors, in a text in which somewhere is what ``look`` says."""

    def spans(text: str) -> Iterator[tuple[int, int]]:
        if re.search(look, text, re.ASCII):
            found = [span for token in tokens if token.gate(text) for span in token.spans(text)]
            yield from sorted(found)

    return Shape(
        Gate("|".join(pattern for token in tokens for pattern in token.gate.patterns)), spans
    )


def _group(gate: Gate, pattern: str) -> Shape:
    """Find the first group of a pattern."""

    def spans(text: str) -> Iterator[tuple[int, int]]:
        return (match.span(1) for match in _find(pattern, text))

    return Shape(gate, spans)


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Find private-key blocks; one that is cut off runs on for as long as it looks like one."""
    return ((match.start() - 5, match.end()) for match in _find(_PRIVATE_KEY, text))


def _is_credential(name: str) -> bool:
    """Tell whether a parameter of a URL is a credential; a hash there names a file."""
    if name in _HARMLESS_IN_QUERY:
        return False
    return name.rpartition("-")[2] in _SECRET_IN_QUERY or is_sensitive_name(name)


def _queries(text: str) -> Iterator[tuple[int, int]]:
    """Find the values of credentials in the query of a URL or in a connection string."""
    for pattern in _QUERY:
        for match in _find(pattern, text):
            if _is_credential(match[1].lower().replace("%5f", "_")):
                yield match.span(2)


def _userinfo(text: str) -> Iterator[tuple[int, int]]:
    """Find what stands between the scheme and the host of a URL, but for the user ``git``."""
    for match in _find(_USERINFO, text):
        number = match.lastindex or 0
        if match[number] != "git":
            yield match.span(number)


_KEY_GATE = Gate("-----BEGIN [A-Z0-9 ]*PRIVATE KEY", literals=("-----BEGIN ",))

# Without its end, a block is as many lines as look like its body, and what is left of the last.
_PRIVATE_KEY = (
    r"B(?<=-----B)EGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
    r"(?:(?:(?!-----BEGIN )[\s\S]){0,20000}?-----END [A-Z0-9 ]{0,60}-----"
    r"|(?:(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]*))+"
    r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{1,15})?)"
)

_QUERY = tuple(
    first + r"([A-Za-z][\w.%\[\]-]{1,60})=" + value
    for first, value in (
        (r"\?", r"([^&\s\"'<>#\\]+)"),
        ("&", r"([^&\s\"'<>#\\]+)"),
        (";", r"([^;\s\"'<>]+)"),
    )
)

# One of these words somewhere in the name of a parameter is necessary.
_QUERY_GATE = Gate(
    r"[?&;][\w.%\[\]-]*"
    rf"(?i:{'|'.join((*STEMS, 'sig', 'auth', 'odbc'))})"
    r"[\w.%\[\]-]*=",
    literals=("=",),
)

_USERINFO_GATE = Gate(r":\\?/\\?/[^\t-\r \"'<>@]*@", literals=("@",))

# The second form is a password that was not percent-encoded; a port is none, nor is an IPv6 host.
_USERINFO = (
    r":(?:\\?/){2}(?:([^\s/?#\"'<>\\]+)(?=@)"
    r"|([^\s/?#\"'<>\\:@\[]{0,200}:(?!\d+[/?#\"'])(?:(?!://)[^\s\"'<>@]){1,200})(?=@))"
)

_BEARER_GATE = Gate(
    r"(?:earer|EARER) +(?:[A-Za-z._~+/-]*(?:[0-9]|[a-z][A-Z])|[A-Za-z]{24})",
    literals=("earer ", "EARER "),
)
_BEARER = (
    r"(?:earer|EARER) +"
    r"((?=[A-Za-z._~+/-]*(?:[0-9]|[a-z][A-Z])|[A-Za-z]{24})[A-Za-z0-9._~+/=-]{8,})"
)
_AUTHORIZATION_GATE = Gate(
    r"(?:uthorization|UTHORIZATION)[\"']?[\t-\r ]{0,4}[:=]",
    literals=("uthorization", "UTHORIZATION"),
)
_AUTHORIZATION = (
    r"(?:uthorization|UTHORIZATION)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
    r"(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|Negotiate|ApiKey) +((?![a-z]+\b)[^\s\"',;]{4,})"
)

_UNDERSCORED = _family(
    r"_[A-Za-z0-9]{20}",
    *(_token(f"gh{kind}_", "[A-Za-z0-9]{30,}") for kind in "pousr"),
    _token("github_pat_", r"\w{22,}"),
    *(_token(f"{kind}k_{mode}_", "[A-Za-z0-9]{20,}") for kind in "spr" for mode in _MODES),
    _token("whsec_", "[A-Za-z0-9+/=]{20,}"),
    _token("npm_", "[A-Za-z0-9]{30,}"),
    *(_token(f"do{kind}_v1_", "[a-f0-9]{40,}") for kind in "opr"),
    *(_token(f"shp{kind}_", "[A-Fa-f0-9]{32,}") for kind in ("at", "ca", "pa", "ss")),
    _token("hf_", "[A-Za-z0-9]{30,}"),
    _token("gsk_", "[A-Za-z0-9]{30,}"),
    _token("lin_api_", "[A-Za-z0-9]{32,}"),
    _token("glsa_", "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    *(_token(f"sntry{kind}_", r"[\w+/=]{40,}") for kind in "su"),
)

# Words with dashes between them are no key: one long run, or a digit and a capital, must be there.
_MIXED = (
    r"(?<!-sk-)(?=[\w-]{0,200}?[A-Za-z0-9]{16}"
    r"|(?=[a-z0-9_-]{0,200}[A-Z])[A-Za-z_-]{0,200}[0-9])"
)

_DASHED = _family(
    r"-(?:[A-Za-z0-9]{16}|(?=[a-z_-]{0,40}[A-Z0-9])[\w-]{12})",
    _token("sk-", _MIXED + r"[\w-]{16,}", gate=r"[\w-]{16}"),
    _token("xox", r"[abeoprs]-[\w-]{10,}"),
    _token("xapp-", r"[\w-]{10,}"),
    *(_token(f"gl{kind}-", r"[\w-]{16,}") for kind in ("pat", "dt", "rt", "ptt", "cbt", "soat")),
    _token("pypi-", r"A[\w-]{50,}"),
    _token("GOCSPX-", r"[\w-]{20,}"),
    _token("key-", "[a-f0-9]{32}"),
    _token("PMAK-", "[a-f0-9-]{40,}"),
    _token("xai-", "[A-Za-z0-9]{40,}"),
    *(_token(f"sq0{kind}-", r"[\w-]{20,}") for kind in ("atp", "csp")),
    _token("tskey-", r"[\w-]{20,}"),
    _token("AGE-SECRET-KEY-", "1[A-Z0-9]{50,}"),
)

SHAPES: tuple[Shape, ...] = (
    Shape(_KEY_GATE, _private_keys),
    Shape(_USERINFO_GATE, _userinfo),
    Shape(_QUERY_GATE, _queries),
    _group(_AUTHORIZATION_GATE, _AUTHORIZATION),
    Shape(BASIC_GATE, basic_pairs),
    _group(_BEARER_GATE, _BEARER),
    _token("eyJ", r"[\w-]{8,512}(?:\.[\w-]{2,}){1,4}\.?", 2, r"[\w-]{8}"),
    _token("AKIA", "[A-Z0-9]{16,}", 1),
    _token("ASIA", "[A-Z0-9]{16,}", 1),
    _token("SK", "[0-9a-f]{32}"),
    _token("AIza", r"[\w-]{35,}", 2),
    _token("SG.", r"[\w-]{16,}\.[\w-]{16,}", 1),
    _token("ya29.", r"[\w-]{20,}", 3),
    _token("hvs.", r"[\w-]{20,}", 1),
    _token("ATATT3", r"[\w=-]{40,}", 5),
    _group(
        Gate(r"hooks\.slack\.com/", literals=("hooks.slack.com/",)),
        r"hooks\.slack\.com/(?:services|workflows)/([\w/]{20,})",
    ),
    _group(
        Gate("/api/webhooks/", literals=("/api/webhooks/",)),
        r"/api/webhooks/(\d{10,}/[\w-]{40,})",
    ),
    _group(Gate(r":AA[\w-]{33}", literals=(":AA",)), r":(AA[\w-]{33})"),
    _UNDERSCORED,
    _DASHED,
)

# A pass over the text for each pattern, so that few are better; but the engine looks for some
# thirty literals at the speed of one, and for twice as many at a tenth of it.
_ALONE = (_KEY_GATE, _USERINFO_GATE, _QUERY_GATE, BASIC_GATE, _UNDERSCORED.gate, _DASHED.gate)
_TOGETHER = (shape.gate for shape in SHAPES if shape.gate not in _ALONE)

ANY_SHAPE = Gate(
    *(pattern for gate in _ALONE for pattern in gate.patterns),
    "|".join(pattern for gate in _TOGETHER for pattern in gate.patterns),
)
"""What any of the shapes lets through."""
