"""Turns conversations and files into commands, and stores them."""
