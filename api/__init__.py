"""The doors of the service: REST, MCP, the command line and the Python client."""

from __future__ import annotations

from importlib import import_module


def installed_version() -> str:
    """The version, or 0.0.0 in a source tree that is not installed."""
    metadata = import_module("importlib.metadata")  # it imports the parser of mail, and few calls show a version
    try:
        return str(metadata.version("consciousness-substrate"))
    except metadata.PackageNotFoundError:
        return "0.0.0"
