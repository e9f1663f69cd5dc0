"""Every type of problem is known wherever one is told: in docs/errors.md, in OpenAPI, for whatever is refused."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from api.app import create_app
from api.problems import MEDIA_TYPE, refusal_error, statuses_by_slug
from schemas.commands import WriteReceipt
from schemas.settings import Settings
from schemas.upkeep import RepairOutcome
from tests.pages import ROOT

PAGE = ROOT / "docs" / "errors.md"


def test_every_type_of_problem_is_listed_with_its_status() -> None:
    rows = re.findall(r"^\| `/problems/([a-z-]+)` \| (?:other )?(\w+) \|", PAGE.read_text(), re.MULTILINE)
    listed = {slug: 400 if status == "4xx" else int(status) for slug, status in rows}
    assert listed == statuses_by_slug()
    assert len(rows) == len(listed)


def problems_of(kind: type[BaseModel]) -> set[str]:
    """What its field `problem` can say."""
    return {said for part in get_args(kind.model_fields["problem"].annotation) for said in get_args(part)}


@pytest.mark.parametrize("kind", [WriteReceipt, RepairOutcome])
def test_whatever_is_refused_is_answered_with_its_own_type_of_problem(kind: type[BaseModel]) -> None:
    said = problems_of(kind) - {"not-applied"}  # of lists alone, which answer with receipts
    assert len(said) > 3
    for slug in said:
        error = refusal_error(slug, ["why"], 3)
        assert (error.slug, error.status, error.faults) == (slug, statuses_by_slug()[slug], ("why",))


DOCUMENT = create_app(Settings()).openapi()
ROUTES = [
    (f"{method} {path}", route) for path, methods in DOCUMENT["paths"].items() for method, route in methods.items()
]


def referred(to: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to."""
    _, _, room, name = to["$ref"].split("/")
    found: dict[str, Any] = DOCUMENT["components"][room][name]
    return found


@pytest.mark.parametrize("route", [route for _, route in ROUTES], ids=[name for name, _ in ROUTES])
def test_every_type_of_problem_is_in_the_openapi_of_every_route(route: dict[str, Any]) -> None:
    for slug, status in statuses_by_slug().items():
        response = referred(route["responses"][f"{status // 100}XX"])
        said = referred(response["content"][MEDIA_TYPE]["schema"])
        assert f"/problems/{slug}" in said["properties"]["type"]["enum"]
