"""Status stands apart from text, everywhere: no reader of words decides anything (contract §8)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import ADA, plugin
from toolseam import ErrorCode, Host, ToolError, ToolResult
from toolseam import _seam as seam
from toolseam._steps import Step, step_json
from toolseam.providers import ToolMessage
from toolseam.testing import ScriptedProvider

MARKERS = (
    *("", " ", "Error", "error: x", "Error (not_found): x", "Exit code 0", "exit code 1", "failed"),
    *("no such file", "syntax error", "not found", "no search results", "Traceback (most recent"),
    *("ValueError", "KeyError: 'a'", "fatal: not a git repository", "git push failed", "FAILED"),
    *("search temporarily unavailable", "0 errors", "Fehler", "エラー", "ошибка", "ok", "success"),
    *("(no output)", "null", "None", "true", "{}", '{"isError": true}', '{"error": null}'),
    *("\x1b[31merror\x1b[0m", "\u202eerror", "x" * 60_000, "\n\n", "Digits of error.log"),
)
TEXTS = st.sampled_from(MARKERS) | st.text(max_size=80)
CODES = [code for code in ErrorCode if code is not ErrorCode.CONTRACT_ERROR]


def outcomes(execute: Any) -> dict[str, Any]:
    """Call a tool through every door, and say what each says of how it went."""
    with Host(tools=[plugin(execute)]) as host:
        heard: list[str] = []
        host.listen(lambda step: heard.append(getattr(step, "status", "")))
        result = host.call("probe", {}, actor=ADA)
        _, step = host.session(actor=ADA).call_wire("probe", {})
        run = host.session(actor=ADA).run(ScriptedProvider([("probe", {}), "done"]), "q")
    told = next(each for each in run.messages if isinstance(each, ToolMessage))
    ran = next(each for each in run.steps if isinstance(each, Step))
    return {
        "result": result.failure.code.value if result.failure else "ok",
        "step": step.status,
        "json": step_json(step)["status"],
        "listeners": heard,
        "run step": ran.status,
        "message": told.is_error,
        "run": run.status.value,
    }


def expected(status: str) -> dict[str, Any]:
    """Say what every door has to say."""
    return {
        "result": status,
        "step": status,
        "json": status,
        "listeners": [status] * 3,
        "run step": status,
        "message": status != "ok",
        "run": "completed",
    }


@given(TEXTS)
def test_a_success_stays_one_whatever_it_says(text: str) -> None:
    """No content, however it looks, turns a success into a failure at any door."""
    assert outcomes(lambda arguments: ToolResult.text(text)) == expected("ok")


@given(TEXTS, st.sampled_from(CODES), st.booleans())
def test_a_failure_stays_one_whatever_it_says(text: str, code: ErrorCode, raised: bool) -> None:
    """No message, however it looks, turns a failure into a success or into another code."""

    def execute(arguments: Any) -> ToolResult:
        if raised:
            raise ToolError(text or "x", code)
        return ToolResult.error(text or "x", code, output=text)

    assert outcomes(execute) == expected(code.value)


@pytest.mark.parametrize("status", ["ok", "not_found"])
def test_another_renderer_changes_no_status(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A renderer that says the same of everything changes texts alone."""
    monkeypatch.setattr(seam, "render_bounded", lambda result: "all is well")

    def execute(arguments: Any) -> ToolResult:
        return ToolResult.text("x") if status == "ok" else ToolResult.error("x", status)

    assert outcomes(execute) == expected(status)
