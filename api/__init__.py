"""The doors of the service: REST, MCP, the command line and the Python client."""
