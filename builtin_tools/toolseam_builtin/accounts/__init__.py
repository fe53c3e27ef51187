"""Tools that list who has an account."""
