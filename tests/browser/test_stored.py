"""What another host has stored, on the page: nothing that was not kept looks as if it never was."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from support.audit import Kept, file, host
from support.browsing import Sight, Stage, elsewhere, seen
from support.inspecting import inspected
from support.page_scene import at_hand, injected, refusing
from support.tools import ADA, plugin
from toolseam import Decision, Host, Run, ToolResult, Zone
from toolseam_plugins.audit import _sqlite, _writer
from toolseam_plugins.inspector import _runs


def ran(level: str) -> str:
    """Let a model call two tools in a host that keeps this much; return the run."""
    with host(Kept(None), injected(), refusing(), level=level) as made:
        model = at_hand(("injected", {}), ("refusing", {}), "Done.")
        return made.session(actor=ADA, zone=Zone.LOCAL).run(model, "Go.").id


@contextmanager
def looking(browser: Browser, stage: Stage) -> Generator[Sight]:
    """Come into another host on the same store."""
    with (
        host(Kept(None)) as made,
        inspected(made) as served,
        seen(browser, Stage(served, stage.waiting)) as sight,
    ):
        yield sight
        sight.behaved()


def opened(sight: Sight, run: str, tool: str) -> None:
    """Open the step of a tool."""
    steps = sight.stage.served.get(f"/api/runs/{run}")["steps"]
    step = next(e["id"] for e in steps if (e["kind"], e["tool"]) == ("tool", tool))
    sight.go(f"runs/{run}/{step.replace(':', '%3A')}")
    expect(sight.page.locator(".step")).to_be_visible()


def test_what_the_level_did_not_keep_is_said_in_every_tab(browser: Browser, stage: Stage) -> None:
    """Arguments, data, wire and artifacts were there, and the audit was not to keep them."""
    run = elsewhere(ran, "metadata")

    with looking(browser, stage) as sight:
        opened(sight, run, "injected")

        for name in ("Arguments", "Result", "Wire", "Artifacts", "Data"):
            expect(sight.tab(name)).to_contain_text("not kept at level metadata")


def test_a_message_that_was_not_kept_is_said(browser: Browser, stage: Stage) -> None:
    """A failure has had one, at any level."""
    run = elsewhere(ran, "metadata")

    with looking(browser, stage) as sight:
        opened(sight, run, "refusing")

        expect(sight.tab("Result")).to_contain_text("Message: not kept at level metadata")


@pytest.mark.parametrize(
    ("method", "said"),
    [("call_wire", "onerror="), ("call", "No text of this call was made for a provider.")],
)
def test_the_wire_of_a_call_outside_runs_is_known(
    browser: Browser, stage: Stage, method: str, said: str
) -> None:
    """What an adapter's call told is shown; of one by host code that nothing was made to tell."""

    def called() -> str:
        with host(Kept(None), injected(), level="full") as made:
            session = made.session(actor=ADA, zone=Zone.LOCAL)
            getattr(session, method)("injected", {})
            return session.run_id

    run = elsewhere(called)

    with looking(browser, stage) as sight:
        opened(sight, run, "injected")

        expect(sight.tab("Wire")).to_contain_text(said)


def test_a_write_under_way_has_not_failed(browser: Browser, stage: Stage) -> None:
    """The errors count what failed, and not what was begun and may yet be done."""
    begun, over = threading.Event(), threading.Event()

    def execute(arguments: Any) -> ToolResult:
        begun.set()
        over.wait(30)
        return ToolResult.text("done")

    def called(made: Host) -> None:
        session = made.session(actor=ADA, zone=Zone.LOCAL)
        approval = session.approve(session.preview("write", {}), actor=ADA)
        session.call("write", {}, approval=approval)

    tool = plugin(execute, name="write", effect="idempotent_write")
    with host(Kept(None), tool) as made:
        call = threading.Thread(target=called, args=[made])
        call.start()
        try:
            assert begun.wait(10)
            with looking(browser, stage) as sight:
                main = sight.go("errors")

                expect(main.locator(".list-said")).to_have_text("1 call, 0 failed")
                expect(main.locator(".strip .badge")).to_have_text("intended")
        finally:
            over.set()
            call.join(30)


def test_calls_that_are_not_counted_are_told(
    browser: Browser, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more than are counted, the page says since when they are."""
    elsewhere(ran, "metadata")
    monkeypatch.setattr(_runs, "CALLS", 1)

    with looking(browser, stage) as sight:
        said = sight.go("errors").locator(".list-said")

        expect(said).to_contain_text("the newest 1 call alone, since ")


def test_a_run_that_is_held_is_not_to_be_decided(
    browser: Browser, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call waits for a word there: the page says what to do instead."""
    monkeypatch.setattr(_sqlite, "BUSY_S", 0.05)
    monkeypatch.setattr(_writer, "REST_S", 0.0)

    def execute(arguments: Any) -> ToolResult:
        locked.execute("BEGIN IMMEDIATE")
        return ToolResult.text("done")

    def resumed() -> Run:
        model = at_hand(("write", {}), "never")
        session = made.session(actor=ADA, zone=Zone.LOCAL)
        asked = session.run(model, "Go.")
        return session.resume(asked.id, [Decision.approve(asked.pending[0], actor=ADA)], model)

    tool = plugin(execute, name="write", effect="idempotent_write")
    with host(Kept(None), tool) as made:
        with closing(
            sqlite3.connect(file(), isolation_level=None, check_same_thread=False)
        ) as locked:
            run = elsewhere(resumed)
        assert run.status == "held"
    with looking(browser, stage) as sight:
        main = sight.go(f"runs/{run.id}")

        expect(main.locator(".run-head .notice")).to_contain_text("See for yourself")
        expect(main.locator(".run-head code")).to_have_text(f"toolseam held {run.id}")
        expect(main.get_by_role("link", name="Decide")).to_have_count(0)


def test_what_nobody_knows_of_an_interrupted_write_is_said(browser: Browser, stage: Stage) -> None:
    """Its run is held, and whether anybody was told of it is not known; its sizes stay empty."""

    def broken() -> str:
        tool = plugin(lambda arguments: ToolResult.text("done"), name="write", effect="unknown")
        with host(Kept(None), tool, level="full") as made:
            model = at_hand(("write", {}), "Done.")
            session = made.session(actor=ADA, zone=Zone.LOCAL)
            asked = session.run(model, "Go.")
            session.resume(asked.id, [Decision.approve(asked.pending[0], actor=ADA)], model)
        with closing(sqlite3.connect(file(), isolation_level=None)) as store:
            store.execute("UPDATE run SET status = 'held', reason = 'interrupted'")
            store.execute(
                "UPDATE run_step SET status = 'interrupted', effect = 'unknown', facts = '{}',"
                " content = NULL WHERE kind = 'tool'"
            )
        return asked.id

    run = elsewhere(broken)

    with looking(browser, stage) as sight:
        opened(sight, run, "write")

        expect(sight.tab("Wire")).to_contain_text("is not known")
        row = sight.page.locator(".step-row", has_text="write").last
        expect(row.locator(".number").nth(2)).to_have_text("")
        expect(sight.page.locator(".run-head code")).to_have_text(f"toolseam held {run}")
