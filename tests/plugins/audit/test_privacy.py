"""What a stored copy keeps, by level: the redactor on leaves and keys, and planted secrets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.audit import TEXT, Kept, host
from support.tools import ADA, BOB, plugin
from toolseam import Host, ToolArtifact, ToolError, ToolResult
from toolseam.providers import Finish, Reply, ToolCall
from toolseam.runs import Decision, Privacy
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import look
from toolseam_plugins.audit._privacy import CHARACTERS, kept, redact, redacted

PLACES = (
    *("question", "text", "thinking", "call", "arguments", "result", "message", "data", "key"),
    *("metadata", "label", "cell", "preview", "edited", "written", "denied", "answer"),
)
"""Where a secret is planted: at least one place for each content key."""


def secret(place: str) -> str:
    """Return a secret of a known shape that tells where it was planted."""
    return f"sk-{place}{'0123456789abcdef' * 2}"


def tools(done: list[str]) -> list[Any]:
    """Return tools that hold a secret in each channel."""

    def tell(arguments: Any) -> ToolResult:
        cells = [[secret("cell")]]
        return ToolResult.text(
            secret("result"),
            ToolArtifact.table(secret("label"), ["head"], cells),
            data={"x": secret("data"), secret("key"): 1},
            metadata={"note": secret("metadata")},
        )

    def fail(arguments: Any) -> ToolResult:
        raise ToolError(secret("message"))

    def write(arguments: Any) -> ToolResult:
        done.append(arguments["text"])
        return ToolResult.text(secret("written"))

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(secret("preview"))

    return [
        plugin(tell, name="tell", parameters=TEXT),
        plugin(fail, name="fail"),
        plugin(write, name="write", preview=preview, effect="idempotent_write", parameters=TEXT),
    ]


def talk(made: Host) -> str:
    """Have a whole run with a suspension, two decisions and an answer; return its id."""
    reads = (ToolCall("tell", {"text": secret("arguments")}, "1"), ToolCall("fail", {}, "2"))
    writes = (
        ToolCall("write", {"text": secret("call")}, "1"),
        ToolCall("write", {"text": "b"}, "2"),
    )
    provider = ScriptedProvider(
        [
            Reply(secret("text"), reads, thinking=secret("thinking"), finish=Finish.CALLS),
            Reply("", writes, finish=Finish.CALLS),
            secret("answer"),
        ]
    )
    session = made.session(actor=ADA)
    run = session.run(provider, secret("question"))
    assert len(run.pending) == 2
    edit = Decision.edit(run.pending[0], {"text": secret("edited")}, actor=ADA)
    deny = Decision.deny(run.pending[1], actor=BOB, reason=secret("denied"))
    session.decide(run.id, [edit, deny])
    return run.id


def planted(text: bytes) -> set[str]:
    """Return the places whose secret is there, plain or escaped."""
    return {place for place in PLACES if secret(place).encode() in text}


def exports(made: Host) -> bytes:
    """Return all that can be taken out of a store, as text."""
    with look(made.settings) as audit:
        found = [
            [each, list(audit.steps(each["run"])), audit.decisions(each["run"])]
            for each in audit.runs()
        ]
    return json.dumps(found).encode()


@pytest.mark.parametrize("level", ["none", "metadata", "redacted", "full", "whatever"])
def test_planted_secrets_are_where_the_level_lets_them(kept: Kept, level: str) -> None:
    """Not one at `none`, `metadata`, `redacted` and an unknown word; all of them at `full`.

    Looked for in every byte of the database, its log and its exports: while the run waits, when
    it has ended, and when the store is closed.
    """
    done: list[str] = []
    found: list[set[str]] = []

    with host(kept, *tools(done), level=level) as made:
        run_id = talk(made)
        found += [planted(kept.bytes()), planted(exports(made))]
        run = made.session().resume(run_id, [], ScriptedProvider([secret("answer")]))
        made.call("tell", {"text": secret("arguments")}, actor=ADA)
        found += [planted(kept.bytes()), planted(exports(made))]
    found.append(planted(kept.bytes()))

    assert (run.status, done) == ("completed", [secret("edited")])
    if level == "full":
        assert found[-1] == found[-2] == set(PLACES)
    else:
        assert found == [set()] * 5


@pytest.mark.parametrize("level", ["none", "metadata", "redacted", "full"])
def test_what_is_counted_stays_at_every_level(kept: Kept, level: str) -> None:
    """Codes, sizes, names and artifact types are facts; the level is on the run."""
    with host(kept, *tools([]), level=level) as made:
        made.call("tell", {"text": "x"}, actor=ADA)
        made.call("fail", {}, actor=ADA)

    facts = [json.loads(row[0]) for row in kept.rows("SELECT facts FROM run_step ORDER BY seq")]
    assert facts[0] == {"characters": len(secret("result")), "data": True, "artifacts": ["table"]}
    assert kept.rows("SELECT status, tool FROM run_step ORDER BY seq") == [
        ("ok", "tell"),
        ("execution_error", "fail"),
    ]
    assert kept.rows("SELECT level FROM run") == [(level,)]
    content = kept.rows("SELECT content FROM run_step ORDER BY seq")
    assert (content == [(None,), (None,)]) == (level in {"none", "metadata"})


def test_status_is_no_matter_of_text(kept: Kept) -> None:
    """A success that looks like a failure is stored as a success, and the other way round."""

    def lie(arguments: Any) -> ToolResult:
        return ToolResult.text("Error (execution_error): it failed")

    def praise(arguments: Any) -> ToolResult:
        raise ToolError("ok done success", "conflict")

    with host(kept, plugin(lie, name="lie"), plugin(praise, name="praise"), level="full") as made:
        made.call("lie", actor=ADA)
        made.call("praise", actor=ADA)

    assert kept.rows("SELECT status FROM run_step ORDER BY seq") == [("ok",), ("conflict",)]


def test_a_stricter_level_later_keeps_less_from_then_on(kept: Kept) -> None:
    """Each run says under which level it was stored."""
    for level in ("full", "metadata"):
        with host(kept, *tools([]), level=level) as made:
            made.call("tell", {"text": "x"}, actor=ADA)

    found = kept.rows(
        "SELECT r.level, s.content IS NULL FROM run r JOIN run_step s ON s.run_id = r.id"
        " ORDER BY r.began"
    )
    assert [(level, bool(empty)) for level, empty in found] == [
        ("full", False),
        ("metadata", True),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mail ada@example.org now", "mail [e-mail] now"),
        ("ada.l+x@mail.example.co.uk", "[e-mail]"),
        ("key sk-0123456789abcdef0123", "key [masked]"),
        ("nothing to see", "nothing to see"),
        ("a@b", "a@b"),
        ("", ""),
    ],
)
def test_the_redactor(text: str, said: str) -> None:
    """Secret shapes and e-mail addresses go, ordinary text stays."""
    assert redact(text) == said


def test_the_redactor_cuts_and_says_so() -> None:
    """Two thousand characters stay whole; of more the beginning is kept, with the number."""
    assert redact("x" * CHARACTERS) == "x" * CHARACTERS
    assert redact("x" * 2_001) == "x" * CHARACTERS + " [2,001 characters in all]"


def test_a_secret_at_the_cut_is_not_left_half() -> None:
    """What stands over the cut is masked before the cut is made."""
    text = "x" * (CHARACTERS - 10) + " " + secret("edge")

    assert "sk-edge" not in redact(text)


def test_keys_are_redacted_and_stay_apart() -> None:
    """Two keys that become one word are two keys still; what a sensitive name holds is masked."""
    value = {"ada@example.org": 1, "bob@example.org": 2, "password": "plum", "list": [{"k": "v"}]}

    assert redacted(value) == {
        "[e-mail]": 1,
        "[e-mail] (2)": 2,
        "password": "[masked]",
        "list": [{"k": "v"}],
    }


def test_what_is_nested_too_deeply_is_left_out() -> None:
    """Deeper than the redactor looks is not stored as it is."""
    value: Any = "sk-0123456789abcdef0123"
    for _ in range(80):
        value = [value]

    assert redacted(value) == "[nested too deeply]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=9), JSON, max_size=4))
def test_levels_in_general(content: dict[str, Any]) -> None:
    """`full` is verbatim, `none` and `metadata` nothing, `redacted` settles at once."""
    assert kept(content, Privacy.FULL) == content
    assert kept(content, Privacy.NONE) is None
    assert kept(content, Privacy.METADATA) is None
    once = redacted(content)
    assert redacted(once) == once


@given(st.lists(st.sampled_from([*Privacy, "x", ""])))
def test_the_strictest_of_several_words(words: list[str]) -> None:
    """The lowest rank wins, an unknown word counts as `metadata`, and so does no word at all."""
    levels = [Privacy(word) if word in set(Privacy) else Privacy.METADATA for word in words]

    found = Privacy.strictest(*words)

    assert found.rank == min([level.rank for level in levels], default=Privacy.METADATA.rank)
