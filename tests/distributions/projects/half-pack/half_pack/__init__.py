"""Two tools, of which one is bad."""
