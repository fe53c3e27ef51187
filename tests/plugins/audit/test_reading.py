"""Looking into the store page by page, without what is not shown, on both databases."""

import time

from support.audit import Kept, echo, host
from support.tools import ADA
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import NEWEST, look


def test_runs_come_in_pages_of_any_size(kept: Kept) -> None:
    """Each page begins where the one before ended, and a status narrows all of them."""
    with host(kept, echo()) as made:
        ids = [made.session(actor=ADA).run(ScriptedProvider(["d"]), "?").id for _ in range(5)]
    with look(made.settings) as audit:
        listed: list[str] = []
        page = audit.page(NEWEST, 2)
        while page:
            listed += [run["run"] for _, run in page]
            page = audit.page(page[-1][0], 2)
        every = [run["run"] for run in audit.runs()]
        failed = audit.page(NEWEST, 10, "failed")

    assert listed == every == ids[::-1]
    assert failed == []


def test_an_outline_has_no_content(kept: Kept) -> None:
    """One step has, and a number that is none has no step."""
    with host(kept, echo(), level="full") as made:
        session = made.session(actor=ADA)
        for text in "abc":
            session.call("echo", {"text": text})
    with look(made.settings) as audit:
        outline = audit.outline(session.run_id, 1, 5)
        whole = list(audit.steps(session.run_id))
        one, none = audit.step(session.run_id, 2), audit.step(session.run_id, 9)

    assert [step["seq"] for step in outline] == [2, 3]
    assert outline == [
        {key: value for key, value in step.items() if key != "content"} for step in whole[1:]
    ]
    assert (one, none) == (whole[1], None)
    assert whole[1]["content"]["arguments"] == {"text": "b"}


def test_how_calls_ended_is_told_newest_first(kept: Kept) -> None:
    """Of all runs, since a moment, and no more than are wanted; what is no call is left out."""
    began = time.time() - 1
    with host(kept, echo()) as made:
        provider = ScriptedProvider([("echo", {"text": "hi"}), "done"])
        made.session(actor=ADA).run(provider, "?")
        made.session(actor=ADA).call("echo", {})
    with look(made.settings) as audit:
        told = audit.calls_since(began, 10)
        newest = audit.calls_since(began, 1)
        none = audit.calls_since(time.time() + 60, 10)

    assert [call[1:] for call in told] == [("echo", "invalid_arguments"), ("echo", "ok")]
    assert (newest, none) == (told[:1], [])
