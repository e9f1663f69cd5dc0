"""A call of the command line imports what it uses: no clock is read, the list of imported modules tells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import contextlib, io, json, sys
from api.cli import main
data, heavy = sys.argv[1], json.loads(sys.argv[2])
calls = {
    "help": ["--help"],
    "doctor": ["--data", data, "doctor"],
    "ask": ["--data", data, "ask", "--citizen", "nobody", "Where do I live?"],
    "remember": ["--data", data, "remember", "--citizen", "ada", "I live in Lisbon."],
    "answered": ["--data", data, "ask", "--citizen", "ada", "Where do I live?", "--max-tokens", "200"],
}
told = {}
for name, arguments in calls.items():
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said):
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
    told[name] = [code, said.getvalue(), [module for module in heavy if module in sys.modules]]
print(json.dumps(told))
"""
STORE = ["pydantic_settings", "redis", "numpy", "onnxruntime", "tokenizers", "tiktoken"]
"""What a store and its local model need, and a text of help does not."""
NEVER = [
    "llama_index.core", "nltk", "pandas", "networkx", "openai", "langgraph", "mcp", "fastapi", "starlette",
    "uvicorn", "httpx", "prometheus_client", "opentelemetry.sdk.trace", "onnx", "orchestration.ingestion.formats",
]  # fmt: skip
"""What only a service, a file to read or a model of another's needs."""
PRINTING = ["asyncio", "pydantic", "orchestration", "substrate"]
"""What a text of help needs least."""
CHECKED = ["orchestration.dependencies", "schemas.intention", "schemas.stream"]
"""What only asks and writes."""
ASKED = [
    "orchestration.writing", "orchestration.upkeep.sweep", "orchestration.waking", "orchestration.resonance",
    "orchestration.features.rules", "orchestration.features.mirror", "schemas.commands", "schemas.upkeep.findings",
    "rich.progress", "yaml",
]  # fmt: skip
"""What a question does not need: what writes, does upkeep, and features that it asks nothing of."""


def test_a_command_imports_neither_the_frameworks_nor_what_another_command_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PROGRAM,
            str(tmp_path / "data"),
            json.dumps([*STORE, *NEVER, *PRINTING, *CHECKED, *ASKED]),
        ],
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    )
    told = json.loads(done.stdout)
    assert {name: code for name, (code, _, _) in told.items()} == {
        "help": 0, "doctor": 0, "ask": 4, "remember": 0, "answered": 0,
    }  # fmt: skip
    assert "Lisbon" in told["answered"][1]
    assert told["help"][2] == []
    assert set(told["doctor"][2]) <= {*STORE, "asyncio", "pydantic", "orchestration", "substrate"}
    assert set(told["ask"][2]).isdisjoint((*NEVER, *ASKED))
    assert set(told["answered"][2]).isdisjoint(NEVER)
