"""Tools that look at files and at the rows that point to them."""
