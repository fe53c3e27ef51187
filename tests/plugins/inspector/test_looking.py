"""What the page is told of a host: tools, runs, calls, and how they ended."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.audit import echo
from support.inspecting import Page, inspected
from support.tools import ADA, BOB, plugin
from toolseam import Host, ToolArtifact, ToolError, ToolResult
from toolseam.providers import Lowering
from toolseam.testing import ScriptedProvider, canary
from toolseam_plugins.inspector import _json

BIG = 2**63 - 1
TEXT = st.text(st.characters(exclude_categories=()) | st.just("\ud83d"), max_size=6)


def _nested(inner: Any) -> Any:
    """Return lists and objects of values."""
    return st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)


def rich(arguments: Any) -> ToolResult:
    """Return a result with something in every channel."""
    table = ToolArtifact.table("Stock", ["item", "count"], [["=HYPERLINK(1)", BIG], ["-5", "x"]])
    tree = ToolArtifact.tree("Tree", [(0, "a"), (1, "b")])
    return ToolResult.text(
        "caf\udce9", table, tree, data={"big": BIG, "half": "\ud83d"}, metadata={"kind": "rich"}
    )


def fails(arguments: Any) -> ToolResult:
    """Refuse with a reason."""
    raise ToolError("No table.", "not_found", metadata={"reason": "nowhere"})


def breaks(arguments: Any) -> Any:
    """Break the contract."""
    return "text"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """The page of a host with a tool for everything."""
    tools = [
        echo(),
        plugin(rich, name="rich"),
        plugin(fails, name="fails"),
        plugin(breaks, name="breaks"),
        plugin(rich, name="secret", requires_admin=True, data_class="secret_adjacent"),
    ]
    with Host(tools=tools) as host, inspected(host) as page:
        yield page


def test_the_page_comes_within_fifty_milliseconds(page: Page) -> None:
    """Its first byte, on a warm server: it stands ready in memory."""
    page.client.get("/")
    waits = [page.client.get("/").elapsed.total_seconds() for _ in range(20)]

    assert min(waits) < 0.05
    assert "<script" in page.client.get("/").text


def test_static_files_have_their_types(page: Page) -> None:
    """Or a browser that is told not to guess would not take them."""
    static = Path(__file__).parents[3] / "plugins/toolseam_plugins/inspector/static"
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

    for file in static.iterdir():
        answer = page.client.get(f"/static/{file.name}")
        assert (answer.status_code, answer.content) == (200, file.read_bytes())
        assert answer.headers["content-type"].startswith(kinds.get(file.suffix, "text/html"))


def test_the_host_tells_who_acts_and_what_holds(page: Page) -> None:
    """Actor, caps, level of the audit, and why nothing stored can be shown."""
    about = page.get("/api/host")

    assert about["actor"] == {"name": "ada", "roles": ["admin"]}
    assert about["limits"]["content_bytes"] == 50_000
    assert (about["level"], about["tools"], about["contract"]) == ("metadata", 5, "1")
    assert about["audit"]["readable"] is False
    assert "Nothing is stored" in about["audit"]["why"]


def test_the_catalogue_has_every_tool_with_its_policy(page: Page) -> None:
    """And whether whoever acts here is offered it."""
    tools = {tool["name"]: tool for tool in page.get("/api/tools")["tools"]}

    assert list(tools) == ["breaks", "echo", "fails", "rich", "secret"]
    assert tools["echo"]["allowed"] is True
    assert tools["secret"]["requires_admin"] is True
    assert tools["secret"]["data_class"] == "secret_adjacent"


def test_a_tool_is_shown_as_each_maker_is_told_of_it(page: Page) -> None:
    """Exactly the words that a request carries, dialect by dialect."""
    shown = page.get("/api/tools/echo")
    spec = page.host.tool("echo").spec  # type: ignore[union-attr]

    assert json.loads(shown["schema_json"]) == spec.schema
    assert len(shown["told"]) == 5
    for told in shown["told"]:
        assert [json.loads(told["text_json"])] == Lowering(told["dialect"])([spec]).tools


def test_a_tool_that_is_none_is_not_found(page: Page) -> None:
    """Under a name that nobody has."""
    refused = page.get("/api/tools/nope", 404)

    assert refused["error"]["code"] == "not_found"


def test_whoever_has_no_role_is_told_what_would_help() -> None:
    """The hint is the operator's, and the reason is the gate's."""
    told: list[tuple[str, str]] = []

    def hint(tool: Any, reason: str) -> str:
        told.append((tool.name, reason))
        return "say --role admin"

    tools = [plugin(rich, name="secret", requires_admin=True)]
    with Host(tools=tools) as host, inspected(host, actor=BOB, hint=hint) as page:
        row = page.get("/api/tools")["tools"][0]
        zones = page.get("/api/tools/secret")["zones"]

    assert (row["allowed"], row["reason"]) == (False, "requires_admin")
    assert row["setting"] == "say --role admin"
    assert set(zones.values()) == {"requires_admin: say --role admin"}
    assert ("secret", "requires_admin") in told


def test_every_channel_of_a_call_is_shown_as_it_is(page: Page) -> None:
    """The exact digits, the exact wire text, and no half of a surrogate pair (P01, P02)."""
    step = page.call("rich")

    assert step["content"] == step["wire"] == "caf\ufffd"
    assert json.loads(step["data_json"]) == {"big": BIG, "half": "\ufffd"}
    assert f'"big":{BIG}' in step["data_json"]
    assert json.loads(step["metadata_json"]) == {"kind": "rich"}
    assert [each["type"] for each in step["artifacts"]] == ["table", "tree"]
    assert json.loads(step["raw_json"])["data"] == {"big": BIG, "half": "\ufffd"}
    assert step["sizes"]["content"] == 6


def test_a_step_is_found_again_by_its_id(page: Page) -> None:
    """As it was when it was made."""
    step = page.call("rich")

    assert page.get(f"/api/steps/{step['id']}") == step
    assert page.get("/api/steps/nope:1", 404)["error"]["code"] == "not_found"


def test_an_artifact_can_be_taken_away(page: Page) -> None:
    """As JSON it is faithful, as CSV no cell is a formula (H36)."""
    step = page.call("rich")
    sheet = page.client.get(f"/api/steps/{step['id']}/artifacts/0.csv")
    whole = page.get(f"/api/steps/{step['id']}/artifacts/0.json")

    assert sheet.text == f"item,count\r\n'=HYPERLINK(1),{BIG}\r\n-5,x\r\n"
    assert sheet.headers["content-disposition"] == 'attachment; filename="artifact-0.csv"'
    assert whole["data"]["rows"][0] == ["=HYPERLINK(1)", str(BIG)]
    for path in ("9.csv", "0.exe", "9.json"):
        assert page.get(f"/api/steps/{step['id']}/artifacts/{path}", 404)


def test_a_failure_is_shown_with_its_code_and_reason(page: Page) -> None:
    """And the model's text beside it."""
    step = page.call("fails")

    assert (step["status"], step["code"], step["reason"]) == ("not_found", "not_found", "nowhere")
    assert (step["message"], step["wire"]) == ("No table.", "Error (not_found): No table.")


def test_a_broken_contract_and_the_withdrawal_are_shown_as_that(page: Page) -> None:
    """The breach with its path; and that the tool was not asked again, until a fresh session."""
    first, again = page.call("breaks"), page.call("breaks")
    fresh = page.call("breaks", fresh=True)

    assert (first["flags"], first["status"]) == (["contract"], "contract_error")
    assert first["breach"]
    assert again["flags"] == ["withdrawn", "contract"]
    assert fresh["flags"] == ["contract"]
    assert page.get("/api/tools/breaks")["violations"]


def test_arguments_that_are_no_json_are_a_failure_like_any(page: Page) -> None:
    """The seam says so, in the words that a model would get."""
    step = page.call("echo", '{"text": ')

    assert (step["status"], step["arguments_json"]) == ("invalid_arguments", None)


def test_the_page_gets_its_json_as_json(page: Page) -> None:
    """Never as something that could be run (P05)."""
    answer = page.client.get("/api/tools")

    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_runs_are_listed_newest_first_and_paged() -> None:
    """Each once, whatever the size of a page."""
    with Host(tools=[echo()]) as host, inspected(host) as page:
        made = [
            host.session(actor=ADA).run(ScriptedProvider(["done"]), "What?").id for _ in range(7)
        ]
        whole = page.get("/api/runs?limit=50")
        paged: list[str] = []
        before = ""
        while before is not None:
            answer = page.get(f"/api/runs?limit=3&before={before}")
            paged += [run["id"] for run in answer["runs"]]
            before = answer["next"]
        page.get("/api/runs?before=nonsense", 400)
        page.get("/api/runs?limit=0", 400)
        failed = page.get("/api/runs?status=failed")

    assert [run["id"] for run in whole["runs"]] == paged == made[::-1]
    assert failed["runs"] == []


def test_a_run_is_shown_with_all_that_happened() -> None:
    """Its end, its answer and its light rows; what a provider was sent is content of a step."""
    provider = ScriptedProvider([("echo", {"text": "hi"}), "It said hi."])
    with Host(tools=[echo()]) as host, inspected(host) as page:
        run_id = host.session(actor=ADA).run(provider, "What?").id
        shown = page.get(f"/api/runs/{run_id}")
        request = page.get(f"/api/steps/{shown['steps'][0]['id']}")

    run, steps = shown["run"], shown["steps"]
    assert (run["status"], run["reason"], run["kind"]) == ("completed", "completed", "run")
    assert (run["owner"], run["provider"], run["zone"]) == ("ada", "scripted", "external_global")
    assert json.loads(run["answer_json"]) == "It said hi."
    assert [step["kind"] for step in steps] == ["request", "llm", "tool", "request", "llm"]
    assert all(0 <= step["began"] <= run["duration_s"] + 1 for step in steps)
    assert json.loads(request["content_json"])["new_messages"][0]["text"] == "What?"


def test_the_canary_of_a_result_stands_where_it_belongs() -> None:
    """Run-only channels are for the page alone: rows and wire text have none of them."""
    word = canary("inspector")

    def hides(arguments: Any) -> ToolResult:
        text = ToolArtifact.text("label", str(word))
        return ToolResult.text("fine", text, data={"a": str(word)}, metadata={"b": str(word)})

    with Host(tools=[plugin(hides, name="hides")]) as host, inspected(host) as page:
        step = page.call("hides")
        rows = json.dumps([page.get("/api/runs"), page.get(f"/api/runs/{step['run']}")])

    assert str(word) not in rows
    assert str(word) not in step["wire"]
    assert str(word) in step["data_json"]


def test_what_a_provider_says_is_shown_whatever_it_is() -> None:
    """Its words have passed no cleaner: half a surrogate pair shows as U+FFFD (P02)."""
    provider = ScriptedProvider(["half \ud83d, whole \U0001f680"])
    with Host() as host, inspected(host) as page:
        run_id = host.session(actor=ADA).run(provider, "What?").id
        shown = page.get(f"/api/runs/{run_id}")["run"]

    assert json.loads(shown["answer_json"]) == "half \ufffd, whole \U0001f680"


@example(["half \ud83d", {"\udce9": 2**63 - 1}])
@given(st.recursive(st.none() | st.integers(-(2**63), 2**63 - 1) | TEXT, _nested, max_leaves=9))
def test_any_value_goes_out_as_strict_json(value: Any) -> None:
    """With its own digits, and U+FFFD for what cannot be encoded."""
    again = json.loads(_json.text(value))

    assert again == _json.whole(value)
    assert again == value or "\ufffd" in _json.text(value)


def test_what_was_found_is_listed_beside_what_was_loaded(tmp_path: Path) -> None:
    """Each entry point with its status, host plugins that nobody named among them."""
    with Host.load(tmp_path) as host, inspected(host) as page:
        told = page.get("/api/tools")
        shown = page.get("/api/tools/read_records")

    records = {record["name"]: record for record in told["records"]}
    assert records["read_records"]["status"] == "ready"
    assert records["audit"]["kind"] == "plugin"
    assert all(tool["builtin"] for tool in told["tools"])
    assert shown["target"] == "toolseam_builtin.content.read_records"


def test_codes_are_counted_by_tool_and_time(page: Page) -> None:
    """Every call falls into one bucket."""
    with Host(tools=[echo(), plugin(fails, name="fails")]) as host, inspected(host) as fresh:
        for tool in ("fails", "fails", "echo"):
            fresh.call(tool, '{"text": "a"}' if tool == "echo" else "{}")
        told = fresh.get("/api/codes?hours=1")

    assert told["source"] == "memory"
    assert {
        tool: {c: sum(n) for c, n in codes.items()} for tool, codes in told["tools"].items()
    } == {
        "echo": {"ok": 1},
        "fails": {"not_found": 2},
    }
    page.get("/api/codes?hours=x", 400)


def test_a_run_of_two_thousand_steps_is_answered_quickly() -> None:
    """In one page of light rows, and less than a second."""
    with Host(tools=[echo()]) as host, inspected(host) as page:
        session = host.session(actor=ADA)
        for _ in range(2_100):
            session.call("echo", {"text": "hi"})
        every = [page.client.get(f"/api/runs/{session.run_id}") for _ in range(5)]
        answer = min(every, key=lambda each: each.elapsed)
        rest = page.get(f"/api/runs/{session.run_id}?after={answer.json()['next']}")

    assert answer.elapsed.total_seconds() < 1
    assert (len(answer.json()["steps"]), len(rest["steps"]), rest["next"]) == (2_000, 100, None)
    assert [step["n"] for step in rest["steps"]] == list(range(2_001, 2_101))


def test_a_run_that_nobody_knows_is_not_found(page: Page) -> None:
    """Neither here nor in the store."""
    assert page.get("/api/runs/nope", 404)["error"]["code"] == "not_found"
    assert page.get("/api/nothing", 404)["error"]["code"] == "not_found"
