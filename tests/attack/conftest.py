"""The service as an attacker meets it: the same process and fixtures as in the acceptance tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.acceptance.conftest import citizen, service, wordless
from tests.attack.processes import close

__all__ = ["citizen", "service", "wordless"]


@pytest.fixture
def running() -> Iterator[list[subprocess.Popen[str]]]:
    """The processes of a test, which adds them; they are ended behind it."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        close(process)
