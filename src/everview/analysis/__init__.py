"""Facts about a view, one per file, each with its reason."""
