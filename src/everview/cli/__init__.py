"""The command line: thin over the engine."""
