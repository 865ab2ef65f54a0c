"""The warehouse folder read as a catalog, without Spark."""
