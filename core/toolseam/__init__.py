"""Plugin framework for LLM tools."""
