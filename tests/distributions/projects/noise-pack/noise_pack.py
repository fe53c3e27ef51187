"""Nothing to do with us; its metadata is malformed."""
