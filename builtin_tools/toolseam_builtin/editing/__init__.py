"""Tools that change records: off until an operator enables them, and only after an approval."""
