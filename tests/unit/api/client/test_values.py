"""The values of the separate client: each can be built, answers are read as the service sends them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from schemas.paging import MOST
from schemas.stream_forms import PART_FIELDS
from substrate_client import transport
from substrate_client.errors import InvalidRequest
from tests.docs_pages import ROOT

LOADED = """
import json, sys
from substrate_client import AsyncSubstrate, Substrate, errors, models
from pydantic import BaseModel
kinds = [each for each in vars(models).values() if isinstance(each, type) and issubclass(each, BaseModel)]
for kind in kinds:
    kind.model_rebuild()
import api, schemas
print(json.dumps([len(kinds), schemas.MINE, api.MINE, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def test_what_it_knows_by_itself_is_what_the_service_has() -> None:
    assert transport.MOST == MOST
    assert tuple(PART_FIELDS) == transport.PARTS


def test_a_project_with_its_own_api_and_schemas_uses_it(tmp_path: Path) -> None:
    for package in ("api", "schemas", "substrate", "orchestration"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"MINE = {package!r}\n")
    paths = os.pathsep.join((str(tmp_path), str(ROOT / "clients/python")))
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=tmp_path, env={"PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    kinds, schemas, api, loaded = json.loads(done.stdout)
    assert kinds > 200
    assert (schemas, api) == ("schemas", "api")
    assert not {"substrate", "orchestration", "orjson", "tenacity", "starlette"} & set(loaded)


def test_an_error_alone_loads_no_http() -> None:
    code = "import sys; from schemas.errors import NotFound; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}, "\ud800"])
def test_what_is_no_json_is_refused_before_it_is_sent(value: Any) -> None:
    with pytest.raises(InvalidRequest, match="is not JSON"):
        transport._to_json({"name": value})


class Named(BaseModel):
    name: str
    other: int = 1


def test_a_value_is_sent_with_the_fields_that_were_set() -> None:
    assert transport._to_json({"a": Named(name="é")}) == '{"a":{"name":"é"}}'.encode()
