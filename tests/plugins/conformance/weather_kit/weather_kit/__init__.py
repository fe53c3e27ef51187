"""Weather, as a package that knows nothing of toolseam's own habits would tell it."""
