"""What a run is made of: its bounds, what it waits for, what people say, and where it is kept.

A store is given by the hook `toolseam_run_store` of a plugin; `Privacy` is what its copy keeps.
"""

from toolseam._held import HeldCall, HeldRun, Told
from toolseam._journal import Journal
from toolseam._levels import Privacy
from toolseam._run_store import RunStore
from toolseam._runs import (
    Budget,
    Decision,
    KeptDecision,
    PendingCall,
    Run,
    RunChange,
    RunError,
    RunStatus,
    RunStep,
    Termination,
    WaitingRun,
)
from toolseam._steps import Intent

__all__ = [
    "Budget",
    "Decision",
    "HeldCall",
    "HeldRun",
    "Intent",
    "Journal",
    "KeptDecision",
    "PendingCall",
    "Privacy",
    "Run",
    "RunChange",
    "RunError",
    "RunStatus",
    "RunStep",
    "RunStore",
    "Termination",
    "Told",
    "WaitingRun",
]
