"""The types are an interface: what authors write passes, what would leak does not."""

from pathlib import Path

import pytest
from mypy import api

FOLDER = Path(__file__).parent / "typing"


@pytest.mark.parametrize("name", ["accepted.py", "rejected.py"])
def test_mypy_agrees_with_the_file(name: str, tmp_path: Path) -> None:
    """Under mypy --strict a file has exactly the errors that its lines announce."""
    report, complaint, code = api.run(
        ["--strict", "--config-file=", f"--cache-dir={tmp_path}", str(FOLDER / name)]
    )

    assert (report.splitlines()[:-1], complaint, code) == ([], "", 0)


def test_something_is_rejected() -> None:
    """The rejected file announces errors, handing `str` to a sink of `WireText` among them."""
    lines = (FOLDER / "rejected.py").read_text(encoding="utf-8").splitlines()

    announced = [line.split("#")[0].strip() for line in lines if "# type: ignore[" in line]

    assert 'send("any text")' in announced
