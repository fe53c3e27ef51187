"""First-party plugins of toolseam; each one lives behind an extra."""
