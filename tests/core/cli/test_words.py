from typing import Any

import pytest

from toolseam.cli._words import UsageError, arguments_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": ["boolean", "null"]},
        "either": {"type": ["integer", "string"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "sizes": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "where": {"type": "object"},
        "mode": {"enum": ["a", "b"]},
        "level": {"enum": [1, 2]},
        "kind": {"$ref": "#/$defs/kind"},
        "loop": {"$ref": "#/$defs/loop"},
    },
    "$defs": {"kind": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}},
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["text=5"], {"text": "5"}),
        (["text=a=b"], {"text": "a=b"}),
        (["text="], {"text": ""}),
        (["text=null"], {"text": "null"}),
        (["maybe=null"], {"maybe": "null"}),
        (["count=5"], {"count": 5}),
        (["count=five"], {"count": "five"}),
        (["ratio=2"], {"ratio": 2}),
        (["flag=true"], {"flag": True}),
        (["flag=null"], {"flag": None}),
        (["either=7"], {"either": 7}),
        (["either=seven"], {"either": "seven"}),
        (["either=true"], {"either": "true"}),
        (["names=ada"], {"names": ["ada"]}),
        (["names=ada", "names=5"], {"names": ["ada", "5"]}),
        (['names=["a", "b"]'], {"names": ["a", "b"]}),
        (["sizes=1", "sizes=2"], {"sizes": [1, 2]}),
        (['where={"a": 1}'], {"where": {"a": 1}}),
        (["where={"], {"where": "{"}),
        (["mode=a"], {"mode": "a"}),
        (["level=1"], {"level": 1}),
        (["kind=3"], {"kind": 3}),
        (["loop=3"], {"loop": "3"}),
        (["unknown=3"], {"unknown": "3"}),
        (["count=" + "[" * 100_000], {"count": "[" * 100_000}),
    ],
)
def test_a_word_is_json_where_no_text_is_declared(
    words: list[str], expected: dict[str, Any]
) -> None:
    """A word becomes what its schema declares; what is no JSON stays text for the seam to judge."""
    assert arguments_of(words, SCHEMA) == expected


@pytest.mark.parametrize("words", [["text"], ["=x"], ["text=a", "text=b"], ["other=1", "other=2"]])
def test_a_word_that_cannot_be_read_is_refused(words: list[str]) -> None:
    """A word without a key or a value, or given twice without need, is usage."""
    with pytest.raises(UsageError):
        arguments_of(words, SCHEMA)
