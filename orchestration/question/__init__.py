"""Reads a question: its words, its times, and the memories that it names in each graph."""
