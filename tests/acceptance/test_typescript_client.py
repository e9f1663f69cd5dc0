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
LOCK, INSTALLED = CLIENT / "package-lock.json", CLIENT / "node_modules/.package-lock.json"
NO_REGISTRY = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT")


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


@pytest.fixture(scope="module")
def packages(node: str) -> None:
    """The packages of the lock, installed. Skips where no registry of packages answers."""
    if INSTALLED.exists() and INSTALLED.stat().st_mtime >= LOCK.stat().st_mtime:
        return
    words = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    done = subprocess.run(words, cwd=CLIENT, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode and NO_REGISTRY.search(done.stderr):
        pytest.skip(f"no registry of packages here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr


def check_tests(node: str, service: Service, tests: str) -> None:
    """These files of tests pass with the service, and none of them is skipped."""
    files = sorted(str(path.relative_to(CLIENT)) for path in CLIENT.glob(tests))
    where = {"SUBSTRATE_BASE_URL": service.url, "SUBSTRATE_API_KEY": ADMIN_KEY}
    said = run(node, "--test", "--test-reporter=tap", *files, **where)
    assert re.search(r"^# pass [1-9]", said, re.MULTILINE), said
    assert re.search(r"^# skipped 0$", said, re.MULTILINE), said


def test_an_afternoon_against_a_service(node: str, service: Service) -> None:
    check_tests(node, service, "test/*.test.js")


@pytest.mark.parametrize("framework", ["ai-sdk", "mastra"])
def test_an_adapter_works_beside_the_real_framework(
    framework: str, node: str, packages: None, service: Service
) -> None:
    check_tests(node, service, f"test/adapters/{framework}.test.js")


def test_the_types_are_those_of_the_document_and_the_client_fits_them(packages: None) -> None:
    assert TYPES.read_text("utf-8") == types(openapi()), "run `python -m scripts.typescript_client --types`"
    run("npm", "run", "check")
