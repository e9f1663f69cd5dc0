"""The Model Context Protocol: eight tools, three prompts and one resource.

At `/mcp` of the service and over standard streams. Both call the Python client, so that keys, errors and answers
are the same as over REST.
"""
