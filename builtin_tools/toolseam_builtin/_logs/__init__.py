"""Reading the logs of a workspace, newest first, within a budget: files, records, tracebacks."""
