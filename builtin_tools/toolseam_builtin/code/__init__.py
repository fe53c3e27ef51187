"""Tools that read an application's sources."""
