"""The Model Context Protocol: six tools and one resource, at `/mcp` of the service and over standard streams.

Both stand on the Python client, so that keys, faults and answers are those of REST.
"""
