"""The languages and their files."""
