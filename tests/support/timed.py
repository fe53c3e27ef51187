"""The kit's checks that judge by the clock, and where their limits are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam_plugins.conformance import _of_effects, _of_import, _of_spec, _of_time

if TYPE_CHECKING:
    from types import ModuleType

BUDGETS: dict[str, tuple[ModuleType, str]] = {
    "import-within-budget": (_of_import, "BUDGET_S"),
    "inline-never-waits": (_of_time, "INLINE_S"),
    "never-blocks-the-loop": (_of_time, "BLOCKED_S"),
    "stops-at-deadline": (_of_time, "GRACE_S"),
    "stops-when-cancelled": (_of_time, "GRACE_S"),
    "spec-cheap": (_of_spec, "CHEAP_S"),
    "leaves-no-thread": (_of_effects, "_GRACE_S"),
}
