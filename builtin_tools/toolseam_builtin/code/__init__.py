"""Tools that read an application's sources."""

PASSED_OVER = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders of what others wrote or a machine made: no search looks into them."""
