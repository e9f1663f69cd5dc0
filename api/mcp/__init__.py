"""The Model Context Protocol: six tools and one resource, at `/mcp` of the service and over standard streams.

Both call the Python client, so that keys, errors and answers are the same as over REST.
"""
