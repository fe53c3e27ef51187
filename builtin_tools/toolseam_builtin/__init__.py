"""The builtin tools: one module a tool, grouped by what they look at."""
