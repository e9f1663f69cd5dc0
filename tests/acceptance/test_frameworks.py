"""The adapters of agent frameworks: each runs its tests beside the real framework, with a served store."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.docs_pages import ROOT
from tests.environments import find_uv, run

CLIENT = ROOT / "clients" / "python"
FRAMEWORKS = sorted(lock.stem for lock in (CLIENT / "locks").glob("*.txt"))
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
"""What the frameworks would otherwise tell their makers."""


@pytest.fixture(scope="module")
def uv(tmp_path_factory: pytest.TempPathFactory) -> str:
    """uv, where it reaches a package index. Skips elsewhere."""
    return find_uv(tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_adapter_works_beside_the_real_framework(
    framework: str, uv: str, service: Service, tmp_path: Path
) -> None:
    lock = CLIENT / "locks" / f"{framework}.txt"
    made = run(uv, "venv", "--quiet", "--python", sys.executable, "env", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    done = run(uv, "pip", "sync", "--quiet", "--require-hashes", "--python", "env", lock, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    test = CLIENT / "tests" / f"test_{framework.replace('-', '_')}.py"
    said = run(
        tmp_path / "env/bin/python",
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        test,
        cwd=tmp_path,
        PYTHONPATH=str(CLIENT),
        HOME=str(tmp_path),
        SUBSTRATE_BASE_URL=service.url,
        SUBSTRATE_API_KEY=ADMIN_KEY,
        **QUIET,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert re.search(r"\d+ passed in", said.stdout), said.stdout
    assert "skipped" not in said.stdout


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_without_its_framework_an_adapter_names_the_extra(framework: str, tmp_path: Path) -> None:
    hidden = {"openai-agents": "agents", "google-adk": "google.adk"}.get(framework, framework.replace("-", "_"))
    code = f"""
import sys
sys.modules[{hidden!r}] = None
try:
    import substrate_client.adapters.{framework.replace("-", "_")}
except ImportError as error:
    print(error)
"""
    said = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(CLIENT))
    assert f"pip install 'substrate-client[{framework}]'" in said.stdout, said.stderr
