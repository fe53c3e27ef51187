"""The classes of tools' arguments, made for less than other classes cost."""

from __future__ import annotations

from typing import TypeVar, dataclass_transform

import attrs

C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(attrs.field,))
def asked(cls: C) -> C:
    """Make a frozen attrs class that is neither compared nor printed, and has no slots.

    attrs compiles the methods of every class that it makes, and makes one with slots twice. A
    listing makes one class a tool, and this would be more than half of what they cost.
    """
    return attrs.frozen(cls, eq=False, repr=False, slots=False)
