"""The playground: one call by a person, writes only after their preview."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.audit import TEXT, echo, writer
from support.inspecting import Page, inspected
from support.tools import BOB, plugin
from toolseam import Actor, Host, ToolResult
from toolseam_plugins.inspector import _playground, _seen

TOOL = {"tool": "write", "arguments_json": '{"text": "x"}'}


@pytest.fixture
def done() -> list[str]:
    """What the tool that writes has written."""
    return []


@pytest.fixture
def page(done: list[str]) -> Iterator[Page]:
    """A host with a tool that reads and one that writes."""
    tools = [echo(), writer(done)]
    with Host(tools=tools, settings={"enable": ["write"]}) as host, inspected(host) as page:
        yield page


def test_a_write_runs_for_exactly_what_was_shown(page: Page, done: list[str]) -> None:
    """Its preview names a digest, and the call with that digest is approved by it."""
    shown = page.post("/api/preview", TOOL)
    step = page.call("write", '{"text": "x"}', digest=shown["preview"]["digest"])

    assert shown["needs_approval"] is True
    assert shown["preview"]["lines"] == ["would write x"]
    assert shown["preview"]["arguments_json"] == '{"text":"x"}'
    assert (step["status"], done) == ("ok", ["x"])


def test_a_write_without_its_preview_does_not_run(page: Page, done: list[str]) -> None:
    """Nobody approved it."""
    step = page.call("write", '{"text": "x"}')

    assert (step["status"], step["flags"], done) == ("approval_denied", ["denied"], [])


def test_other_arguments_are_not_what_was_shown(page: Page, done: list[str]) -> None:
    """The approval is for one call, and the seam holds that."""
    shown = page.post("/api/preview", TOOL)["preview"]
    step = page.call("write", '{"text": "y"}', digest=shown["digest"])

    assert (step["status"], step["reason"], done) == ("conflict", "changed", [])


def test_a_digest_is_good_for_one_call(page: Page, done: list[str]) -> None:
    """Neither twice, nor one that was never shown, nor one of another zone."""
    shown = page.post("/api/preview", TOOL)["preview"]
    page.call("write", '{"text": "x"}', digest=shown["digest"])
    elsewhere = page.post("/api/preview", {**TOOL, "zone": "local"})["preview"]["digest"]

    for said in (
        {**TOOL, "digest": shown["digest"]},
        {**TOOL, "digest": "0" * 64},
        {**TOOL, "digest": elsewhere, "zone": "private_hosted"},
    ):
        assert page.post("/api/call", said, 409)["error"]["code"] == "conflict"
    assert done == ["x"]


def test_a_preview_begins_the_new_session_that_its_call_is_made_in(
    page: Page, done: list[str]
) -> None:
    """Else the approval would be of a session that is over before the call."""
    before = page.call("echo", '{"text": "a"}')
    old = page.post("/api/preview", TOOL)["preview"]["digest"]
    shown = page.post("/api/preview", {**TOOL, "fresh": True})["preview"]
    page.post("/api/call", {**TOOL, "digest": old}, 409)
    again = page.post("/api/preview", {**TOOL, "fresh": True})["preview"]
    step = page.call("write", '{"text": "x"}', digest=again["digest"])

    assert (step["status"], done) == ("ok", ["x"])
    assert step["run"] != before["run"]
    assert shown["digest"] != again["digest"]


def test_only_the_last_hundred_previews_are_kept(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that asks for many is asked to look again."""
    monkeypatch.setattr(_playground, "_PREVIEWS", 1)
    first = page.post("/api/preview", TOOL)["preview"]["digest"]
    page.post("/api/preview", {**TOOL, "arguments_json": '{"text": "z"}'})

    page.post("/api/call", {**TOOL, "digest": first}, 409)


def test_a_call_that_would_be_refused_has_no_preview(page: Page) -> None:
    """The refusal says why, with the code of the seam."""
    strange = page.post("/api/preview", {"tool": "nope"}, 422)
    wrong = page.post("/api/preview", {"tool": "write", "arguments_json": "{}"}, 422)

    assert strange["error"]["code"] == "not_found"
    assert wrong["error"]["code"] == "invalid_arguments"


def test_a_service_account_approves_nothing(done: list[str]) -> None:
    """Whoever embeds the page with one gets a page that cannot write."""
    actor = Actor("robot", frozenset({"admin"}), service=True)
    tools = [writer(done)]
    with (
        Host(tools=tools, settings={"enable": ["write"]}) as host,
        inspected(host, actor=actor) as page,
    ):
        shown = page.post("/api/preview", TOOL)["preview"]
        refused = page.post("/api/call", {**TOOL, "digest": shown["digest"]}, 403)

    assert (refused["error"]["code"], done) == ("permission_denied", [])


def test_four_eyes_hold_in_the_playground(done: list[str]) -> None:
    """Whoever asks for a write there is not the one who approves it."""
    settings = {"enable": ["write"], "approval": {"four_eyes": True}}
    with Host(tools=[writer(done)], settings=settings) as host, inspected(host) as page:
        shown = page.post("/api/preview", TOOL)["preview"]
        refused = page.post("/api/call", {**TOOL, "digest": shown["digest"]}, 403)

    assert (refused["error"]["code"], done) == ("permission_denied", [])


def test_without_a_role_the_page_is_no_administrator() -> None:
    """It acts under the name that it was given, with no more rights (contract §5)."""
    secret = plugin(lambda arguments: ToolResult.text("x"), name="secret", requires_admin=True)
    with Host(tools=[secret]) as host, inspected(host, actor=BOB) as page:
        step = page.call("secret")

    assert (step["status"], step["reason"]) == ("permission_denied", "requires_admin")
    assert step["actor"] == "bob"


def test_a_farther_zone_is_told_less() -> None:
    """The wire text is what a provider there would get, or the refusal."""
    tool = plugin(
        lambda arguments: ToolResult.text("postgresql://u:hunter2@db/x"),
        name="config",
        data_class="internal_configuration",
    )
    with Host(tools=[tool]) as host, inspected(host) as page:
        here, far = page.call("config"), page.call("config", zone="external_global")
        masked = page.call("config", zone="external_eu")

    assert (here["status"], here["masked"], far["reason"]) == ("ok", 0, "data_class")
    assert masked["masked"] == 1
    assert "hunter2" not in masked["wire"]
    assert "hunter2" in masked["content"]


def test_arguments_keep_their_digits(page: Page) -> None:
    """They are sent as text, so no number goes through a float of JavaScript."""
    kept: list[Any] = []

    def keep(arguments: Any) -> ToolResult:
        kept.append(arguments["n"])
        return ToolResult.text("kept")

    schema = {"properties": {"n": {"type": "integer"}}}
    with Host(tools=[plugin(keep, name="keep", parameters=schema)]) as host, inspected(host) as own:
        step = own.call("keep", '{"n": 9007199254740993}')

    assert (kept, step["arguments_json"]) == ([9007199254740993], '{"n":9007199254740993}')


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"tool": 7},
        {"tool": "echo", "arguments_json": {"text": "x"}},
        {"tool": "echo", "zone": "moon"},
        {"tool": "echo", "digest": 7},
        [],
        "text",
    ],
)
def test_what_the_page_must_not_send_is_refused(page: Page, said: Any) -> None:
    """With a sentence, and nothing is called."""
    steps: list[Any] = []
    page.host.listen(steps.append)

    assert page.post("/api/call", said, 400)["error"]["code"] == "invalid_arguments"
    assert steps == []


def test_a_body_that_is_no_json_is_refused(page: Page) -> None:
    """Whatever else it is."""
    answer = page.client.post(
        "/api/call", content=b"{", headers={"Content-Type": "application/json"}
    )

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_arguments")


def test_the_calls_of_the_playground_are_a_session(page: Page) -> None:
    """One for each zone, until a fresh one is wanted."""
    first, second = page.call("echo", '{"text": "a"}'), page.call("echo", '{"text": "b"}')
    fresh = page.call("echo", '{"text": "c"}', fresh=True)
    listed = page.get("/api/runs")["runs"]

    assert first["run"] == second["run"] != fresh["run"]
    assert [(run["status"], run["steps"], run["owner"]) for run in listed] == [
        ("session", 1, "ada"),
        ("session", 2, "ada"),
    ]


def test_a_step_that_has_no_room_is_said(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call was made; what is lost is only what could be shown of it."""
    monkeypatch.setattr(_seen, "STEPS", 0)
    said = {"tool": "echo", "arguments_json": '{"text": "a"}'}

    assert page.post("/api/call", said, 503)["error"]["code"] == "unavailable"


def test_a_tool_that_prints_or_exits_harms_nobody(page: Page) -> None:
    """The page answers on."""

    def leaves(arguments: Any) -> ToolResult:
        raise SystemExit(1)

    tools = [plugin(leaves, name="leaves", parameters=TEXT)]
    with Host(tools=tools) as host, inspected(host) as own:
        step = own.call("leaves", '{"text": "x"}')
        again = own.get("/api/host")

    assert step["status"] == "execution_error"
    assert again["tools"] == 1
