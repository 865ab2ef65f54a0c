"""Relations, columns, scalars and predicates: frozen values, checked when built."""
