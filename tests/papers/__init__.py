"""Worked examples of the papers, with their numbers."""
