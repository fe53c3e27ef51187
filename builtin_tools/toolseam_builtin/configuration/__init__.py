"""Tools that tell how an application is configured."""
