"""Tables, keys and foreign keys, and how far each is trusted."""
