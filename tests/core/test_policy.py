from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import ADA, BOB, Counted, fine, plugin
from toolseam import Actor, DataClass, Effect, Host, Zone
from toolseam._binding import BoundTool, bind
from toolseam._policy import (
    ALLOWED,
    Policy,
    PolicyDecision,
    Reason,
    Receiver,
    raise_claims,
)
from toolseam._settings_keys import ToolRules


def tool(**spec: Any) -> BoundTool:
    """Return a bound tool."""
    made = plugin(lambda arguments: fine(), **spec)
    return bind(made, name=None, distribution="acme", version="1")


LOCAL = Receiver(ADA, Zone.LOCAL)


def reason(bound: BoundTool, receiver: Receiver = LOCAL, **policy: Any) -> str | None:
    """Return the gate's reason."""
    given = {key: frozenset(value) for key, value in policy.items()}
    return Policy(**given).decide(bound, receiver).reason


def test_a_reading_tool_is_offered_to_a_known_actor() -> None:
    """Nothing speaks against it."""
    assert Policy().decide(tool(), LOCAL) == ALLOWED


@pytest.mark.parametrize("effect", ["idempotent_write", "non_idempotent_write", "unknown"])
def test_what_writes_is_off_until_it_is_enabled(effect: str) -> None:
    """Every effect but reading is disabled by default."""
    assert reason(tool(effect=effect)) == "disabled"
    assert reason(tool(effect=effect), enabled=["probe"]) is None


def test_off_by_default_is_off() -> None:
    """A reading tool that says so needs to be enabled too."""
    assert reason(tool(enabled_by_default=False)) == "disabled"
    assert reason(tool(enabled_by_default=False), enabled=["probe"]) is None


def test_disabling_wins_over_enabling() -> None:
    """A setting for the tool never revives it, nor a disabled group."""
    assert reason(tool(), disabled=["probe"], enabled=["probe"]) == "disabled"
    assert reason(tool(group="db"), disabled_groups=["db"], enabled=["probe"]) == "disabled"


def test_no_actor_is_no_permission_but_for_public_content() -> None:
    """Who is nobody gets what everybody may see (H40)."""
    nobody = Receiver(None, Zone.LOCAL)

    assert reason(tool(data_class="public_content"), nobody) is None
    assert reason(tool(data_class="editor_content"), nobody) == "no_actor"
    assert reason(tool(requires_admin=True), nobody) == "requires_admin"


def test_the_system_is_an_actor() -> None:
    """Host code may act for itself, and is an admin then."""
    system = Receiver(Actor.system, Zone.LOCAL)

    assert reason(tool(data_class="secret_adjacent", requires_admin=True), system) is None


def test_admin_is_a_role() -> None:
    """Without it a tool that asks for it is refused."""
    assert reason(tool(requires_admin=True), Receiver(BOB, Zone.LOCAL)) == "requires_admin"
    assert reason(tool(requires_admin=True), LOCAL) is None


def test_roles_are_words_not_letters() -> None:
    """A text in the place of the set of roles is an error, not five roles."""
    with pytest.raises(TypeError):
        Actor("eve", "admin")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("allowed", "offered"),
    [
        (None, True),
        ([], False),
        (["probe"], True),
        (["other"], False),
        (["group:db"], True),
        (["group:web"], False),
        (["db"], False),
        (["PROBE"], False),
        (["group:*"], False),
        (["*"], False),
    ],
)
def test_an_allow_list_narrows(allowed: list[str] | None, offered: bool) -> None:
    """Absent is no narrowing, empty is no tool, groups are named as groups."""
    tools = None if allowed is None else frozenset(allowed)
    receiver = Receiver(ADA, Zone.LOCAL, tools)

    expected = None if offered else "not_in_session"
    assert reason(tool(group="db"), receiver) == expected


@pytest.mark.parametrize("zone", Zone)
@pytest.mark.parametrize("data_class", DataClass)
def test_a_receiver_gets_nothing_above_its_zone(zone: Zone, data_class: DataClass) -> None:
    """The ceiling decides, for every pair."""
    found = reason(tool(data_class=data_class), Receiver(ADA, zone))

    assert found == (None if data_class.rank <= zone.ceiling.rank else "data_class")


def test_what_leaves_the_process_is_held_to_the_mark() -> None:
    """A conversation that has read delicate content may not send arguments to a far zone."""
    sending = tool(sends_to="external_global")

    assert reason(sending, Receiver(ADA, Zone.LOCAL, mark=DataClass.EDITOR_CONTENT)) is None
    assert reason(sending, Receiver(ADA, Zone.LOCAL, mark=DataClass.SOURCE_CODE)) == "sends_to"
    assert reason(tool(), Receiver(ADA, Zone.LOCAL, mark=DataClass.SECRET_ADJACENT)) is None


def test_reasons_come_cheapest_and_least_revealing_first() -> None:
    """A tool against which everything speaks gives its reasons one by one, in the one order."""
    everything = {
        "requires_admin": True,
        "data_class": "secret_adjacent",
        "sends_to": "external_global",
    }
    closed = tool(**everything)
    far = {"mark": DataClass.SECRET_ADJACENT, "tools": frozenset[str]()}

    steps = [
        (Receiver(None, Zone.EXTERNAL_GLOBAL, **far), ["probe"], "disabled"),
        (Receiver(None, Zone.EXTERNAL_GLOBAL, **far), [], "no_actor"),
        (Receiver(BOB, Zone.EXTERNAL_GLOBAL, **far), [], "requires_admin"),
        (Receiver(ADA, Zone.EXTERNAL_GLOBAL, **far), [], "not_in_session"),
        (Receiver(ADA, Zone.EXTERNAL_GLOBAL, None, far["mark"]), [], "data_class"),  # type: ignore[arg-type]
        (Receiver(ADA, Zone.LOCAL, None, far["mark"]), [], "sends_to"),  # type: ignore[arg-type]
        (Receiver(ADA, Zone.LOCAL), [], None),
    ]

    found = [reason(closed, receiver, disabled=off) for receiver, off, _ in steps]
    assert found == [expected for _, _, expected in steps]
    assert {r for r in found if r} <= set(get_args(Reason))


def test_observing_governs_the_class_alone() -> None:
    """What enforcing would refuse for its class is offered, and recorded; nothing else is."""
    observing = Policy(observe=True)
    far = Receiver(ADA, Zone.EXTERNAL_GLOBAL)

    decided = observing.decide(tool(data_class="secret_adjacent"), far)
    assert decided == PolicyDecision(allowed=True, reason="data_class", observed_only=True)
    sent = observing.decide(
        tool(sends_to="external_global"), Receiver(ADA, Zone.LOCAL, mark=DataClass.SOURCE_CODE)
    )
    assert sent == PolicyDecision(allowed=True, reason="sends_to", observed_only=True)
    for closed, receiver in [
        (tool(effect="unknown"), far),
        (tool(requires_admin=True), Receiver(BOB, Zone.LOCAL)),
        (tool(), Receiver(ADA, Zone.LOCAL, frozenset())),
        (tool(data_class="editor_content"), Receiver(None, Zone.LOCAL)),
    ]:
        assert not observing.decide(closed, receiver).allowed


@given(
    st.sampled_from(DataClass),
    st.sampled_from(Effect),
    st.booleans(),
    st.none() | st.sampled_from(DataClass),
    st.none() | st.sampled_from(Effect),
    st.booleans(),
    st.none() | st.sampled_from(DataClass),
)
def test_settings_only_raise(
    claimed: DataClass,
    effect: Effect,
    admin: bool,
    data_class: DataClass | None,
    raised: Effect | None,
    admins: bool,
    floor: DataClass | None,
) -> None:
    """Whatever code, settings and the plugin's own settings say, the strictest holds."""
    bound = tool(data_class=claimed, effect=effect, requires_admin=admin)

    raise_claims(bound, ToolRules(data_class, raised, admins), floor)

    classes = [claimed, *(c for c in (data_class, floor) if c is not None)]
    assert bound.data_class.rank == max(c.rank for c in classes)
    assert bound.effect.rank == max(e.rank for e in (effect, raised) if e is not None)
    assert bound.requires_admin == (admin or admins)
    assert bound.reads == (bound.effect is Effect.READ_ONLY)
    assert bound.requires_approval == (not bound.reads)


def test_a_tool_raised_to_a_write_is_off_and_needs_approval() -> None:
    """Like any other write, also when its author called it reading."""
    bound = tool()
    raise_claims(bound, ToolRules(effect=Effect.IDEMPOTENT_WRITE), None)

    assert reason(bound) == "disabled"
    assert bound.requires_approval


def test_settings_reach_the_gate() -> None:
    """Rules, disabled tools and groups of the operator's file are asked at each call."""
    tools = [
        Counted(fine, name="a"),
        Counted(fine, name="b", group="db"),
        Counted(fine, name="c"),
        Counted(fine, name="d"),
        Counted(fine, name="e"),
    ]
    host = Host(
        tools=tools,
        settings={
            "disable": ["a"],
            "groups": {"disable": ["db"]},
            "tools": {
                "c": {"requires_admin": True},
                "d": {"data_class": "secret_adjacent"},
                "e": {"effect": "unknown"},
            },
        },
    )
    session = host.session(actor=BOB, zone="external_eu")

    reasons = [session.call(name).metadata.value.get("reason") for name in "abcd"]
    assert reasons == ["disabled", "disabled", "requires_admin", "data_class"]
    assert session.call("e").failure.code == "approval_denied"  # type: ignore[union-attr]
    assert [spec.name for spec in session.tools()] == ["e"]
    assert [t.count for t in tools] == [0] * 5
