"""Queries with several users, and the fragments of all queries; a query with one user stands beside it.

A `Query` is a fixed text and values are parameters: texts are built at import, never from what a caller sends.
"""
