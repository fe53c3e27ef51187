"""Tools that read how an application stores it."""
