"""An operation says what it does and for whom; no two have one name or one address."""

from __future__ import annotations

import pytest

from schemas.collectives import GraphRequest
from schemas.memory import Level
from schemas.operation import Need, Operation, RequestParts, citizen_may, collect, graph_may, group


async def run(request: GraphRequest) -> None:
    """Do it.

    It is done at once.

    Raises NotFound when there is nothing to do.
    """


DONE = Operation("do", "POST /v1/do", "Do it", graph_may("write"), run)


def test_the_docstring_describes_the_operation_up_to_what_it_raises() -> None:
    assert DONE.description == "Do it.\n\nIt is done at once."
    assert (DONE.method, DONE.path) == ("POST", "/v1/do")
    assert group("upkeep", DONE)[0].tag == "upkeep"


@pytest.mark.parametrize(
    "other", [DONE._replace(address="POST /v1/other"), DONE._replace(name="other")], ids=["name", "address"]
)
def test_two_operations_of_one_name_or_address_are_refused(other: Operation) -> None:
    assert collect([DONE], [DONE._replace(name="other", address="GET /v1/do")])
    with pytest.raises(ValueError, match="two operations are"):
        collect([DONE], [other])


def test_what_is_needed_follows_from_what_was_asked() -> None:
    shared = RequestParts(GraphRequest(level=Level.N2), {})
    assert list(graph_may("read").needs(shared)) == [Need("read", None, Level.N2)]
    in_path = RequestParts(shared.request, {"citizen_id": "ada"})
    assert list(citizen_may("read").needs(in_path)) == [Need("read", "ada")]
    assert citizen_may("read").says == "citizen:ID:read"
