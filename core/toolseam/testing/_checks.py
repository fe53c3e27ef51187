"""The door to the conformance kit, which is imported when it is used."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    from toolseam import Host, Session
    from toolseam_plugins.conformance import CheckResult

    Arguments = Mapping[str, Any]
    Examples = Mapping[str, Sequence[Arguments]] | Sequence[Arguments]


def check_tool(  # noqa: PLR0913 - what an author may have to tell
    target: object,
    *,
    examples: Examples | None = None,
    host: Host | Callable[[], Host] | None = None,
    settings: object = None,
    observe: Callable[[], object] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    checks: Iterable[str] | None = None,
    heard: Callable[[CheckResult], None] | None = None,
) -> list[CheckResult]:
    """Run the conformance checks over every tool that a target means.

    Args:
        target: a distribution, an entry point, `builtins`, `module`, `module:object`, a module or
            a plugin object.
        examples: arguments that the tool must do well with: a list, or lists by tool name.
        host: a host that has the tool, or a function that makes one.
        settings: an instance of the plugin's settings class, instead of a host.
        observe: returns something comparable that shows what the tool may change.
        expected_failures: reasons by `tool:slug`, or by `slug` for every tool of the target; they
            mask failures, never crashes, and one that does not happen is itself an error.
        seed: of the generated arguments.
        checks: slugs, to run these alone.
        heard: is told each result as it comes, before expected failures are weighed.

    Raises `TargetError` where the target means no tool or a slug no check, `ImportError` where
    the extra `conformance` is not installed.
    """
    found: list[CheckResult] = _kit().check_tool(
        target,
        examples=examples,
        host=host,
        settings=settings,
        observe=observe,
        expected_failures=expected_failures,
        seed=seed,
        checks=checks,
        heard=heard,
    )
    return found


def parametrize_with_checks(
    target: object,
    *,
    examples: Examples | None = None,
    host: Host | Callable[[], Host] | None = None,
    settings: object = None,
    observe: Callable[[], object] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a pytest test one parameter `check` for each check of each tool; it calls `check()`.

    Args and errors are those of `check_tool`. The ids read `tool:slug`.
    """
    decorate: Callable[[Callable[..., None]], Callable[..., None]] = _kit().parametrize_with_checks(
        target,
        examples=examples,
        host=host,
        settings=settings,
        observe=observe,
        expected_failures=expected_failures,
        seed=seed,
    )
    return decorate


def check_adapter(
    drive: Callable[[Session], str | bytes | Awaitable[str | bytes]],
    *,
    name: str = "adapter",
    checks: Iterable[str] | None = None,
) -> list[CheckResult]:
    """Prove of an adapter that nothing leaves by it which must stay.

    Args:
        drive: given a session whose tools hold canaries, calls every tool that it offers as the
            adapter does, and returns all that left: text or bytes, or an awaitable of either.
        name: the adapter, as results name it.
        checks: slugs, to run these alone.

    Raises `TargetError` where a slug is no check.
    """
    from toolseam_plugins.conformance import check_adapter

    return check_adapter(drive, name=name, checks=checks)


def _kit() -> ModuleType:
    if find_spec("hypothesis") is None:
        raise ImportError(
            "the conformance kit needs hypothesis: pip install 'toolseam[conformance]'"
        )
    from toolseam_plugins import conformance

    return conformance
