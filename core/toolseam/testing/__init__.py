"""What tool authors test with: a double of the host, and canaries that must never show up."""

from __future__ import annotations

from toolseam.testing._canaries import Canary, canary
from toolseam.testing._harness import Harness, harness

__all__ = ["Canary", "Harness", "canary", "harness"]
