"""Reads emotions, result, relations and key phrases from a text. Pure."""
