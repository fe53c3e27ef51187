"""Runs that wait, on the page: what a person sees of a call, and what comes of the word on it."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from support.audit import writer
from support.inspecting import Page, inspected, reading, until
from support.tools import ADA, BOB, plugin
from toolseam import Actor, Host, ToolResult, hookimpl
from toolseam.providers import Endpoint
from toolseam.runs import Run
from toolseam.testing import ScriptedProvider
from toolseam_plugins.inspector._deciding import go_on

TWO: Any = [("write", {"text": "x"}), ("write", {"text": "y"})]


class Gives:
    """A host plugin that makes the provider `script` again, as a process that begins anew does."""

    def __init__(self) -> None:
        self.scripts = [["done"], ["done"]]

    @hookimpl
    def toolseam_provider(self, endpoint: Endpoint) -> Any:
        """Give the provider, with what it has left to say."""
        return of_host(endpoint, self.scripts.pop()) if endpoint.kind == "script" else None


def of_host(endpoint: Endpoint, script: Any) -> ScriptedProvider:
    """Return a provider as `host.provider` makes it: with its endpoint."""
    provider = ScriptedProvider(script)
    provider.name = endpoint.name
    provider.endpoint = endpoint  # type: ignore[attr-defined]
    return provider


@pytest.fixture
def done() -> list[str]:
    """What the tool that writes has written."""
    return []


@pytest.fixture
def page(done: list[str]) -> Iterator[Page]:
    """A host whose writes need a person."""
    host = Host(tools=[writer(done)], plugins=[Gives()], settings={"enable": ["write"]})
    with host, inspected(host) as page:
        yield page


def asked(host: Host, script: Any = None, *, ours: bool = True) -> Run:
    """Let a model ask for writes; the run waits."""
    provider = ScriptedProvider([script or TWO, "done"])
    if ours:
        provider = of_host(Endpoint("script:m", "script", "m"), [script or TWO, "done"])
    run = host.session(actor=ADA).run(provider, "Write.")
    assert run.status == "waiting_for_approval"
    return run


def decide(page: Page, run: Run, position: int, verdict: str = "approve", **more: Any) -> Any:
    """Say a person's word, with the digest that was shown."""
    said = {"run": run.id, "position": position, "verdict": verdict, **more}
    said.setdefault("digest", run.pending[position].digest)
    return page.post("/api/decide", said, more.pop("status", 200))


def ended(page: Page, run: Run) -> Any:
    """Wait for the end of a run, and return it as the page shows it."""
    for _ in range(100):
        shown = page.get(f"/api/runs/{run.id}")["run"]
        if shown["status"] in {"completed", "failed", "cancelled"}:
            return shown
        time.sleep(0.05)
    raise AssertionError(shown["status"])


def test_what_waits_is_listed(page: Page) -> None:
    """With its owner, whom it asked, and what it wants to do."""
    assert page.get("/api/waiting") == {"runs": []}
    run = asked(page.host)
    listed = page.get("/api/waiting")["runs"][0]
    status = page.get("/api/runs")["runs"][0]["status"]

    assert (listed["run"], listed["owner"], listed["providers"]) == (run.id, "ada", ["script:m"])
    assert (listed["asked"], listed["decided"], listed["tools"]) == (2, 0, ["write", "write"])
    assert abs(listed["since"] - time.time()) < 60
    assert status == "waiting_for_approval"


def test_a_call_is_shown_with_all_its_arguments(page: Page) -> None:
    """And with what it says it would do, and the digest that stands for both."""
    run = asked(page.host)
    shown = page.get(f"/api/waiting/{run.id}")

    assert shown["goes_on"] == "here"
    assert [json.loads(each["arguments_json"]) for each in shown["pending"]] == [
        {"text": "x"},
        {"text": "y"},
    ]
    assert [each["lines"] for each in shown["pending"]] == [["would write x"], ["would write y"]]
    assert [each["digest"] for each in shown["pending"]] == [each.digest for each in run.pending]


def test_long_arguments_come_in_parts(page: Page) -> None:
    """Nothing behind the first part is hidden (H09)."""
    text = "é" * 150_000
    run = asked(page.host, [("write", {"text": text})])
    first = page.get(f"/api/waiting/{run.id}")["pending"][0]
    whole, start = "", 0
    while start is not None:
        part = page.get(f"/api/waiting/{run.id}/0?from={start}")
        whole, start = whole + part["text"], part["next"]

    assert len(first["arguments_json"]) == first["arguments_next"] == 65_536
    assert first["arguments_size"] == part["size"] == len(whole)
    assert json.loads(whole) == {"text": text}


def test_the_end_of_the_arguments_is_told_however_they_are_counted(page: Page) -> None:
    """A browser counts an emoji twice: where the next part begins is for the server to say."""
    text = "\U0001f600" * 66_000 + "x" * 48_000
    run = asked(page.host, [("write", {"text": text}), ("write", {"text": "short"})])
    long, short = page.get(f"/api/waiting/{run.id}")["pending"]
    last = page.get(f"/api/waiting/{run.id}/0?from={long['arguments_next']}")
    revised = page.post("/api/revise", {"run": run.id, "position": 0})["pending"]

    assert long["arguments_json"] + last["text"] == json.dumps(
        {"text": text}, ensure_ascii=False, separators=(",", ":")
    )
    assert (long["arguments_next"], last["next"], short["arguments_next"]) == (65_536, None, None)
    assert revised["arguments_next"] == 65_536


def test_a_run_goes_on_when_its_last_call_is_decided(page: Page, done: list[str]) -> None:
    """Here, with the provider made again; each call by a word of its own."""
    run = asked(page.host)
    first, second = decide(page, run, 0), decide(page, run, 1, "deny", reason="Not on a Friday.")
    shown = ended(page, run)

    assert (first, second) == (
        {"left": 1, "goes_on": "waits"},
        {"left": 0, "goes_on": "here"},
    )
    assert (shown["status"], shown["reason"], done) == ("completed", "completed", ["x"])
    assert [(each["verdict"], each["decided_by"]) for each in shown["decisions"]] == [
        ("approve", "ada"),
        ("deny", "ada"),
    ]


def test_an_edited_call_runs_as_it_was_shown(page: Page, done: list[str]) -> None:
    """The page asks for the edited call's preview, and approves that."""
    run = asked(page.host, [("write", {"text": "x"})])
    said = {"run": run.id, "position": 0, "arguments_json": '{"text": "z"}'}
    shown = page.post("/api/revise", said)
    decide(page, run, 0, "edit", digest=shown["pending"]["digest"], arguments_json='{"text": "z"}')
    ended(page, run)

    assert shown["changed"] is True
    assert shown["pending"]["lines"] == ["would write z"]
    assert done == ["z"]


def test_a_call_is_shown_as_it_would_be_now(page: Page) -> None:
    """Without other arguments nothing has changed."""
    run = asked(page.host)
    said = {"run": run.id, "position": 1, "arguments_json": None}

    assert page.post("/api/revise", said)["changed"] is False


def test_a_run_of_host_code_goes_on_there(page: Page, done: list[str]) -> None:
    """Its provider is its own: the word is kept for it."""
    run = asked(page.host, [("write", {"text": "x"})], ours=False)
    shown = page.get(f"/api/waiting/{run.id}")
    told = decide(page, run, 0)
    resumed = page.host.session().resume(run.id, (), ScriptedProvider(["done"]))

    assert (shown["goes_on"], told["goes_on"]) == ("elsewhere", "elsewhere")
    assert (resumed.status, done) == ("completed", ["x"])


def test_two_people_decide_once(page: Page, done: list[str]) -> None:
    """The second is told that somebody was faster."""
    run = asked(page.host)
    decide(page, run, 0)

    assert decide(page, run, 0, status=409)["error"]["code"] == "conflict"
    assert done == []


def test_a_wrong_digest_decides_nothing(page: Page) -> None:
    """What was shown is what is approved, or nothing is."""
    run = asked(page.host)

    assert decide(page, run, 0, digest="0" * 64, status=409)["error"]["code"] == "conflict"
    assert decide(page, run, 0, digest=None, status=409)["error"]["code"] == "conflict"
    assert page.get(f"/api/waiting/{run.id}")["pending"][0]["decided"] is False


def test_whoever_may_not_make_the_call_may_not_approve_it(done: list[str]) -> None:
    """Nor edit it; he may refuse it (H10)."""
    tool = writer(done)
    admins = plugin(
        lambda arguments: ToolResult.text("wrote"),
        name="admins",
        effect="idempotent_write",
        requires_admin=True,
        preview=lambda arguments: ToolResult.text("would write"),
    )
    host = Host(tools=[tool, admins], settings={"enable": ["write", "admins"]})
    with host, inspected(host, actor=BOB) as page:
        run = asked(host, [("admins", {})], ours=False)
        refused = decide(page, run, 0, status=403)
        edited = decide(page, run, 0, "edit", arguments_json="{}", status=403)
        denied = decide(page, run, 0, "deny")

    assert refused["error"]["code"] == edited["error"]["code"] == "permission_denied"
    assert denied == {"left": 0, "goes_on": "elsewhere"}


@pytest.mark.parametrize("actor", [BOB, Actor("robot", frozenset({"admin"}), service=True)])
def test_whoever_may_not_make_the_call_sees_no_preview_of_his_own(actor: Actor) -> None:
    """The call that waits is shown; other arguments do not reach the plugin in its owner's name."""
    seen: list[Any] = []

    def preview(arguments: Any) -> ToolResult:
        seen.append(dict(arguments))
        return ToolResult.text("would write")

    admins = plugin(
        lambda arguments: ToolResult.text("wrote"),
        name="admins",
        effect="idempotent_write",
        requires_admin=True,
        parameters={"type": "object", "properties": {"text": {"type": "string"}}},
        preview=preview,
    )
    host = Host(tools=[admins], settings={"enable": ["admins"]})
    with host, inspected(host, actor=actor) as page:
        run = asked(host, [("admins", {"text": "x"})], ours=False)
        said = {"run": run.id, "position": 0}
        refused = page.post("/api/revise", {**said, "arguments_json": '{"text": "y"}'}, 403)
        shown = page.post("/api/revise", said)

    assert refused["error"]["code"] == "permission_denied"
    assert shown["changed"] is False
    assert {"text": "y"} not in seen


def test_an_edit_that_does_not_fit_is_told_why(page: Page) -> None:
    """In the words of the seam, which name the argument."""
    run = asked(page.host)
    said = {"run": run.id, "position": 0, "arguments_json": '{"text": 7}'}
    refused = page.post("/api/revise", said, 422)["error"]

    assert refused["code"] == "invalid_arguments"
    assert refused["message"].startswith("The edited call would be refused (invalid_arguments): ")
    assert "text" in refused["message"]


def test_four_eyes_hold_here_too(done: list[str]) -> None:
    """The owner of a run does not approve on the page either."""
    settings = {"enable": ["write"], "approval": {"four_eyes": True}}
    host = Host(tools=[writer(done)], settings=settings)
    with host, inspected(host, actor=ADA) as page:
        run = asked(host, ours=False)

        assert decide(page, run, 0, status=403)["error"]["code"] == "permission_denied"


def test_a_provider_that_cannot_be_made_is_said_before_anybody_decides(done: list[str]) -> None:
    """The run waits on, undecided."""
    host = Host(tools=[writer(done)], settings={"enable": ["write"]})
    with host, inspected(host) as page:
        run = asked(host)
        refused = decide(page, run, 0, status=503)
        shown = page.get(f"/api/waiting/{run.id}")["pending"][0]

    assert refused["error"]["code"] == "unavailable"
    assert shown["decided"] is False


@pytest.mark.parametrize(
    ("path", "said", "status"),
    [
        ("decide", {"verdict": "approve"}, 400),
        ("decide", {"position": 0, "verdict": "maybe"}, 400),
        ("decide", {"position": 0, "verdict": "edit"}, 400),
        ("decide", {"position": 0, "verdict": "edit", "arguments_json": "[1]"}, 400),
        ("decide", {"position": 0, "verdict": "approve", "digest": 7}, 400),
        ("decide", {"position": 9, "verdict": "deny"}, 400),
        ("decide", {"run": "nope", "position": 0, "verdict": "deny"}, 404),
        ("revise", {"position": "0"}, 400),
        ("revise", {"position": 9}, 404),
        ("revise", {"position": 0, "arguments_json": "{"}, 400),
        ("revise", {"position": 0, "arguments_json": '{"text": "a", "text": "b"}'}, 400),
        ("revise", {"position": 0, "arguments_json": '{"text": NaN}'}, 400),
        (
            "decide",
            {"position": 0, "verdict": "edit", "arguments_json": '{"a": {"b": 1, "b": 2}}'},
            400,
        ),
        ("revise", {"position": 0, "arguments_json": "{}"}, 422),
        ("revise", {"run": "nope", "position": 0}, 404),
    ],
)
def test_a_word_that_fits_nothing_is_refused(
    page: Page, path: str, said: dict[str, Any], status: int
) -> None:
    """With a code and a sentence, and the run waits on."""
    run = asked(page.host)
    page.post(f"/api/{path}", {"run": run.id, **said}, status)

    assert page.get("/api/waiting")["runs"][0]["decided"] == 0


@pytest.mark.parametrize("path", ["nope", "nope/0", "{run}/9"])
def test_what_does_not_wait_is_not_found(page: Page, path: str) -> None:
    """Neither a run nor a position that is none."""
    run = asked(page.host)

    page.get(f"/api/waiting/{path.replace('{run}', run.id)}", 404)


def test_a_run_that_goes_on_here_ends_with_the_page(done: list[str]) -> None:
    """It is cancelled, and that is what it is shown as."""
    host = Host(tools=[writer(done)], plugins=[Sleeps()], settings={"enable": ["write"]})
    with host:
        with inspected(host, actor=Actor("eve", frozenset({"admin"}))) as page:
            run = asked(host, [("write", {"text": "x"})])
            decide(page, run, 0)
            changes: list[Any] = []
            host.listen_to_runs(changes.append)
            while not done:
                time.sleep(0.01)
        told = [each.status for each in changes if hasattr(each, "facts") and hasattr(each, "run")]

    assert told[-1:] == ["cancelled"]


def test_a_run_that_somebody_else_took_is_left_to_him() -> None:
    """He was faster; whoever reads the stream is told."""
    told: list[Any] = []
    with Host() as host:
        asyncio.run(go_on(host, "nope", (ScriptedProvider(["done"]),), told.append))

    assert [(each["kind"], each["run"], each["code"]) for each in told] == [
        ("undecided", "nope", "not_found")
    ]


def test_whoever_decided_in_vain_is_told() -> None:
    """What the first call would do has changed before the last was decided: the run waits anew."""
    kept: list[str] = []
    tool = plugin(
        lambda arguments: ToolResult.text("kept"),
        name="write",
        effect="idempotent_write",
        parameters={"type": "object", "properties": {"text": {"type": "string"}}},
        preview=lambda arguments: ToolResult.text(f"{len(kept)} kept"),
    )
    host = Host(tools=[tool], plugins=[Gives()], settings={"enable": ["write"]})
    with host, inspected(host) as page, reading(page) as lines:
        run = asked(host)
        decide(page, run, 0)
        kept.append("of somebody else")
        now = page.post("/api/revise", {"run": run.id, "position": 1})["pending"]
        decided = decide(page, run, 1, digest=now["digest"])
        told = until(lines, "undecided")[-1]
        waits = page.get("/api/waiting")["runs"][0]

    assert decided == {"left": 0, "goes_on": "here"}
    assert told == {
        "kind": "undecided",
        "run": run.id,
        "code": "conflict",
        "message": "What the call would do has changed; look at it again.",
    }
    assert waits["decided"] == 0


class Sleeps:
    """A host plugin whose provider never answers."""

    name = "script:m"
    zone = "external_global"

    @hookimpl
    def toolseam_provider(self, endpoint: Endpoint) -> Any:
        """Give itself."""
        return self

    async def complete(self, request: object) -> Any:
        """Answer never."""
        await asyncio.sleep(60)
