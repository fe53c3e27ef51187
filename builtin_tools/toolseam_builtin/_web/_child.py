"""The child process: imports the application and says what it is made of, as one JSON object.

Run by path with `-I`; needs nothing but the standard library. It reads its task from the standard
input and answers on the descriptor that its argument names.
"""

import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any


def main() -> None:
    """Do the one task; whatever the application does meanwhile, the answer is one object."""
    answers = int(sys.argv[1])
    # What the application starts must not hold the pipe open.
    os.set_inheritable(answers, False)
    task = json.loads(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Should the host die, nobody else ends this process.
    signal.setitimer(signal.ITIMER_REAL, task["seconds"] + 1)
    describe = _own_room(task["room"])
    try:
        report = describe(_application(task), _routes(task), task["path"], task["host"])
    except BaseException as error:  # noqa: BLE001 - SystemExit too: applications do that
        report = {"fault": _fault(error, Path(task["folder"]))}
    with os.fdopen(answers, "w", encoding="utf-8") as pipe:
        json.dump(report, pipe)
    os._exit(0)  # what the application wants done at its end is not wanted here


def _own_room(name: str) -> Any:  # noqa: ANN401 - the function `describe` of a room of ours
    """Import from the copy of the builtins that this file belongs to, and leave no trace."""
    home = str(Path(__file__).resolve().parents[2])
    sys.path.insert(0, home)
    describe = importlib.import_module(name).describe
    sys.path.remove(home)
    return describe


def _application(task: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever it is
    """Import the application from the first folder that has its package."""
    top = task["app"].partition(":")[0].partition(".")[0]
    roots = [Path(root) for root in task["roots"]]
    holding = [root for root in roots if (root / top).is_dir() or (root / f"{top}.py").is_file()]
    sys.path.insert(0, str((holding or roots)[0]))
    return _named(task["app"])


def _routes(task: dict[str, Any]) -> Any:  # noqa: ANN401 - checked where it is read
    return _named(task["routes"]) if task["routes"] else None


def _named(target: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return what `module:object` names; with `()` at its end, what calling it gives."""
    module, _, name = target.partition(":")
    found: Any = importlib.import_module(module)
    for each in name.removesuffix("()").split("."):
        found = getattr(found, each)
    return found() if name.endswith("()") else found


def _fault(error: BaseException, folder: Path) -> dict[str, Any]:
    """Say what went wrong without the exception's text: its type, and the last place of ours."""
    place: list[Any] = []
    for frame in traceback.extract_tb(error.__traceback__):
        file = Path(frame.filename)
        if file.is_relative_to(folder) and "site-packages" not in file.parts:
            place = [file.relative_to(folder).as_posix(), frame.lineno]
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return {"type": type(error).__name__, "missing": missing, "place": place}


if __name__ == "__main__":
    main()
