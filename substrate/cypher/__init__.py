"""All Cypher, as named constants with a sentence each.

A `Query` is fixed text; values travel as parameters. The texts are put together here, once, from the fragments
of `columns`; nothing is ever assembled from what a caller sends.
"""
