"""Many runs on workers that are killed at random: all end or are held, and no write is made twice.

The long one, with 1,000 runs over 4 workers, is `python -m benchmarks.soak`.
"""

from support.soaking import soak


def test_no_run_is_lost_and_no_write_is_made_twice(url: str) -> None:
    """40 runs over 2 workers, one of which is killed now and then."""
    made = soak(url, runs=40, processes=2, kills=6, every_s=0.8, within_s=240)

    assert set(made.status) <= {"completed", "held"}
    assert sum(made.status.values()) == 40
    assert (made.twice, made.wrong) == ((), ())
    assert made.kills
    assert made.reads >= 2 * made.status.get("completed", 0)
