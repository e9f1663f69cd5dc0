"""Lint the OpenAPI document, generate clients from it, compile them strictly, and run a tour with each.

Needs node and npm. Works in a directory that is removed afterwards:

    .venv/bin/python -m scripts.generated_clients
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.serving import KEY, Served
from scripts.reference.document import openapi

TOURS: Final = Path(__file__).parent / "clients"
NPM: Final = (
    "@redocly/cli@2", "@stoplight/spectral-cli@6", "openapi-typescript@7", "openapi-fetch@0.17", "typescript@5",
    "@types/node@20",
)  # fmt: skip
PIP: Final = ("openapi-python-client>=0.26", "mypy")


def run(*words: str | Path, cwd: Path) -> None:
    """Run a command and show its output. Raises CalledProcessError when it fails."""
    sys.stdout.write(f"$ {' '.join(str(word) for word in words)}\n")
    sys.stdout.flush()
    subprocess.run(words, cwd=cwd, check=True)


def prepare(work: Path) -> None:
    """Write the document and the tours; install the generators."""
    (work / "openapi.json").write_text(json.dumps(openapi()))
    (work / ".spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    (work / "package.json").write_text('{"private": true}\n')
    for tour in TOURS.glob("tour.*"):
        shutil.copy(tour, work)
    run("npm", "install", "--silent", *NPM, cwd=work)
    run(sys.executable, "-m", "venv", "python", cwd=work)
    run("python/bin/pip", "install", "--quiet", *PIP, cwd=work)


def lint(work: Path) -> None:
    """Run both linters; every warning is an error."""
    run("npx", "redocly", "lint", "openapi.json", "--max-problems=20", cwd=work)
    run("npx", "spectral", "lint", "openapi.json", "--fail-severity=hint", cwd=work)


def compile_typescript(work: Path) -> None:
    """`api.d.ts`, and the tour compiled with it under `strict`."""
    # Without this option a field with a default would be required in a request, as it is in an answer.
    options = ["--default-non-nullable=false"]
    run("npx", "openapi-typescript", "openapi.json", "-o", "api.d.ts", *options, cwd=work)
    options = "--strict --noUncheckedIndexedAccess --target es2022 --module nodenext --outDir js".split()
    run("npx", "tsc", *options, "tour.ts", cwd=work)


def compile_python(work: Path) -> None:
    """The package `substrate_api`, and the tour checked with it by a strict mypy."""
    options = (
        "--path openapi.json --output-path substrate_api --meta none --fail-on-warning --config hooks.yaml".split()
    )
    (work / "hooks.yaml").write_text("post_hooks: []\n")
    run("python/bin/openapi-python-client", "generate", *options, cwd=work)
    # Only what the document decides; the generator's own client.py has type errors that no document can fix.
    made = ("substrate_api/models", "substrate_api/api", "tour.py")
    run("python/bin/mypy", "--strict", "--follow-imports=silent", *made, cwd=work)


async def take_tours(work: Path) -> None:
    """Run each tour against one service."""
    service = Served(work / "data")
    await service.start()
    try:
        url = f"http://127.0.0.1:{service.port}"
        await asyncio.to_thread(run, "node", "js/tour.js", url, KEY, cwd=work)
        await asyncio.to_thread(run, "python/bin/python", "tour.py", url, KEY, cwd=work)
    finally:
        await service.stop()


def main() -> None:
    """Run all steps in order; the first failure ends the run."""
    with TemporaryDirectory() as made:
        work = Path(made)
        prepare(work)
        lint(work)
        compile_typescript(work)
        compile_python(work)
        asyncio.run(take_tours(work))


if __name__ == "__main__":
    main()
