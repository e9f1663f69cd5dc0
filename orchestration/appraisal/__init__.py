"""Appraises texts at writing; reads emotions, results, relations and key phrases from them. Pure."""
