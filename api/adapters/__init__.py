"""Substrate in the frameworks of others, on the Python client."""
