"""Every problem type is known wherever problems are described: on the page of errors, in OpenAPI, for refusals."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from api.problems import MEDIA_TYPE, statuses_by_slug
from schemas.commands import WriteReceipt
from schemas.errors import refusal_error
from schemas.upkeep.findings import RepairOutcome
from scripts.reference.document import openapi
from tests.docs_pages import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"


def test_every_type_of_problem_is_listed_with_its_status() -> None:
    rows = re.findall(r"^\| `/problems/([a-z-]+)` \| (?:other )?(\w+) \|", PAGE.read_text(), re.MULTILINE)
    listed = {slug: 400 if status == "4xx" else int(status) for slug, status in rows}
    assert listed == statuses_by_slug()
    assert len(rows) == len(listed)


def problems_of(kind: type[BaseModel]) -> set[str]:
    """The values of its field `problem`."""
    return {slug for part in get_args(kind.model_fields["problem"].annotation) for slug in get_args(part)}


@pytest.mark.parametrize("kind", [WriteReceipt, RepairOutcome])
def test_whatever_is_refused_is_answered_with_its_own_type_of_problem(kind: type[BaseModel]) -> None:
    slugs = problems_of(kind) - {"not-applied"}  # of lists alone, which answer with receipts
    assert len(slugs) > 3
    for slug in slugs:
        error = refusal_error(slug, ["why"], 3)
        assert (error.slug, error.status, error.faults) == (slug, statuses_by_slug()[slug], ("why",))


DOCUMENT = openapi()
ROUTES = [
    (f"{method} {path}", route) for path, methods in DOCUMENT["paths"].items() for method, route in methods.items()
]


def referred(to: dict[str, Any]) -> dict[str, Any]:
    """The part of the document that a reference names."""
    _, _, group, name = to["$ref"].split("/")
    part: dict[str, Any] = DOCUMENT["components"][group][name]
    return part


@pytest.mark.parametrize("route", [route for _, route in ROUTES], ids=[name for name, _ in ROUTES])
def test_every_type_of_problem_is_in_the_openapi_of_every_route(route: dict[str, Any]) -> None:
    for slug, status in statuses_by_slug().items():
        response = referred(route["responses"][f"{status // 100}XX"])
        schema = referred(response["content"][MEDIA_TYPE]["schema"])
        assert f"/problems/{slug}" in schema["properties"]["type"]["enum"]
