"""The servers of the benchmark: one tool over MCP, each in the words of its own framework."""
