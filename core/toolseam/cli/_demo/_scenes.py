"""The scenes of the demo: every call is a real one, through a real host."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolseam import Actor, Host, Zone
from toolseam.cli._consent import told
from toolseam.cli._demo._conversation import converse
from toolseam.cli._demo._files import DATABASE
from toolseam.cli._demo._page import answered, called, prose, scene, side_by_side, width
from toolseam.cli._demo._tools import RenamePage, TideTable
from toolseam.cli._drawing import drawn
from toolseam.cli._table import table
from toolseam.cli._terminal import paint, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam import Approval, Session, Step

_OPERATOR = """\
zone = "external_eu"

[tables]
allow = ["*"]
"""
_ZONE = Zone.EXTERNAL_EU
_VISITOR = Actor("visitor")
_EDITOR = Actor("ada", {"editor"})


def play(folder: Path) -> tuple[Step, ...]:
    """Play all scenes in the workspace `folder` and return the steps that the trace kept."""
    with tempfile.TemporaryDirectory(prefix="toolseam-operator-") as own:
        config = Path(own) / "config.toml"
        config.write_text(_OPERATOR, encoding="utf-8")
        tides = TideTable()
        tools = (tides, RenamePage(folder / DATABASE))
        with Host.load(folder, operator_file=config, tools=tools) as host:
            session = host.session(actor=_VISITOR, zone=_ZONE)
            _opening(folder)
            _offers(host, session)
            _channels(session)
            _refusals(session)
            _breach(session, tides)
            _write(host, session)
            scene(6, "A run with a person in the middle")
            steps = (*session.steps, *converse(session, _EDITOR))
            _trace(steps)
            _closing(folder)
            return steps


def _opening(folder: Path) -> None:
    say(paint("toolseam demo", "bold", "cyan"))
    say()
    prose(
        """
        A museum's web site was just written to a folder of its own: a database with pages,
        their history, files, events and users; logs with a traceback, one of them rotated and one
        packed; sources, templates, configuration with made-up secrets, and a small web
        application. Everything below is a real call in it. Nothing here talks to a network.
        """
    )
    say()
    say("  ", paint(str(folder), "bold"))


def _offers(host: Host, session: Session) -> None:
    scene(1, "What a model is offered, and what not")
    prose(
        f"""
        The model stands in the zone {_ZONE.value}, and the person behind it has no role. So one
        gate decides, before anything is asked and again at each call.
        """
    )
    say()
    rows: list[tuple[str, str, str, str]] = []
    for tool in host.tools():
        decision = host.decide(tool, actor=session.actor, zone=session.zone)
        offer = "offered" if decision.allowed else f"no: {decision.reason}"
        rows.append((tool.name, tool.data_class.value, tool.effect.value, offer))
    say(table(("TOOL", "DATA CLASS", "EFFECT", "OFFER"), rows, width=width()))


def _channels(session: Session) -> None:
    scene(2, "One call, two channels")
    prose(
        """
        A tool returns one typed result. Its content is the only text that a provider is told;
        artifacts and data stay with the run: for people, and for the program that called.
        """
    )
    say()
    step = _call(
        session, "read_records", {"table": "pages", "fields": ["title", "draft"], "limit": 3}
    )
    left = ("TOLD TO THE PROVIDER", str(step.wire))
    right = ("STAYS WITH THE RUN", _kept(step))
    say()
    side_by_side(left, right)
    say()
    prose(
        """
        The right half has no way to the left: it is held in a container that json, pickle, str()
        and a dozen other serialisers refuse.
        """
    )


def _kept(step: Step) -> str:
    """Write artifacts and data as text."""
    parts: list[str] = []
    for artifact in step.artifacts:
        parts.append(f"artifact: {artifact.label}")
        parts += drawn(artifact, None).splitlines()
    parts += ["", "data:", json.dumps(None if step.data is None else step.data.value)]
    return "\n".join(parts)


def _refusals(session: Session) -> None:
    scene(3, "Refusals: typed, and no oracle")
    prose(
        """
        Accounts are never read by content tools. A table that is denied and one that does not
        exist get the same answer, so that asking teaches nothing.
        """
    )
    say()
    for name in ("users", "no_such_table"):
        answered(_told(_call(session, "read_records", {"table": name})), well=False)
    say()
    prose("And a tool that is for administrators is refused by the gate, without being run:")
    say()
    answered(_told(_call(session, "get_env", {})), well=False)


def _breach(session: Session, tides: TideTable) -> None:
    scene(4, "A tool that breaks the contract")
    prose(
        """
        The demo's plugin tide_table returns text instead of a result. The text is dropped
        unread, the tool is withdrawn, and the second call does not run it.
        """
    )
    say()
    for _ in range(2):
        answered(_told(_call(session, "tide_table", {})), well=False)
    reason = session.steps[-2].reason
    times = "once" if tides.runs == 1 else f"{tides.runs} times"
    say("\n  ", paint(f"It ran {times}. For the log only: {reason}", "dim"))


def _write(host: Host, session: Session) -> None:
    scene(5, "A write waits for a person")
    prose("Every effect but reading needs an approval of exactly this call. Without one:")
    say()
    arguments = {"page": 7, "title": "Charts of the northern seas"}
    answered(_told(_call(session, "rename_page", arguments)), well=False)
    say()
    prose("The person is shown the complete arguments and what the tool says it would change:")
    say()
    preview = session.preview("rename_page", arguments)
    for line in told(preview)[2:]:
        say(f"  {line}".rstrip())
    say()
    prose(
        """
        Here the script plays ada, an editor, who approves. On a terminal `toolseam run` would ask
        for the first eight characters of that digest.
        """
    )
    say()
    approval = host.approve(preview, actor=_EDITOR)
    step = _call(session, "rename_page", arguments, approval=approval)
    answered(_told(step), well=True)
    say()
    prose("The approval fits no second call: by now it would change something else.")
    say()
    answered(_told(_call(session, "rename_page", arguments, approval=approval)), well=False)


def _trace(steps: Sequence[Step]) -> None:
    scene(7, "What the trace kept")
    prose("One step an attempt, refusals included; listeners see each at once.")
    say()
    rows = [
        (
            str(number),
            step.tool,
            step.status,
            step.effect,
            str(len(step.artifacts)),
            f"{step.duration_s * 1000:.1f} ms",
        )
        for number, step in enumerate(steps, 1)
    ]
    headings = ("#", "TOOL", "STATUS", "EFFECT", "ARTIFACTS", "TIME")
    say(table(headings, rows, width=width()))


def _closing(folder: Path) -> None:
    scene(8, "Go on by hand")
    prose("The folder stays. On the command line you are its local administrator:")
    say()
    for command in (
        f"cd {shlex.quote(str(folder))}",
        "toolseam list",
        "toolseam run get_record_tree --arg table=pages",
        "toolseam run read_records --arg table=events --artifacts",
        "toolseam run search_code --arg pattern=price",
        "toolseam run read_source --arg path=prices.py",
        "toolseam show read_records",
        "toolseam doctor",
        "toolseam new acme-greet",
    ):
        say("  ", paint(command, "bold"))
    say()
    prose(
        """
        And with a model: toolseam ask "Which pages are drafts?" --provider openai:MODEL, or at
        --base-url and --zone of a server of your own. It has no roles unless you give it some.
        """
    )


def _call(
    session: Session, name: str, arguments: dict[str, Any], *, approval: Approval | None = None
) -> Step:
    """Make a call for a provider, and show that it is made."""
    called(f"{name} {json.dumps(arguments)}")
    _, step = session.call_wire(name, arguments, approval=approval)
    return step


def _told(step: Step) -> str:
    """Return what the provider is told of a step."""
    return str(step.wire)
