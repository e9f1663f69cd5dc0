"""The queries of a question: which graphs they ask, what they are, and how they are run."""
