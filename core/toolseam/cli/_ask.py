"""`toolseam ask`: a question to a model that may call the tools; not as the local administrator.

A model makes the calls, so they have the roles that the operator names, and none unsaid. Nothing
is approved here: that is `toolseam approve`, on a terminal, by a person.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import attrs

from toolseam._runs import DEFAULT_ROUNDS, MAX_ROUNDS
from toolseam.cli._following import follow, showing
from toolseam.cli._runs import exit_code, run_json
from toolseam.cli._terminal import complain, note, say_json
from toolseam.cli._words import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import AsyncIterator

    from toolseam import Host, Run, Session
    from toolseam._run_state import Event
    from toolseam.cli._offers import Withheld
    from toolseam.providers import Provider

_LONGEST = 1_000_000
_BYTES_A_CHARACTER = 4
_NO_STORE = "no_run_store"


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    from toolseam import Zone

    parser.add_argument("question", metavar="QUESTION", help="what to ask; - reads it from stdin")
    parser.add_argument(
        "--provider", metavar="NAME:MODEL", help="who is asked; else `ask.provider` of the settings"
    )
    parser.add_argument("--base-url", metavar="URL", help="where, if not at the maker's address")
    parser.add_argument(
        "--zone",
        choices=[each.value for each in Zone],
        metavar="ZONE",
        help="where it stands: external_global, external_eu, private_hosted or local",
    )
    parser.add_argument(
        "--tools", metavar="NAMES", help="only these, by commas: group:content,read_source"
    )
    parser.add_argument(
        "--max-rounds",
        type=int,
        choices=range(1, MAX_ROUNDS + 1),
        default=DEFAULT_ROUNDS,
        metavar="N",
        help=f"how often the model is asked, 1 to {MAX_ROUNDS}; {DEFAULT_ROUNDS} if absent",
    )
    parser.add_argument("--system", metavar="TEXT", help="what the model is told first")
    showing(parser)
    parser.add_argument("--json", action="store_true", help="print the run as one object")
    parser.epilog = """\
examples:
  toolseam ask "Which pages have no title?" --provider openai:gpt-5-mini
  toolseam ask "Why did the last request fail?" --provider openai:qwen3 \\
      --base-url http://127.0.0.1:11434/v1 --zone local
  toolseam ask "What changed on page 7?" --provider anthropic:claude-opus-4-5 --tools group:rag
  git diff | toolseam ask - --provider openai:gpt-5-mini --json

The model's calls have no roles unless `ask.roles` in the operator's file names some.

exit codes: 0 an answer, 1 the run failed, 2 usage or settings, 3 a tool broke the contract,
4 the run waits: a call needs a person, see `toolseam approve`
"""


def main(options: Namespace) -> int:
    """Ask, show what happens, and print the answer."""
    from toolseam import Host

    try:
        question = _question(options.question)
        with Host.load() as host:
            asking = _asking(host, options)
            return _ask(host, asking, question, options)
    except UsageError as error:
        complain(str(error))
        return 2


@attrs.frozen
class _Asking:
    """Who asks whom, with which tools, and what is left out."""

    session: Session
    provider: Provider
    withheld: tuple[Withheld, ...]


def _ask(host: Host, asking: _Asking, question: str, options: Namespace) -> int:
    from toolseam.cli._offers import told

    if not options.json:
        for line in told(asking.withheld, len(host.tools())):
            note(line)

    def begin() -> AsyncIterator[Event | Run]:
        return asking.session.astream(
            asking.provider, question, instructions=options.system, max_rounds=options.max_rounds
        )

    run = follow(host, begin, options)
    if options.json:
        say_json(as_json(run, asking))
    return exit_code(run)


def as_json(run: Run, asking: _Asking) -> dict[str, Any]:
    """Return a run as `ask --json` prints it."""
    return {
        **run_json(run),
        "provider": asking.provider.name,
        "not_offered": [attrs.asdict(each) for each in asking.withheld],
    }


def _question(words: str) -> str:
    if words != "-":
        question = words
    else:
        most = _LONGEST * _BYTES_A_CHARACTER
        question = sys.stdin.buffer.read(most + 1).decode("utf-8", "replace")
    if not question.strip():
        raise UsageError("there is no question")
    if len(question) > _LONGEST:
        message = f"the question is longer than {_LONGEST:,} characters"
        raise UsageError(message)
    return question


def _asking(host: Host, options: Namespace) -> _Asking:
    """Find provider, actor and tools; raises `UsageError`, and `ProviderError` as the host does."""
    from toolseam._policy import Receiver
    from toolseam._run_control import farthest
    from toolseam.cli._offers import wanted, withheld
    from toolseam.cli._person import person

    said = host.settings.operator.ask
    name = options.provider or said.provider
    if name is None:
        raise UsageError("name who is asked: --provider openai:MODEL, or ask.provider in settings")
    provider = host.provider(name, base_url=options.base_url, zone=options.zone)
    actor = person(said.actor, said.roles)
    names = wanted(host, options.tools)
    kept = names if _keeps_runs(host) else _without_writes(host, names)
    session = host.session(actor=actor, tools=kept, zone=_zone(host, name, options.zone))
    allowed = None if names is None else frozenset(names)
    zone = farthest(session.zone, (provider,))
    key = f"providers.{_head(name)}.zone"
    missing = [*withheld(host, Receiver(actor, zone, allowed), key)]
    named = {each.name for each in missing}
    missing += [each for each in _unkept(host) if each.name not in named]
    return _Asking(session, provider, tuple(sorted(missing, key=lambda each: each.name)))


def _zone(host: Host, name: str, said: str | None) -> str | None:
    """Return where the operator says that a provider stands, or None for the settings' `zone`.

    What a provider says of itself can only be farther; the run sees to that.
    """
    known = host.settings.operator.providers.get(_head(name))
    return said or (None if known is None else known.zone)


def _head(name: str) -> str:
    return name.partition(":")[0]


def _keeps_runs(host: Host) -> bool:
    """Tell whether a run that waits outlives this process."""
    from toolseam._run_store import MemoryStore

    return not isinstance(host._state.store, MemoryStore)  # noqa: SLF001


def _without_writes(host: Host, wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    """Leave out what could only wait for a decision that can never be given."""
    from toolseam.cli._offers import GROUP

    return tuple(
        tool.name
        for tool in host.tools()
        if not tool.requires_approval
        and (wanted is None or not {tool.name, GROUP + tool.spec.group}.isdisjoint(wanted))
    )


def _unkept(host: Host) -> list[Withheld]:
    from toolseam.cli._offers import Withheld

    if _keeps_runs(host):
        return []
    setting = "it needs a person's approval, and nothing here keeps runs that wait; trust `audit`"
    return [
        Withheld(tool.name, _NO_STORE, setting) for tool in host.tools() if tool.requires_approval
    ]
