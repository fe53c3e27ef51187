"""What toolseam costs, measured beside its peers in one run: `python -m benchmarks`."""
