"""Requests made from the OpenAPI document, good and bad ones: every answer is one that the document speaks of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from requests import Session
from schemathesis import Case
from schemathesis.checks import CheckFunction
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance, unsupported_method

from scripts.reference.document import openapi
from tests.acceptance.conftest import ADMIN_KEY, Service

EXAMPLES: Final = 2
"""Requests made by chance, besides those at the bounds of every field."""
ALL_OF, ONE_OF = 40, 10
"""Of a route's first requests each is sent, then one of so many: lists repeat them for each kind of command."""
LONG: Final = 1000
A_FEW: Final = 20
CITIZEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def boundless(document: Any) -> Any:
    """The document without bounds of long texts: made part of their pattern, each takes a second to compile."""
    if isinstance(document, list):
        return [boundless(one) for one in document]
    if not isinstance(document, dict):
        return document
    long = "pattern" in document and document.get("maxLength", 0) >= LONG
    return {name: boundless(said) for name, said in document.items() if not (long and name == "maxLength")}


ENDLESS: Final = "GET /v1/changes/stream"
"""An answer without an end: `test_feed` reads it."""
OPERATIONS: Final = tuple(
    f"{method.upper()} {path}"
    for path, methods in openapi()["paths"].items()
    for method in methods
    if f"{method.upper()} {path}" != ENDLESS
)


@pytest.fixture(scope="module")
def schema() -> BaseSchema:
    return schemathesis.openapi.from_dict(boundless(openapi()))


BEYOND: Final = re.compile(
    r"level N1 is personal|needs? temporal_mode|needs as_of_time|must lie after|looks for likeness of emotion"
    r"|has an id, a text, or both|after continues a sweep|among the levels of this sweep|cannot be null: every"
    r"|the signal is empty|command: must be one of|is not the `next` of a page|has no direction|^and \d+ more$"
    r"|times must lie between|lies in the past|is in If-Match already|tag of one memory|using discriminator"
    r"|be a valid integer|is configured|the stretch begins: name one|valid_to needs valid_from"
    r"|leave valid_from and valid_to out|a tag or bucket to filter by|is for changes of a stored record"
    r"|there is no memory|are all empty|query_text is missing|cannot be both used and wrong"
    r"|a node has a name, or the id|a collective is on level N2|with `by: shape`|is no name; leave it out"
    r"|give an address such as|an address has no user"
)
"""What JSON Schema does not say: rules of several fields, the years there are, a mark with a default, no 1.0."""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Connections that stay open."""
    with Session() as kept:
        yield kept


made: Final = Counter[str]()


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_answer_is_as_the_document_says(
    label: str, schema: BaseSchema, wordless: Service, session: Session
) -> None:
    headers = {"Authorization": f"Bearer {ADMIN_KEY}"}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    def ask(case: Case[Any]) -> None:
        made[label] += 1
        if made[label] > ALL_OF and made[label] % ONE_OF:
            return
        at_home(case.body)
        at_home(case.query)
        answer = case.call(base_url=wordless.url, session=session, headers=headers, timeout=60)
        case.validate_response(answer, headers=headers, excluded_checks=not_asked(case, answer))

    # Built here and not by `schema.parametrize`: to make the requests of all routes takes most of a minute, which
    # every collection of tests would take too.
    operation = schema.find_operation_by_label(label)
    assert operation is not None
    build_operation_test(
        config=schema.config, operation=operation, test_func=ask, given_kwargs={}, feedback=FeedbackSources()
    )()


def at_home(said: Any) -> None:
    """Every valid citizen is the same one, each other would cost a graph; a conversation has few messages."""
    for one in said if isinstance(said, list) else [said]:
        said_id = one.get("citizen_id") if isinstance(one, dict) else None
        if isinstance(said_id, str) and CITIZEN.fullmatch(said_id):
            one["citizen_id"] = "c"
        if isinstance(one, dict) and isinstance(one.get("messages"), list):
            del one["messages"][A_FEW:]


def not_asked(case: Case[Any], answer: schemathesis.Response) -> list[CheckFunction]:
    """The checks that an answer need not pass, each for what the document cannot say."""
    excluded: list[CheckFunction] = []
    if answer.status_code in (412, 414):  # a cursor, good or bad, may be too long for an address
        excluded += (positive_data_acceptance, negative_data_rejection)
    if answer.status_code == 422 and beyond_the_schema(answer.json()):
        excluded.append(positive_data_acceptance)
    if any(name in case.path for name in ("/{memory_id}/", "/{link_id}/", "/{episode_id}/")):
        excluded.append(unsupported_method)  # an id may hold a `/`: the address is also that of a memory to read
    if isinstance(case.body, list) and answer.status_code == 200:
        excluded.append(negative_data_rejection)  # of a list, each is stored or refused on its own
    if case.path in ("/v1/episodes", "/v1/episodes/{episode_id}/turns"):
        excluded.append(negative_data_rejection)  # messages of many makers: what is not understood is kept
    return excluded


def beyond_the_schema(problem: dict[str, Any]) -> bool:
    return all(BEYOND.search(fault) for fault in problem["faults"] or [problem["detail"]])
