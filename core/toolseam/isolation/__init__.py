"""Bodies in processes of their own, with limits, and in a sandbox where the machine can."""
