"""Its metadata is mangled."""
