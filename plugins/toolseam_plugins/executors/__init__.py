"""Engines that carry the bodies of calls to other processes and machines, each behind an extra."""
