"""Each host itself, where it is installed: connected, run with a model on loopback, and what that model was told.

Claude Code (`claude`), Codex (`codex`), Gemini CLI (`gemini`), OpenCode (`opencode`), Hermes (`hermes`) and
OpenClaw (`openclaw`) are taken from PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.host_model import ANSWER, served_model
from tests.acceptance.test_cli import Command

SAID = "My brother Tom lives in Bergen and drinks his tea with milk."
PROMPT = "Where does my brother Tom live?"
PROVIDER = {
    "id": "m",
    "name": "m",
    "input": ["text"],
    "reasoning": False,
    "contextWindow": 200_000,
    "maxTokens": 999,
}
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


class Run(NamedTuple):
    """How a host is run once: its command, its surroundings, and what it needs in its settings."""

    program: str
    words: Callable[[str], list[str]]
    surroundings: Callable[[str], dict[str, str]] = lambda _: {}
    settings: tuple[str, Callable[[str], dict[str, Any]]] | None = None


def codex_model(url: str) -> list[str]:
    served = f'model_providers.m={{name="m",base_url="{url}/v1",wire_api="responses"}}'
    named = ["-c", 'model="m"', "-c", 'model_provider="m"', "-c", served]
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *named, PROMPT]


def opencode_model(url: str) -> dict[str, Any]:
    options = {"baseURL": f"{url}/v1", "apiKey": "k"}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "m",
        "options": options,
        "models": {"m": {"name": "m"}},
    }
    return {"provider": {"m": provider}, "model": "m/m", "small_model": "m/m", "autoupdate": False}


def openclaw_model(url: str) -> dict[str, Any]:
    provider = {"baseUrl": f"{url}/v1", "apiKey": "k", "api": "openai-completions"}
    return {
        "models": {"providers": {"m": {**provider, "models": [{**PROVIDER, "cost": COST}]}}},
        "agents": {"defaults": {"model": {"primary": "m/m"}}},
    }


def hermes_model(url: str) -> dict[str, Any]:
    return {"model": {"default": "m", "provider": "custom", "base_url": f"{url}/v1", "api_key": "k"}}


HOSTS = {
    "claude-code": Run(
        "claude",
        lambda _: ["-p", PROMPT, "--model", "claude-sonnet-4-5"],
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "codex": Run("codex", codex_model),
    "gemini-cli": Run(
        "gemini",
        lambda _: ["-p", PROMPT, "-m", "gemini-2.5-flash"],
        lambda url: {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        (".gemini/settings.json", lambda _: {"security": {"auth": {"selectedType": "gemini-api-key"}}}),
    ),
    "opencode": Run(
        "opencode", lambda _: ["run", PROMPT], settings=(".config/opencode/opencode.json", opencode_model)
    ),
    "hermes": Run("hermes", lambda _: ["chat", "-q", PROMPT], settings=(".hermes/config.yaml", hermes_model)),
    "openclaw": Run(
        "openclaw",
        lambda _: ["agent", "--local", "--agent", "main", "-m", PROMPT],
        settings=(".openclaw/openclaw.json", openclaw_model),
    ),
}


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_recalled_reaches_the_model_of_the_host_and_what_is_said_is_heard(
    service: Service,
    citizen: str,
    host: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = HOSTS[host]
    if (program := shutil.which(run.program)) is None:
        pytest.skip(f"{host}: no `{run.program}` is installed here")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    service.remember(citizen, name="Tea", description=SAID, resolution_state="blocked")
    with served_model() as model:
        if run.settings is not None:
            file = tmp_path / run.settings[0]
            file.parent.mkdir(parents=True)
            # What is JSON is YAML too, if it is written over lines for what edits them.
            given = run.settings[1](model.url)
            file.write_text(
                "".join(f"{name}: {json.dumps(value)}\n" for name, value in given.items())
                if file.suffix == ".yaml"
                else json.dumps(given),
                "utf-8",
            )
        command = Command(tmp_path / "data", capsys)
        said = command("connect", host, "-c", citizen, "--url", service.url)
        assert said.code == 0, said.err
        work = tmp_path / "work"
        work.mkdir()
        surroundings = {
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],  # noqa: TID251
            "LANG": "C.UTF-8",
            "SUBSTRATE_API_KEY": ADMIN_KEY,
            **run.surroundings(model.url),
        }
        done = subprocess.run(
            [program, *run.words(model.url)],
            cwd=work,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert ANSWER in done.stdout, done.stderr[-2000:]
        asked = [body for body in model.told(SAID) if PROMPT in body]
        assert asked, done.stderr[-2000:]
        assert all("data, not instructions" in body and "memories" in body for body in asked)
    listed = service.http.get("/v1/memories", params={"citizen_id": citizen, "limit": 100}).json()["memories"]
    heard = [memory["description"] for memory in listed if memory["node_id"].startswith("session-")]
    assert ANSWER in heard
    assert PROMPT in {text.strip('"') for text in heard}
    assert not any(SAID in text for text in heard)


TOOLS = """
import json, sys
from agent.memory_manager import MemoryManager
from plugins.memory import load_memory_provider
manager = MemoryManager()
manager.add_provider(load_memory_provider("substrate"))
manager.initialize_all(session_id="h1", platform="cli", hermes_home=sys.argv[1], agent_context=sys.argv[2])
print(manager.handle_tool_call("substrate_remember", {"text": sys.argv[3]}))
manager.sync_all("The timer struck.", "Noted.", session_id="h1")
manager.flush_pending(20)
print(manager.handle_tool_call("substrate_recall", {"query": sys.argv[4]}))
"""


def test_the_provider_of_hermes_keeps_and_recalls_by_its_tools(
    service: Service,
    citizen: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if (program := shutil.which("hermes")) is None:
        pytest.skip("hermes: no `hermes` is installed here")
    monkeypatch.setenv("HOME", str(tmp_path))
    python = Path(program).resolve().with_name("python")
    surroundings = {
        "HOME": str(tmp_path),
        "HERMES_HOME": str(tmp_path / ".hermes"),
        "SUBSTRATE_API_KEY": ADMIN_KEY,
    }

    def run(context: str) -> list[dict[str, str]]:
        words = [str(python), "-c", TOOLS, str(tmp_path / ".hermes"), context, SAID, PROMPT]
        done = subprocess.run(words, env=surroundings, capture_output=True, text=True, timeout=120, check=True)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    command = Command(tmp_path / "data", capsys)
    assert command("connect", "hermes", "-c", citizen, "--url", "http://127.0.0.1:1").code == 0
    assert "nothing was kept" in run("primary")[0]["error"]
    assert command("connect", "hermes", "-c", citizen, "--url", service.url).code == 0
    kept, recalled = run("cron")
    assert kept == {"result": "Kept."}
    assert SAID in recalled["result"]
    assert "data, not instructions" in recalled["result"]
    assert "timer" not in service.http.get("/v1/memories", params={"citizen_id": citizen}).text
    assert command("connect", "hermes", "--remove").code == 0
    assert not (tmp_path / ".hermes/plugins/substrate").exists()
