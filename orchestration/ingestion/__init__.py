"""Conversations and files become commands."""
