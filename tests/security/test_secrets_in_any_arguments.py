"""S8: whatever is asked of whichever builtin, the secret stays in.

The arguments are drawn from each tool's own schema by the generator of the conformance kit; every
text in it may also be one of the names and words that mean something in the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from support.doors import COLUMNS, DENIED, ENVIRONMENT, FILES, READABLE
from support.ground import (
    ELSEWHERE,
    EXAMPLES,
    REFUSALS,
    SITE,
    SLOW,
    WRITERS,
    Ground,
    builtins,
    ground,
    planted,
)
from toolseam_plugins.conformance._generate import falsify

__all__ = ["ground", "planted"]

WORDS = ["canary", "-", "=", "password", "://", "@", "{", '"', "key", "a", "see", "masked", "."]
PATHS = [
    *(name for name in FILES if "CAN" not in name),
    *("app.db", "out", "out/secret.txt", "out.txt", "linked.txt", "docs/out.txt", "logs", "."),
    *("./settings.py", "logs/../config.yaml", "../shop/.env", "../outside/secret.txt", "/"),
    *("harbour.svg", "media:harbour.svg", "id_rsa", ".env", "logs/app.log.1.gz", "base.html"),
]
KEYS = [1, 2, 3, "1", "2", "canary", ""]
PLACES = [
    *("db", "db.password", "db.api_key.0", "token", "auth.client_secret", "CACHE.password"),
    *("auths.registry.example.auth", "auths", "storages", "storages.server", "database", "0"),
]
VOCABULARY: dict[str, Sequence[Any]] = {
    "table": [*READABLE, *DENIED, "sqlite_master", "main.page", "page_token", "PAGE", "nope"],
    **dict.fromkeys(("column", "field", "group_by"), COLUMNS),
    **dict.fromkeys(("key", "parent", "after", "root"), KEYS),
    **dict.fromkeys(("file", "folder"), PATHS),
    "path": [*PATHS, *PLACES],
    "name": [*ENVIRONMENT, *PLACES, "base.html", "out.txt", "../outside/secret.txt", "page"],
    "storage": ["media", "bucket", "server", "nope"],
    "source": ["logs/app.log", "app.log", "shop", "shop.auth", "logs/app.log.1.gz"],
    "since": ["2026-03-16", "2026-03-16T09:05:14Z"],
    "url": [SITE, ELSEWHERE, f"{SITE}?token=a", "/pages/1?token=a", "/hook?token=a", "/nope"],
    "source_id": ["docs/guide.md", "page.title:3", "note.title:1", "docs/linked.txt", "docs/out"],
    "language": ["de", "en"],
    "schema": ["main", "temp", "nope"],
}


def meaningful(name: str, rules: dict[str, Any]) -> dict[str, Any]:
    """Return the rules of an argument, with what means something in the workspace put first."""
    kinds = {kind for each in (rules, *rules.get("anyOf", ())) for kind in _kinds(each)}
    words = VOCABULARY.get(name, WORDS)
    if "object" in kinds:
        fields = [
            {
                "type": "object",
                "properties": {column: {"enum": [*WORDS, 1, None]}},
                "required": [column],
                "additionalProperties": False,
            }
            for column in COLUMNS
        ]
        return {"anyOf": [{"anyOf": fields}, rules]}
    if "array" in kinds:
        items = {"enum": [*COLUMNS, *PLACES]}
        return {"anyOf": [{"type": "array", "items": items, "maxItems": 4}, rules]}
    if "string" in kinds and "enum" not in rules:
        return {"anyOf": [{"enum": [*words]}, {"enum": [*words]}, rules]}
    return rules


def _kinds(rules: dict[str, Any]) -> list[str]:
    kind = rules.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


@pytest.mark.parametrize("nasty", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_question_brings_the_secret_out(ground: Ground, name: str, nasty: bool) -> None:
    """The secret stays, in the previews of writes too, and nothing fails but in its codes."""
    schema: dict[str, Any] = dict(builtins()[name].schema)
    properties = {key: meaningful(key, dict(rules)) for key, rules in schema["properties"].items()}

    def ask(arguments: dict[str, Any]) -> None:
        if name in WRITERS:
            ground.preview(name, arguments)
            return
        result = ground.call(name, arguments)
        allowed = {*REFUSALS, "execution_error"} if name == "get_config" else REFUSALS
        assert result.failure is None or result.failure.code in allowed, result

    count = 20 if properties and name not in SLOW else 3
    found = falsify(
        {**schema, "properties": properties}, ask, count=count, nasty=nasty, seed=len(name)
    )

    assert found is None, (found.arguments, found.error)
