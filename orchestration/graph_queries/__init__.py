"""The queries of a question, one list for each graph, and how they are run."""
