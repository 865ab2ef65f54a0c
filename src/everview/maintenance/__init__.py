"""How the change of a view is derived, one strategy per file."""
