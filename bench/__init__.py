"""Benchmarks: ratios side by side in one warm run, on data from a real generator."""
