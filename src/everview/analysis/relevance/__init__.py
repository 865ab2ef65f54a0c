"""Which rows of a table can matter to a view (Blakeley, Larson and Tompa 1986, section 4).

A row is irrelevant if the view's condition cannot hold with it, whatever the other rows are.
For conditions made of x ≤ y + c this is decided by shortest paths, and the rows that pass the
test are those of a predicate: the closure of the condition, projected on the table's columns.

In the order of reading: `terms.py` scalars as column + constant, `closure.py` shortest paths,
`cases.py` a condition as an OR of ANDs, `facts.py` what one of these says, `projection.py` the
predicate, `tuples.py` the paper's theorems, `positions.py` which conditions apply where.
`conditions.py` and `demands.py` carry conditions with their origin.
"""
