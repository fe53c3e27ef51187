"""A person's word on the calls of a turn: what the command line says, and what is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam.cli._consent import is_typed, told
from toolseam.cli._terminal import note, one_line
from toolseam.cli._words import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolseam import Actor, Decision, Host
    from toolseam.runs import PendingCall, WaitingRun

_DIGITS = 3


@attrs.frozen
class Words:
    """What the command line says of the calls of a turn, by position."""

    denials: Mapping[int, str]
    edits: Mapping[int, dict[str, Any]]

    def refuse_strange(self, waiting: WaitingRun) -> None:
        """Raise `UsageError` unless each word is on one call that waits for a decision."""
        both = {*self.denials, *self.edits}
        if len(both) < len(self.denials) + len(self.edits):
            raise UsageError("a call is denied or edited, not both")
        asked = {each.position for each in _asked(waiting)}
        if strange := sorted(both - asked):
            message = f"no call at position {strange[0]} waits for a decision"
            raise UsageError(message)
        if again := sorted(both & waiting.decided):
            message = f"the call at position {again[0]} has been decided"
            raise UsageError(message)


def words_of(denials: Sequence[str], edits: Sequence[str]) -> Words:
    """Read `POSITION:REASON` and `POSITION=JSON`; raises `UsageError`."""
    refused: dict[int, str] = {}
    for word in denials:
        position, colon, reason = word.partition(":")
        if not colon or not _is_position(position) or int(position) in refused:
            message = f"--deny {word!r}: expected POSITION:REASON, each position once"
            raise UsageError(message)
        refused[int(position)] = reason.strip()
    edited: dict[int, dict[str, Any]] = {}
    for word in edits:
        position, _, text = word.partition("=")
        arguments = _object(text)
        if arguments is None or not _is_position(position) or int(position) in edited:
            message = f"--edit {word!r}: expected POSITION=JSON, one object, each position once"
            raise UsageError(message)
        edited[int(position)] = arguments
    return Words(refused, edited)


def _is_position(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= _DIGITS


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def decisions_on(
    host: Host, waiting: WaitingRun, words: Words, actor: Actor
) -> list[Decision] | None:
    """Show each call that is not decided and take the person's word; None if it is not given."""
    from toolseam import Decision

    _introduce(waiting)
    session = host.session()
    decisions: list[Decision] = []
    for each in _asked(waiting):
        if each.position in waiting.decided:
            continue
        if each.position in words.denials:
            reason = words.denials[each.position]
            decisions.append(Decision.deny(each, actor=actor, reason=reason))
            continue
        edit = words.edits.get(each.position)
        # Previewed again: what the person reads is what would happen now.
        seen = session.revised(waiting.id, each, edit)
        if not _is_approved(seen, _remark(each, seen, edit)):
            return None
        if edit is None:
            decisions.append(Decision.approve(seen, actor=actor))
        else:
            decisions.append(Decision.edit(seen, edit, actor=actor))
    return decisions


def _asked(waiting: WaitingRun) -> list[PendingCall]:
    return [each for each in waiting.pending if each.needs_approval]


def _remark(each: PendingCall, seen: PendingCall, edit: object) -> str:
    if edit is not None:
        return ", with your arguments"
    return "" if seen.digest == each.digest else ", whose preview has changed since it was asked"


def _introduce(waiting: WaitingRun) -> None:
    owner = "nobody" if waiting.owner is None else waiting.owner.name
    note(f"Run {waiting.id} of {owner}, who asked {', '.join(waiting.providers)}")
    for each in waiting.pending:
        if each.refused is not None:
            note(f"  {each.position}  {each.tool}: will be refused: {each.refused}")
        elif not each.needs_approval:
            arguments = one_line(json.dumps(each.arguments, ensure_ascii=False))
            note(f"  {each.position}  {each.tool} {arguments}: needs nobody, and runs with them")
        elif each.position in waiting.decided:
            note(f"  {each.position}  {each.tool}: has been decided")
    note(f"  {len(_asked(waiting))} of {len(waiting.pending)} calls of this turn need a person.")


def _is_approved(seen: PendingCall, remark: str) -> bool:
    note("")
    note(f"Position {seen.position}{remark}")
    for line in told(seen):
        note(line)
    return seen.digest is not None and is_typed(seen.digest)
