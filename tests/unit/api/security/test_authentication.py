"""Keys: how one is sent, and that only its hash is stored."""

from __future__ import annotations

import pytest

from api.security.authentication import challenge_headers, make_key, rejected_key_id, token_in
from schemas.errors import Unauthenticated
from schemas.keys import KeyRecord, KeyRequest
from schemas.memory import Source


def test_only_the_hash_of_a_key_is_stored() -> None:
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
    challenge = challenge_headers(caught.value, headers)["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="substrate"')
    assert ("invalid_token" in challenge) is bool(headers)


def test_a_key_from_before_there_was_a_highest_source_claims_each() -> None:
    _, record = make_key(KeyRequest(name="old", scopes=("citizen:ada:write",)), "k", 0)
    stored = record.model_dump(mode="json", exclude={"highest_source"})
    assert KeyRecord.model_validate(stored).highest_source is Source.SYSTEM


@pytest.mark.parametrize(
    ("header", "key_id"),
    [
        (b"Bearer sk-0123456789ab-SECRET", "sk-0123456789ab"),
        (b"Bearer sk-first-SECRET", "sk-first"),
        (b"Bearer sk-0123456789ab", None),
        (b"Bearer SECRET", None),
        (b"", None),
    ],
)
def test_a_refusal_names_only_the_id_of_the_key(header: bytes, key_id: str | None) -> None:
    assert rejected_key_id({b"authorization": header}) == key_id
