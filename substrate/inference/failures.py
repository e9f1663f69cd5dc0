"""What is told of a provider of models that fails."""

from __future__ import annotations


def failed(error: Exception) -> str:
    """That a provider failed, and of what kind: by its HTTP status, or by the class of the error."""
    # The kind alone: a provider's own words may repeat the key.
    status = getattr(error, "status_code", None)
    return f"failed ({f'status {status}' if isinstance(status, int) else type(error).__name__})"
