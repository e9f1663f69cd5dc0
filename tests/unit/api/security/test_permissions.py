"""Permissions: what the scopes of a caller allow."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from api.security.authentication import Principal
from api.security.permissions import Caller
from schemas.errors import Forbidden, NotFound, SubstrateError
from schemas.keys import Action, Scope, grants
from schemas.memory import GraphKey, Level

ALLOWED: list[tuple[str, GraphKey, str | None, Action, type[SubstrateError] | None]] = [
    ("citizen:ada:read", Level.N1, "ada", "read", None),
    ("citizen:ada:read", Level.N1, "ada", "write", Forbidden),
    ("citizen:ada:*", Level.N1, "ada", "erase", None),
    ("citizen:ada:*", Level.N1, "ada2", "read", NotFound),
    ("citizen:ada:*", Level.N1, "Ada", "read", NotFound),
    ("citizen:a.a:*", Level.N1, "ada", "read", NotFound),
    ("citizen:*:read", Level.N1, "bo", "read", None),
    ("citizen:*:read", Level.N1, "bo", "write", Forbidden),
    ("citizen:ada:*", Level.N2, None, "read", Forbidden),
    ("N2:read", Level.N2, None, "read", None),
    ("N2:read", Level.N2, "ada", "read", NotFound),
    ("N2:read", Level.N2, None, "write", Forbidden),
    ("N2:read", Level.N3, None, "read", Forbidden),
    ("N3:*", Level.N3, None, "write", None),
    ("N2:*", Level.N2, None, "erase", Forbidden),
    ("N2:*", Level.N1, "ada", "read", NotFound),
    ("N2:steward", Level.N2, None, "steward", None),
    ("N2:steward", Level.N2, None, "write", Forbidden),
    ("N2:steward", Level.N3, None, "steward", Forbidden),
    ("N2:*", Level.N2, None, "steward", Forbidden),
    ("admin", Level.N2, None, "steward", None),
    ("collective:atlas:read", "N2:atlas", None, "read", None),
    ("collective:atlas:read", "N2:atlas", None, "write", Forbidden),
    ("collective:atlas:read", "N2:borea", None, "read", NotFound),
    ("collective:atlas:*", "N2:atlas", None, "write", None),
    ("collective:atlas:*", "N2:atlas", None, "steward", Forbidden),
    ("collective:atlas:steward", "N2:atlas", None, "steward", None),
    ("collective:*:read", "N2:atlas", None, "read", None),
    ("collective:*:read", Level.N2, None, "read", Forbidden),
    ("N2:*", "N2:atlas", None, "read", NotFound),
    ("citizen:atlas:*", "N2:atlas", None, "read", NotFound),
    ("admin", "N2:atlas", None, "steward", None),
    ("upkeep", Level.N1, "ada", "read", NotFound),
    ("admin", Level.N1, "ada", "erase", None),
    ("admin", Level.N3, None, "erase", None),
]


@pytest.mark.parametrize(("scope", "level", "citizen", "action", "refusal"), ALLOWED)
def test_a_scope_allows_what_it_names_and_nothing_else(
    scope: str, level: GraphKey, citizen: str | None, action: Action, refusal: type[SubstrateError] | None
) -> None:
    caller = Caller(Principal("k", grants([scope])))
    if refusal is None:
        caller.require(level, citizen, action)
    else:
        with pytest.raises(refusal):
            caller.require(level, citizen, action)


def test_scopes_add_up() -> None:
    both = grants(["citizen:ada:read", "citizen:*:write", "citizen:ada:erase", "N2:read", "N2:write"])
    assert both.citizen_actions("ada") == {"read", "write", "erase"}
    assert both.citizen_actions("bo") == {"write"}
    assert both.level_actions(Level.N2) == {"read", "write"}
    assert not both.admin


@pytest.mark.parametrize(
    "scope",
    ["", "*", "citizen", "citizen:ada", "citizen:ada:", "citizen:a/b:read", "citizen:ada:admin",
     "citizen:ada:read\n", "N1:read", "N2:erase", "N2", "ADMIN", "admin:*", "upkeep:read",
     "citizen::read", "citizen:**:read"],
)  # fmt: skip
def test_an_invalid_scope_is_refused(scope: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Scope).validate_python(scope)
