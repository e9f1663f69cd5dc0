"""The service that the tests of the adapters use; SUBSTRATE_BASE_URL and SUBSTRATE_API_KEY name it."""

from __future__ import annotations

import asyncio
import os
import re
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Callable, Coroutine
from pathlib import Path
from uuid import uuid4

import pytest

if "SUBSTRATE_BASE_URL" not in os.environ:  # noqa: TID251
    pytest.skip("SUBSTRATE_BASE_URL names no service", allow_module_level=True)


@pytest.fixture
def citizen() -> str:
    """A citizen whom nobody else has used."""
    return f"c{uuid4().hex[:12]}"


@pytest.fixture
def run_example(citizen: str) -> Callable[[str, object], None]:
    """Runs the example of a section of the page on frameworks with a model, for this citizen."""

    def run(section: str, model: object) -> None:
        page = (Path(__file__).parents[3] / "docs" / "frameworks.md").read_text("utf-8")
        example = re.search(rf"^## {section}\n\n```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert example is not None, section
        code = example[1].replace('"ada"', repr(citizen))

        done = eval(compile(code, section, "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT), {"model": model})
        if isinstance(done, Coroutine):
            asyncio.run(done)

    return run
