"""Keys: what scopes allow, what counts as a key, and that only a hash is kept."""

from __future__ import annotations

from typing import Any

import pytest
from jwt import InvalidTokenError
from pydantic import TypeAdapter, ValidationError

from api.security.authentication import Principal, challenge_headers, make_key, token_in
from api.security.json_web_tokens import highest_source_in, scopes_in
from api.security.permissions import Caller
from schemas.errors import Forbidden, NotFound, SubstrateError, Unauthenticated
from schemas.keys import Action, KeyRecord, KeyRequest, Scope, grants
from schemas.memory import Level, Source

ALLOWED: list[tuple[str, Level, str | None, Action, type[SubstrateError] | None]] = [
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
    ("upkeep", Level.N1, "ada", "read", NotFound),
    ("admin", Level.N1, "ada", "erase", None),
    ("admin", Level.N3, None, "erase", None),
]


@pytest.mark.parametrize(("scope", "level", "citizen", "action", "refusal"), ALLOWED)
def test_a_scope_allows_what_it_names_and_nothing_else(
    scope: str, level: Level, citizen: str | None, action: Action, refusal: type[SubstrateError] | None
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
def test_what_is_no_scope_is_refused(scope: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Scope).validate_python(scope)


def test_of_a_key_only_its_hash_is_kept() -> None:
    shown, record = make_key(KeyRequest(name="ada", scopes=("citizen:ada:*",)), "k1", 0)
    again, _ = make_key(KeyRequest(name="ada", scopes=("citizen:ada:*",)), "k1", 0)
    assert shown.key != again.key
    assert len(shown.key) > 40
    secret = shown.key.removeprefix("sk-k1-")
    assert secret not in record.model_dump_json()
    assert record.hash not in record.info().model_dump_json()


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({b"authorization": b"Bearer sk-a-b"}, "sk-a-b"),
        ({b"authorization": b"bearer   sk-a-b "}, "sk-a-b"),
        ({b"x-api-key": b"sk-a-b"}, "sk-a-b"),
        ({b"x-api-key": b"sk-a-b", b"authorization": b"Bearer sk-c-d"}, "sk-c-d"),
        ({b"authorization": b"Basic sk-a-b"}, None),
        ({b"authorization": b"Bearer"}, None),
        ({b"authorization": b"Bearer "}, None),
        ({b"authorization": b"", b"x-api-key": b"sk-a-b"}, None),
        ({}, None),
    ],
)
def test_a_key_comes_as_bearer_or_as_x_api_key(headers: dict[bytes, bytes], key: str | None) -> None:
    if key is not None:
        assert token_in(headers) == key
        return
    with pytest.raises(Unauthenticated) as caught:
        token_in(headers)
    said = challenge_headers(caught.value, headers)["WWW-Authenticate"]
    assert said.startswith('Bearer realm="substrate"')
    assert ("invalid_token" in said) is bool(headers)


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "openid citizen:ada:read N2:read"}, ["citizen:ada:read", "N2:read"]),
        ({"scopes": ["upkeep", "nonsense", 7, None]}, ["upkeep"]),
        ({"scope": ["admin"], "scopes": "admin"}, []),
        ({}, []),
    ],
)
def test_of_the_claims_of_a_token_only_scopes_of_ours_count(claims: dict[str, Any], scopes: list[str]) -> None:
    assert list(scopes_in(claims)) == scopes


def test_a_key_from_before_there_was_a_highest_source_claims_each() -> None:
    _, record = make_key(KeyRequest(name="old", scopes=("citizen:ada:write",)), "k", 0)
    kept = record.model_dump(mode="json", exclude={"highest_source"})
    assert KeyRecord.model_validate(kept).highest_source is Source.SYSTEM


@pytest.mark.parametrize(
    ("claims", "scopes", "highest"),
    [
        ({}, ["citizen:ada:write"], Source.CITIZEN),
        ({}, ["admin"], Source.SYSTEM),
        ({"highest_source": "tool"}, ["admin"], Source.TOOL),
    ],
)
def test_a_token_claims_what_it_says_or_what_a_new_key_would(
    claims: dict[str, str], scopes: list[str], highest: Source
) -> None:
    assert highest_source_in(claims, grants(scopes)) is highest


@pytest.mark.parametrize("said", ["god", 1, ["tool"], {"tool": 1}])
def test_a_token_whose_highest_source_is_none_does_not_count(said: object) -> None:
    with pytest.raises(InvalidTokenError):
        highest_source_in({"highest_source": said}, grants(["admin"]))
