import pytest

from toolseam import DataClass, Effect, Zone


def test_classes_stand_in_the_order_of_the_policy_page() -> None:
    """Ranks go from public content, 0, to what stands beside secrets, 5."""
    words = [
        "public_content",
        "editor_content",
        "source_code",
        "internal_configuration",
        "system_diagnostics",
        "secret_adjacent",
    ]
    assert [DataClass(word).rank for word in words] == [0, 1, 2, 3, 4, 5]
    assert list(DataClass) == words


def test_an_unknown_effect_ranks_above_every_write() -> None:
    """What nobody vouches for is treated as the last write."""
    ranked = sorted(Effect, key=lambda effect: effect.rank)

    assert ranked == ["read_only", "idempotent_write", "non_idempotent_write", "unknown"]


@pytest.mark.parametrize(
    ("zone", "ceiling"),
    [
        ("external_global", "editor_content"),
        ("external_eu", "internal_configuration"),
        ("private_hosted", "system_diagnostics"),
        ("local", "secret_adjacent"),
    ],
)
def test_a_zone_has_a_ceiling(zone: str, ceiling: str) -> None:
    """A receiver gets nothing above the ceiling of the zone where it stands."""
    assert Zone(zone).ceiling == ceiling
