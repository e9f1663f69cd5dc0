"""Adapters that let other frameworks use Substrate as their memory, through the Python client."""
