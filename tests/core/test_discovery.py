"""Records get the status that the operator's words give them, before any import."""

import random
from pathlib import Path

import pytest

from support.dist_info import tools, write_dist
from toolseam._discovery import Discovery, discover
from toolseam._entrypoints import Record, scan
from toolseam._selection import Selection

EVERYTHING = Selection(trust=["*"])


def offer(
    distribution: str, name: str = "ping", *, kind: str = "tool", builtin: bool = False
) -> Record:
    """Make a record as the scan makes it."""
    return Record(
        kind=kind,  # type: ignore[arg-type]
        name=name,
        value=f"{distribution.replace('-', '_')}.{name}",
        distribution=distribution,
        version="1.0",
        location="/site",
        builtin=builtin,
    )


def judge(selection: Selection, *records: Record) -> Discovery:
    """Judge records as if one scan had found them."""
    found = scan([])
    return discover(selection, found=type(found)(records, found.shadowed))


def statuses(found: Discovery) -> dict[str, tuple[str, str]]:
    """Give status and reason by distribution."""
    return {record.distribution: (record.status, record.reason) for record in found.records}


def test_third_parties_are_untrusted_until_they_are_named() -> None:
    """Neither a builtin nor a named distribution is asked about; the rest says what to do."""
    records = offer("toolseam", "greet", builtin=True), offer("acme", "a"), offer("other", "b")

    found = judge(Selection(trust=["Acme"]), *records)

    assert statuses(found) == {
        "toolseam": ("found", ""),
        "acme": ("found", ""),
        "other": ("untrusted", "not_trusted"),
    }
    assert "toolseam trust other" in found.records[1].detail


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ({}, ("found", "")),
        ({"block": ["ACME_pack"]}, ("disabled", "blocked")),
        ({"block": ["send.mail"]}, ("disabled", "blocked")),
        ({"allow": [["other"]]}, ("disabled", "not_allowed")),
        ({"allow": [["acme.pack"], ["other"]]}, ("disabled", "not_allowed")),
        ({"allow": [["acme.pack"], ["send_mail"]]}, ("found", "")),
        ({"allow": [[]]}, ("disabled", "not_allowed")),
        ({"disable": ["Send-Mail"]}, ("disabled", "disabled")),
        ({"disable": ["acme-pack"]}, ("found", "")),
    ],
)
def test_words_are_compared_by_distribution_or_entry_point(
    words: dict[str, list[str]], verdict: tuple[str, str]
) -> None:
    """Allow and block name either, disable a tool, all in their PEP 503 form."""
    found = judge(Selection(trust=["*"], **words), offer("acme-pack", "send_mail"))  # type: ignore[arg-type]

    assert statuses(found) == {"acme-pack": verdict}


def test_a_block_is_stronger_than_trust() -> None:
    """Who is both trusted and blocked is not imported."""
    found = judge(Selection(trust=["acme"], block=["acme"]), offer("acme"))

    assert statuses(found) == {"acme": ("disabled", "blocked")}


@pytest.mark.parametrize(
    ("trust", "verdict"),
    [
        ([], ("untrusted", "not_trusted")),
        (["*"], ("untrusted", "not_trusted")),
        (["acme"], ("found", "")),
        (["watch"], ("found", "")),
    ],
)
def test_a_host_plugin_must_be_named(trust: list[str], verdict: tuple[str, str]) -> None:
    """A wrapper sees every call, so `"*"` does not open it (contract §2)."""
    found = judge(Selection(trust=trust), offer("acme", "watch", kind="plugin"))

    assert statuses(found) == {"acme": verdict}


def test_a_host_plugin_of_our_own_is_off_until_it_is_named() -> None:
    """It needs no trust, but a word."""
    own = offer("toolseam", "audit", kind="plugin", builtin=True)

    assert statuses(judge(EVERYTHING, own)) == {"toolseam": ("disabled", "not_named")}
    assert statuses(judge(Selection(trust=["audit"]), own)) == {"toolseam": ("found", "")}


def test_naming_a_mount_names_what_mounts_it() -> None:
    """`[mounts]` is a word for our own plugin alone: nobody else's of that name is loaded by it."""
    own = offer("toolseam", "mcp", kind="plugin", builtin=True)
    others = offer("toolseam", "audit", kind="plugin", builtin=True)
    third = offer("acme", "mcp", kind="plugin")
    words = Selection(mounts=True)

    assert statuses(judge(words, own)) == {"toolseam": ("found", "")}
    assert statuses(judge(words, others)) == {"toolseam": ("disabled", "not_named")}
    assert statuses(judge(words, third)) == {"acme": ("untrusted", "not_trusted")}
    assert statuses(judge(Selection(mounts=True, block=["mcp"]), own)) == {
        "toolseam": ("disabled", "blocked")
    }
    assert statuses(judge(Selection(), own)) == {"toolseam": ("disabled", "not_named")}


@pytest.mark.parametrize("seed", range(6))
def test_of_two_claims_to_a_name_neither_holds(seed: int) -> None:
    """P15: whatever the order, both are named together with the setting that picks one."""
    records = [offer("twin-one"), offer("twin-two"), offer("acme", "greet")]
    random.Random(seed).shuffle(records)

    found = judge(EVERYTHING, *records)

    assert statuses(found) == {
        "twin-one": ("conflict", "same_name"),
        "twin-two": ("conflict", "same_name"),
        "acme": ("found", ""),
    }
    detail = found.records[-1].detail
    assert "twin-one" in detail
    assert "twin-two" in detail
    assert 'prefer = { ping = "twin-one" }' in detail


def test_prefer_picks_one_of_two() -> None:
    """The other is disabled, which is no fault."""
    selection = Selection(trust=["*"], prefer={"ping": "Twin_Two"})

    found = judge(selection, offer("twin-one"), offer("twin-two"))

    assert statuses(found) == {"twin-one": ("disabled", "not_preferred"), "twin-two": ("found", "")}
    assert found.faults() == ()


def test_a_builtin_keeps_its_name() -> None:
    """P15: a third party that takes it is a conflict; the builtin stays."""
    found = judge(EVERYTHING, offer("extra-pack"), offer("toolseam", builtin=True))

    assert statuses(found) == {"extra-pack": ("conflict", "builtin"), "toolseam": ("found", "")}
    assert 'prefer = { ping = "extra-pack" }' in found.records[0].detail


def test_a_builtin_is_replaced_by_the_setting_alone() -> None:
    """Only `prefer`, which names the distribution, replaces a builtin."""
    records = offer("extra-pack"), offer("toolseam", builtin=True)

    preferred = judge(Selection(trust=["*"], prefer={"ping": "extra-pack"}), *records)
    untrusted = judge(Selection(prefer={"ping": "extra-pack"}), *records)

    assert statuses(preferred)["extra-pack"] == ("found", "")
    assert statuses(preferred)["toolseam"] == ("disabled", "not_preferred")
    assert statuses(untrusted)["toolseam"] == ("found", "")


@pytest.mark.parametrize("words", [{}, {"trust": ["*"], "block": ["rival"]}])
def test_who_may_not_load_takes_nobody_out(words: dict[str, list[str]]) -> None:
    """A distribution that is untrusted or blocked cannot knock out another's tool."""
    words = {"trust": ["acme"]} | words

    found = judge(Selection(**words), offer("acme"), offer("rival"))  # type: ignore[arg-type]

    assert statuses(found)["acme"] == ("found", "")


def test_the_same_target_twice_is_benign() -> None:
    """One is found, the other says that it is the same."""
    twin = offer("acme")
    again = Record(
        kind="tool",
        name=twin.name,
        value=twin.value,
        distribution="wrapper",
        version="1.0",
        location="/site",
    )

    found = judge(EVERYTHING, again, twin)

    assert statuses(found) == {"acme": ("found", ""), "wrapper": ("disabled", "same_target")}
    assert found.faults() == ()


def test_one_distribution_with_two_targets_is_a_conflict(tmp_path: Path) -> None:
    """A name given twice in one file holds for neither target."""
    write_dist(tmp_path, "acme", points=tools(ping="one") + "ping = two\n")

    found = discover(EVERYTHING, path=[str(tmp_path)])

    assert [record.status for record in found.records] == ["conflict", "conflict"]
    assert "twice" in found.records[0].detail


def test_a_tool_and_a_host_plugin_may_share_a_name() -> None:
    """They are two groups."""
    selection = Selection(trust=["acme", "watch"])

    found = judge(selection, offer("acme"), offer("watch", "ping", kind="plugin"))

    assert statuses(found) == {"acme": ("found", ""), "watch": ("found", "")}


@pytest.mark.parametrize("setting", ["trust", "block", "disable"])
def test_an_unknown_name_gets_near_misses(setting: str) -> None:
    """A setting that names nothing is told, with what was probably meant."""
    found = judge(Selection(**{setting: ["acme-gret"]}), offer("acme-greet"))  # type: ignore[arg-type]

    (note,) = found.notes
    assert f"`{setting}`" in note
    assert "did you mean 'acme-greet'?" in note


def test_unknown_names_in_allow_and_prefer_are_told_once() -> None:
    """Each setting and name gives one note, however often it is written."""
    selection = Selection(allow=[["nobody"], ["nobody"]], prefer={"ping": "zzz"})

    found = judge(selection, offer("acme"))

    assert len(found.notes) == 2


def test_strict_names_what_is_wrong_and_not_what_was_chosen() -> None:
    """Conflicts and broken metadata are faults; untrusted and disabled are decisions."""
    bad = offer("bad", "x").with_status("bad_metadata", "entry_points", "line 2")
    records = bad, offer("a"), offer("b"), offer("gone", "y"), offer("far", "z", kind="plugin")

    found = judge(Selection(trust=["*", "typo"], block=["gone"]), *records)

    text = "\n".join(found.faults())
    assert len(found.faults()) == 4
    for word in ("bad", "line 2", "a 1.0", "b 1.0", "typo"):
        assert word in text
    assert "gone" not in text


def test_two_sets_share_one_scan(tmp_path: Path) -> None:
    """Two selections over one walk along the path give two outcomes."""
    write_dist(tmp_path, "acme", points=tools(greet="acme"))
    found = scan([str(tmp_path)])

    first = discover(Selection(trust=["acme"]), found=found)
    second = discover(Selection(), found=found)

    assert statuses(first) == {"acme": ("found", "")}
    assert statuses(second) == {"acme": ("untrusted", "not_trusted")}
