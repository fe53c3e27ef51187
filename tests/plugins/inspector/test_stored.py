"""What the audit stored, on the page: what its level kept, and the names of what it did not."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from support.audit import Kept, echo, file, host, waiting, writer
from support.inspecting import Page, inspected
from support.tools import ADA, plugin
from toolseam import Host, ToolArtifact, ToolResult
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import look
from toolseam_plugins.inspector import _runs, _stored
from toolseam_plugins.inspector._runs import Runs
from toolseam_plugins.inspector._seen import Seen


def rich(arguments: Any) -> ToolResult:
    """Return a result with something in every channel."""
    table = ToolArtifact.table("Stock", ["item"], [["=1"]])
    return ToolResult.text("content", table, data={"a": 2**60}, metadata={"b": 1})


@contextmanager
def another(kept: Kept, *tools: Any, **audited: Any) -> Generator[Page]:
    """Serve the page of another host on the same store: what it shows, it did not see."""
    with host(kept, *tools, **audited) as made, inspected(made) as page:
        yield page


@pytest.fixture
def kept() -> Kept:
    """A store on SQLite."""
    return Kept(None)


def ran(kept: Kept, level: str) -> str:
    """Let a model call the tool in a host of its own, and return the run."""
    provider = ScriptedProvider([("rich", {}), "It said content."])
    with host(kept, plugin(rich, name="rich"), level=level) as made:
        return made.session(actor=ADA).run(provider, "What?").id


def test_a_stored_run_is_shown_with_its_steps(kept: Kept) -> None:
    """Of another process, as it was stored."""
    run_id = ran(kept, "metadata")
    with another(kept) as page:
        about = page.get("/api/host")["audit"]
        listed = page.get("/api/runs")["runs"]
        shown = page.get(f"/api/runs/{run_id}")

    assert about == {"readable": True, "why": None}
    assert [(run["id"], run["source"], run["level"]) for run in listed] == [
        (run_id, "store", "metadata")
    ]
    run, steps = shown["run"], shown["steps"]
    assert (run["status"], run["owner"], run["provider"]) == ("completed", "ada", "scripted")
    assert run["duration_s"] >= 0
    assert [step["kind"] for step in steps] == ["request", "llm", "tool", "request", "llm"]
    assert [step["n"] for step in steps] == [1, 2, 3, 4, 5]
    assert steps[2]["characters"] == 7


def test_what_the_level_did_not_keep_is_named(kept: Kept) -> None:
    """At `metadata` no content is there, and the page can say of each part that it was."""
    run_id = ran(kept, "metadata")
    with another(kept) as page:
        steps = page.get(f"/api/runs/{run_id}")["steps"]
        call, request = (page.get(f"/api/steps/{steps[n]['id']}") for n in (2, 0))

    assert call["kept"] == request["kept"] == "metadata"
    assert call["not_kept"] == [
        *("arguments_json", "content", "wire", "data_json", "metadata_json", "artifacts")
    ]
    assert call["wired"] is True
    assert request["wired"] is None
    assert (call["content"], call["wire"], call["data_json"]) == (None, None, None)
    assert request["not_kept"] == ["content"]
    assert request["content_json"] is None


def test_what_the_level_kept_is_shown_whole(kept: Kept) -> None:
    """At `full` nothing is missing, and the digits are those that were stored."""
    run_id = ran(kept, "full")
    with another(kept) as page:
        shown = page.get(f"/api/runs/{run_id}")
        call = page.get(f"/api/steps/{shown['steps'][2]['id']}")
        request = page.get(f"/api/steps/{shown['steps'][0]['id']}")
        sheet = page.client.get(f"/api/steps/{call['id']}/artifacts/0.csv").text

    assert json.loads(shown["run"]["answer_json"]) == "It said content."
    assert call["not_kept"] == request["not_kept"] == []
    assert (call["content"], call["wire"]) == ("content", "content")
    assert call["data_json"] == '{"a":1152921504606846976}'
    assert call["artifacts"][0]["type"] == "table"
    assert sheet == "item\r\n'=1\r\n"
    assert json.loads(request["content_json"])["new_messages"][0]["text"] == "What?"


def test_a_failure_is_stored_with_its_code(kept: Kept) -> None:
    """Also a call that was refused before its arguments were read."""
    with host(kept, echo(), level="full") as made:
        session = made.session(actor=ADA)
        session.call("echo", {})
        session.call("nope", {})
    with another(kept) as page:
        steps = page.get(f"/api/runs/{session.run_id}")["steps"]
        details = [page.get(f"/api/steps/{step['id']}") for step in steps]

    assert [each["code"] for each in details] == ["invalid_arguments", "not_found"]
    assert [each["not_kept"] for each in details] == [[], []]


@pytest.mark.parametrize("level", ["metadata", "full"])
def test_whether_anything_went_to_a_provider_is_stored(kept: Kept, level: str) -> None:
    """Of a session too: that of an MCP client is told, host code is not."""
    with host(kept, echo(), level=level) as made:
        session = made.session(actor=ADA)
        session.call_wire("echo", {"text": "hi"})
        session.call("echo", {"text": "hi"})
    with another(kept) as page:
        steps = page.get(f"/api/runs/{session.run_id}")["steps"]
        told, untold = (page.get(f"/api/steps/{step['id']}") for step in steps)

    assert (told["wired"], untold["wired"], untold["wire"]) == (True, False, None)
    assert told["wire"] == ("said hi" if level == "full" else None)
    assert ("wire" in told["not_kept"]) == (level == "metadata")
    assert "wire" not in untold["not_kept"]


def test_the_list_opens_the_store_once(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many runs are not whole here, and in the order in which they began."""
    opened: list[Any] = []

    def counted(settings: Any) -> Any:
        opened.append(settings)
        return look(settings)

    monkeypatch.setattr(_stored, "look", counted)
    with host(kept, echo()) as made:
        sessions = [made.session(actor=ADA) for _ in range(3)]
        for session in sessions:
            session.call("echo", {"text": "hi"})
        seen = Seen(made, lambda *_: None)
        for session in reversed(sessions):
            session.call("echo", {"text": "hi"})
    runs = Runs(seen, _stored.Stored(made))
    listed = runs.page("", 10, "")["runs"]
    looked = len(opened)
    paged = runs.page("", 2, "")
    paged = paged["runs"] + runs.page(paged["next"], 2, "")["runs"]

    ids = [session.run_id for session in reversed(sessions)]
    assert [run["id"] for run in listed] == [run["id"] for run in paged] == ids
    assert [(run["steps"], run["source"]) for run in listed] == [(2, "store")] * 3
    assert looked == 1


def test_what_the_store_has_no_more_is_shown_from_memory(kept: Kept) -> None:
    """As far as it was seen here."""
    with host(kept, echo()) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "hi"})
        seen = Seen(made, lambda *_: None)
        session.call("echo", {"text": "hi"})
    kept.rows("DELETE FROM run_step")
    kept.rows("DELETE FROM run")
    (listed,) = Runs(seen, _stored.Stored(made)).page("", 10, "")["runs"]

    assert (listed["id"], listed["source"], listed["steps"]) == (session.run_id, "memory", 1)


def test_a_run_of_this_host_is_shown_from_memory(kept: Kept) -> None:
    """It is stored too, and listed once."""
    with host(kept, plugin(rich, name="rich")) as made, inspected(made) as page:
        provider = ScriptedProvider([("rich", {}), "done"])
        run_id = made.session(actor=ADA).run(provider, "What?").id
        listed = page.get("/api/runs")["runs"]
        codes = page.get("/api/codes")

    assert [(run["id"], run["source"]) for run in listed] == [(run_id, "memory")]
    assert codes["source"] == "store"


def test_a_run_that_began_elsewhere_is_shown_whole(kept: Kept) -> None:
    """What goes on here is only its end: the store has all of it, and status is that of now."""
    done: list[str] = []
    with host(kept, writer(done)) as first:
        run_id = waiting(first).id
    with another(kept, writer(done)) as page:
        pending = page.get(f"/api/waiting/{run_id}")
        said = {"run": run_id, "position": 0, "verdict": "deny"}
        told = page.post("/api/decide", said)
        page.host.session().resume(run_id, (), ScriptedProvider(["done"]))
        row = page.get("/api/runs")["runs"][0]
        shown = page.get(f"/api/runs/{run_id}")

    assert (pending["goes_on"], told["left"], done) == ("elsewhere", 0, [])
    assert (row["id"], row["status"], row["source"]) == (run_id, "completed", "store")
    assert [step["kind"] for step in shown["steps"]][:3] == ["request", "llm", "approval"]
    assert shown["run"]["decisions"][0]["verdict"] == "deny"


def test_memory_and_store_are_paged_as_one(kept: Kept) -> None:
    """Newest first, each run once, whatever the size of a page."""
    with host(kept, echo()) as first:
        older = [first.session(actor=ADA).run(ScriptedProvider(["d"]), "?").id for _ in range(5)]
    with another(kept, echo()) as page:
        newer = [
            page.host.session(actor=ADA).run(ScriptedProvider(["d"]), "?").id for _ in range(3)
        ]
        paged: list[str] = []
        before = ""
        while before is not None:
            answer = page.get(f"/api/runs?limit=3&before={before}")
            paged += [run["id"] for run in answer["runs"]]
            before = answer["next"]
        completed = page.get("/api/runs?status=completed&limit=2")
        failed = page.get("/api/runs?status=failed")

    assert paged == [*newer[::-1], *older[::-1]]
    assert (len(completed["runs"]), failed["runs"]) == (2, [])


def test_the_steps_of_a_stored_run_are_paged(kept: Kept) -> None:
    """Their moments count from the run's first step on every page."""
    with host(kept, echo()) as made:
        session = made.session(actor=ADA)
        for _ in range(5):
            session.call("echo", {"text": "hi"})
    with another(kept) as page:
        whole = page.get(f"/api/runs/{session.run_id}")
        first = page.get(f"/api/runs/{session.run_id}?limit=3")
        rest = page.get(f"/api/runs/{session.run_id}?limit=3&after={first['next']}")

    assert (len(first["steps"]), rest["next"]) == (3, None)
    assert first["steps"] + rest["steps"] == whole["steps"]


def test_how_calls_ended_comes_from_the_store(kept: Kept) -> None:
    """Those of other processes too."""
    with host(kept, echo()) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "hi"})
        session.call("echo", {})
    with another(kept) as page:
        told = page.get("/api/codes")

    assert (told["cut"], told["counted_from"]) == (False, told["from"])
    counts = {code: sum(n) for code, n in told["tools"]["echo"].items()}
    assert (told["source"], counts) == ("store", {"ok": 1, "invalid_arguments": 1})


def test_calls_that_are_not_counted_are_said(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest are counted, and since when that is all of them is told."""
    monkeypatch.setattr(_runs, "CALLS", 2)
    with host(kept, echo()) as made:
        for _ in range(5):
            made.call("echo", {"text": "hi"}, actor=ADA)
    with another(kept) as page:
        told = page.get("/api/codes")

    assert sum(told["tools"]["echo"]["ok"]) == 2
    assert told["cut"] is True
    assert told["from"] < told["counted_from"] <= told["to"]


def test_a_write_without_an_outcome_is_shown_as_that(kept: Kept) -> None:
    """Its run is held, and whether the step failed nobody claims to know."""
    run_id = ran(kept, "metadata")
    kept.rows("UPDATE run SET status = 'held', reason = 'interrupted'")
    kept.rows("UPDATE run_step SET status = 'interrupted', facts = '{}' WHERE kind = 'tool'")
    with another(kept) as page:
        run = page.get("/api/runs?status=held")["runs"][0]
        call = page.get(f"/api/steps/{run_id}:s3")

    assert (run["status"], run["reason"]) == ("held", "interrupted")
    assert (call["status"], call["code"], call["flags"]) == ("interrupted", None, [])
    assert call["wired"] is None


def test_a_store_that_is_none_is_said(kept: Kept) -> None:
    """What this host does is shown all the same."""
    with another(kept, echo()) as page:
        page.call("echo", '{"text": "hi"}')
        file().write_bytes(b"no database at all" * 100)
        about = page.get("/api/host")["audit"]
        listed = page.get("/api/runs")["runs"]
        page.get("/api/steps/nope:s1", 404)

    assert about["readable"] is False
    assert about["why"]
    assert len(listed) == 1


@pytest.mark.parametrize("step", ["nope:s1", "{run}:s99", "{run}:s", "{run}:sx", "{run}:1"])
def test_a_stored_step_that_is_none_is_not_found(kept: Kept, step: str) -> None:
    """Whatever its id looks like."""
    run_id = ran(kept, "metadata")
    with another(kept) as page:
        page.get(f"/api/steps/{step.replace('{run}', run_id)}", 404)


def test_what_is_stored_meanwhile_changes_the_head(kept: Kept) -> None:
    """The stream looks at it to tell of other processes."""
    with Host() as nobody:
        assert _stored.Stored(nobody).head() is None
    ran(kept, "metadata")
    with host(kept) as made:
        before = _stored.Stored(made).head()
        ran(kept, "metadata")
        after = _stored.Stored(made).head()

    assert before != after
