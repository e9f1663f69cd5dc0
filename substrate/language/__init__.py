"""The languages: one file for each, and the words of texts."""
