"""Python settings: literals that a module assigns, read and never run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from toolseam import ContractViolation, json_safe
from toolseam_builtin._config._model import NESTING, Broken, Findings, Parsed, Written, too_deep

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 300_000
"""Characters; a syntax tree takes some hundred times as much memory as the text."""

EXPRESSION = Written("[an expression, not evaluated]", None)


def parse_python(text: str) -> Parsed:
    """Read the names that a module assigns at its top level; what is no literal is told as such.

    Names that begin with an underscore are left out.

    Raises `Broken`.
    """
    if len(text) > SIZE:
        limit = f"has {len(text):,} characters; the size limit for Python is {SIZE:,}"
        raise Broken(None, "size", limit)
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise Broken(error.lineno, "syntax", "no Python of this version") from None
    except (ValueError, MemoryError, RecursionError):
        raise Broken(None, "syntax", "no Python that can be read") from None
    values: dict[str, object] = {}
    found: dict[str, list[int]] = {}
    for name, line, node in _assignments(module.body, top=True):
        values[name] = EXPRESSION if node is None else _literal(node)
        if node is not None:
            found.setdefault(name, []).append(line)
    findings = Findings()
    for statement in module.body:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            findings.add(statement.lineno, "not read", "what `import *` brings is not read here")
    for name, lines in found.items():
        if len(lines) > 1:
            findings.doubled((name,), lines, "the last counts")
    return Parsed(values, findings)


def _assignments(body: list[ast.stmt], *, top: bool) -> Iterator[tuple[str, int, ast.expr | None]]:
    """Give name, line and value of what is assigned, no value where it takes running to know."""
    for statement in body:
        targets: list[ast.expr] = getattr(
            statement, "targets", [getattr(statement, "target", None)]
        )
        value: ast.expr | None = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and value is not None:
            sure = top and not isinstance(statement, ast.AugAssign)
            for target in targets:
                known = value if sure and isinstance(target, ast.Name) else None
                yield from ((name, statement.lineno, known) for name in _names(target))
        for block in _blocks(statement):
            yield from _assignments(block, top=False)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Give the blocks of a statement that runs with its module."""
    if isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
        for part in ("body", "orelse", "finalbody"):
            yield getattr(statement, part, [])
        for each in getattr(statement, "handlers", []):
            yield each.body


def _names(target: ast.expr) -> Iterator[str]:
    """Give the names that a target sets or changes, a subscript's too."""
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _names(each)
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name) and not target.id.startswith("_"):
        yield target.id


def _literal(node: ast.expr) -> object:
    """Return the value of a literal; where a part of a dict or list is none, only that part."""
    return _part(node, 0)


def _part(node: ast.expr, depth: int) -> object:
    if depth > NESTING:
        raise too_deep(node.lineno)
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        keys = cast("list[ast.Constant]", node.keys)
        pairs = zip(keys, node.values, strict=True)
        return {_key(key.value): _part(value, depth + 1) for key, value in pairs}
    if isinstance(node, ast.List | ast.Tuple):
        return [_part(each, depth + 1) for each in node.elts]
    try:
        value: object = ast.literal_eval(node)
        if isinstance(value, bytes):
            return Written(f"[{len(value)} bytes]", None)
        # As base64 a secret would have lost its shape.
        return EXPRESSION if _holds_bytes(node) else json_safe(value)
    except (ContractViolation, ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return EXPRESSION


def _holds_bytes(node: ast.expr) -> bool:
    constants = (each for each in ast.walk(node) if isinstance(each, ast.Constant))
    return any(isinstance(each.value, bytes) for each in constants)


def _key(value: object) -> str:
    return value if isinstance(value, str) else repr(value)[:100]
