"""Queries that several modules use, and the fragments of all queries; other queries are beside their only user.

A `Query` is a fixed text and values are parameters: texts are built at import, never from what a caller sends.
"""
