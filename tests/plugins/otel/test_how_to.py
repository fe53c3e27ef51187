import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.spans import Spans
from support.tools import ADA, plugin
from toolseam import ToolResult
from toolseam.providers import ProviderError, ProviderFault
from toolseam.testing import ScriptedProvider

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "trace-with-opentelemetry.md"


def test_the_page_works_as_printed(tmp_path: Path) -> None:
    """The program of the page prints the span that it promises, and its doors open."""
    program, doors = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "reader.py").write_text(program + doors + "print()\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "reader.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    span = json.loads(done.stdout)
    assert (span["name"], span["kind"]) == ("execute_tool greet", "SpanKind.INTERNAL")
    assert "Ada" not in done.stdout


def test_the_page_names_every_attribute(spans: Spans) -> None:
    """What a span says, of a call that is made or refused and of a run, stands on the page."""

    def long(arguments: Any) -> ToolResult:
        return ToolResult.text("x" * 60_000)

    host = spans.host(plugin(long), plugin(long, name="secret", data_class="secret_adjacent"))
    host.call("probe")
    host.call("secret")
    fails = ProviderError("No.", ProviderFault.AUTH)
    host.session(actor=ADA).run(ScriptedProvider([fails], name="openai:gpt-6"), "q")
    table = set(re.findall(r"`((?:gen_ai|toolseam|error)\.[a-z_.]+)`", PAGE.read_text("utf-8")))

    assert {name for span in spans.ended for name in span.attributes} == table
