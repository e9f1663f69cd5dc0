"""The TypeScript client: node's own test runner, with a served store."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from scripts.reference.document import openapi
from scripts.typescript_client import CLIENT, TYPES, types
from tests.acceptance.conftest import ADMIN_KEY, Service

NODE = shutil.which("node")
OLDEST_NODE = 20
has_tools = (CLIENT / "node_modules/.bin/tsc").exists()


def run(*words: str, **variables: str) -> str:
    """What a program says in the folder of the client; it must succeed."""
    env = {**os.environ, **variables}  # noqa: TID251
    done = subprocess.run(words, cwd=CLIENT, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def node() -> str:
    """The program. Skips where there is none that is new enough."""
    if NODE is None or int(run(NODE, "--version").lstrip("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip("no node here")
    return NODE


def test_an_afternoon_against_a_service(node: str, service: Service) -> None:
    said = run(
        node,
        "--test",
        "--test-reporter=tap",
        SUBSTRATE_BASE_URL=service.url,
        SUBSTRATE_API_KEY=ADMIN_KEY,
    )
    assert re.search(r"^# skipped 0$", said, re.MULTILINE), said


@pytest.mark.skipif(not has_tools, reason="needs `npm ci` in clients/typescript")
def test_the_types_are_those_of_the_document_and_the_client_fits_them() -> None:
    assert TYPES.read_text("utf-8") == types(openapi()), "run `python -m scripts.typescript_client --types`"
    run("npm", "run", "check")
