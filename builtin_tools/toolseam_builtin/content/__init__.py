"""Tools that read what an application stores."""
