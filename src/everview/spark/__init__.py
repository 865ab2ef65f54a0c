"""Sessions, change capture, execution and state; the only place that knows pyspark and delta."""
