"""Sphinx settings: four kinds of pages, MyST, furo, and the types from the code."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "toolseam"
author = "the toolseam authors"
copyright = "2026, the toolseam authors"  # noqa: A001 - Sphinx names it so
version = release = installed_version("toolseam")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "tool_pages",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "toolseam"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autoclass_content = "class"
