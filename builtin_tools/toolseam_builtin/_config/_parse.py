"""From a configuration file's text to its value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam_builtin._config._files import ConfigText
    from toolseam_builtin._config._model import Parsed

_LINE_END = re.compile(r"\r\n?")


def parse(source: ConfigText, end: float) -> Parsed:
    """Read a text as what its name says it is.

    Args:
        source: the text without its byte order mark.
        end: a moment of `time.monotonic()` at which reading stops.

    Raises `Broken`, and `ToolError` `unavailable` where a parser is not installed.
    """
    text = source.text
    if source.format == "TOML":
        from toolseam_builtin._config._toml import parse_toml

        return parse_toml(text)
    text = _LINE_END.sub("\n", text)
    if source.format == "YAML":
        from toolseam_builtin._config._yaml import parse_yaml

        return parse_yaml(text, end)
    if source.format == "JSON":
        from toolseam_builtin._config._json import parse_json

        return parse_json(text)
    if source.format == "Python":
        from toolseam_builtin._config._python import parse_python

        return parse_python(text)
    if source.format == "INI":
        from toolseam_builtin._config._ini import parse_ini

        return parse_ini(text)
    from toolseam_builtin._config._dotenv import parse_dotenv

    return parse_dotenv(text)
