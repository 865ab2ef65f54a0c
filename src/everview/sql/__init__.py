"""From SQL text to values and back: the only place that knows how SQL is written."""
