"""The version of the installed distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version, or 0.0.0 in a source tree that is not installed."""
    try:
        return version("consciousness-substrate")
    except PackageNotFoundError:
        return "0.0.0"
