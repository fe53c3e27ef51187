"""The files of a new package: `<distribution>`, `<module>` and `<tool>` are filled in."""

from __future__ import annotations

from typing import Final

FILES: Final = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "<distribution>"
version = "0.1.0"
description = "A tool for toolseam."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["toolseam"]

[project.optional-dependencies]
test = ["pytest", "toolseam[conformance]"]

# The name is the tool's, the value its module. One line a tool.
[project.entry-points."toolseam.tools"]
<tool> = "<module>"

[tool.hatch.build.targets.wheel]
only-include = ["<module>.py"]

[tool.pytest.ini_options]
pythonpath = ["."]
testpaths = ["tests"]
""",
    "<module>.py": '''\
"""The tool `<tool>`."""

from __future__ import annotations

from typing import Annotated

import attrs

from toolseam import Arg, ErrorCode, ToolArtifact, ToolError, ToolResult, ToolSpec, hookimpl

toolseam_api = "1"


@attrs.frozen
class Arguments:
    """What a model may ask; also the schema that it is shown."""

    name: Annotated[str, Arg("Who is greeted.", min_length=1, max_length=100)]
    times: Annotated[int, Arg("How often.", ge=1, le=5)] = 1


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="<tool>",
        description="Say hello to somebody.",
        parameters=Arguments,
        effect="read_only",  # any other effect needs a person's approval
        data_class="public_content",  # how delicate the answers are
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Greet. Arguments have been checked; a `ToolError` is a refusal with a code."""
    name = arguments.name.strip()
    if not name:
        raise ToolError("Nobody is named.", ErrorCode.INVALID_ARGUMENTS)
    lines = [f"Hello, {name}!"] * arguments.times
    return ToolResult.text(
        "\\n".join(lines),  # what the model is told
        ToolArtifact.table("Greetings", ["name", "greeting"], [[name, line] for line in lines]),
        data={"name": name, "times": arguments.times},  # for programs; neither is for the model
    )
''',
    "tests/test_<module>.py": '''\
"""What `<tool>` answers, called through the whole seam as a host calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import <module>
from toolseam import ErrorCode
from toolseam.testing import harness, parametrize_with_checks

if TYPE_CHECKING:
    from collections.abc import Callable


@parametrize_with_checks(<module>, examples=[{"name": "Ada"}])
def test_it_keeps_the_contract(check: Callable[[], None]) -> None:
    """Every check of the conformance kit passes: `toolseam check --list` says what they ask."""
    check()


def test_it_greets_as_often_as_asked() -> None:
    """The content has one line a greeting."""
    result = harness(<module>).call({"name": "Ada", "times": 2})

    assert result.success
    assert result.content == "Hello, Ada!\\nHello, Ada!"


def test_it_keeps_table_and_data_for_people_and_programs() -> None:
    """What is not for the model stands beside the content."""
    result = harness(<module>).call({"name": "Ada"})

    assert result.data == {"name": "Ada", "times": 1}
    assert result.artifacts[0].rows == [["Ada", "Hello, Ada!"]]


def test_it_refuses_what_breaks_its_schema() -> None:
    """A call that does not fit the schema never reaches the tool."""
    result = harness(<module>).call({"name": "Ada", "times": 9})

    assert result.failure is not None
    assert result.failure.code is ErrorCode.INVALID_ARGUMENTS


def test_it_refuses_a_blank_name() -> None:
    """What the schema cannot say, the tool says with a code."""
    result = harness(<module>).call({"name": " "})

    assert result.failure is not None
    assert result.failure.code is ErrorCode.INVALID_ARGUMENTS
''',
    "README.md": """\
# <distribution>

The tool `<tool>` for toolseam.

```sh
pip install -e '.[test]'
pytest
toolseam check <distribution>
toolseam trust <distribution>
toolseam run <tool> --arg name=Ada
```

Until it is trusted it is listed, and not imported: a plugin is code, and whoever runs the host says
whose code that may be.
""",
    ".gitignore": "__pycache__/\n.hypothesis/\n.venv/\ndist/\n",
}
"""Relative name to text."""
