import asyncio

from toolseam._watch import Watch


async def watched(watch: Watch, seconds: float, work: float) -> bool:
    """Work for a while under watch; tell whether the watch ended it."""
    task = asyncio.current_task()
    assert task is not None
    flights = watch.enter(task, seconds)
    try:
        await asyncio.sleep(work)
    except asyncio.CancelledError:
        if flights is None or not flights.leave(task):
            raise
        task.uncancel()
        return True
    return flights is not None and flights.leave(task)


def test_what_overruns_is_cancelled() -> None:
    """The watch ends the one that overran and leaves the other alone."""

    async def main() -> list[bool]:
        watch = Watch()
        return list(await asyncio.gather(watched(watch, 0.05, 10), watched(watch, 10, 0.4)))

    assert asyncio.run(main()) == [True, False]


def test_a_call_within_a_call_is_watched_by_the_outer_one() -> None:
    """One task is cancelled once, however many calls it is in."""

    async def main() -> tuple[bool, bool, int]:
        watch = Watch()
        task = asyncio.current_task()
        assert task is not None
        outer = watch.enter(task, 0.05)
        assert outer is not None
        inner = False
        try:
            inner = await watched(watch, 0.05, 10)
        except asyncio.CancelledError:
            task.uncancel()
        overran = outer.leave(task)
        await asyncio.sleep(0.3)
        return overran, inner, task.cancelling()

    assert asyncio.run(main()) == (True, False, 0)


def test_each_loop_has_flights_of_its_own() -> None:
    """A watch outlives the loops that it looked at, and holds the last one at the most."""
    watch = Watch()

    assert asyncio.run(watched(watch, 0.05, 10))
    assert asyncio.run(watched(watch, 0.05, 10))

    assert len(watch._flights) == 1


def test_an_idle_loop_is_not_woken() -> None:
    """Once nothing is watched the tick ends by itself."""

    async def main() -> bool:
        watch = Watch()
        await watched(watch, 10, 0.01)
        await asyncio.sleep(0.4)
        return bool(watch._flights)

    assert not asyncio.run(main())


def test_others_cancellations_are_not_the_watchs() -> None:
    """A call is said to have overrun only where the watch itself ended it."""

    async def main() -> bool:
        watch = Watch()
        task = asyncio.create_task(watched(watch, 10, 10))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
