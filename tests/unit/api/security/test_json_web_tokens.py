"""JWTs: only those of the issuer, for this audience, signed with a key of the JWKS address, are valid."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from api.security.json_web_tokens import JsonWebTokens, highest_source_in, make_token_reader, scopes_in
from schemas.errors import Unauthenticated, Unavailable
from schemas.keys import grants
from schemas.memory import Source
from schemas.settings import AuthSettings

ISSUER, AUDIENCE = "https://issuer.example", "substrate"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


class Keys(ThreadingHTTPServer):
    """Serves the public keys, and counts how often it was asked."""

    asked = 0

    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/jwks"


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Keys)
        self.server.asked += 1
        keys = [
            {**jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True), "kid": "rsa", "use": "sig"},
            {**jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key(), as_dict=True), "kid": "ec", "use": "sig"},
        ]
        body = json.dumps({"keys": keys}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Keys]:
    with Keys(("127.0.0.1", 0), Answering) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
async def reader(server: Keys) -> AsyncIterator[JsonWebTokens]:
    reading = JsonWebTokens(server.url(), ISSUER, AUDIENCE)
    yield reading
    await reading.close()


def claims(**changed: Any) -> dict[str, Any]:
    """The claims of a valid token with these changes; None leaves a claim out."""
    whole = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ada@example",
        "exp": time.time() + 60,
        "scope": "openid citizen:ada:read",
    }
    return {name: value for name, value in {**whole, **changed}.items() if value is not None}


def token(key: Any = RSA, algorithm: str = "RS256", kid: str | None = "rsa", **changed: Any) -> str:
    return jwt.encode(claims(**changed), key, algorithm, headers={"kid": kid} if kid else {})


def forged(header: dict[str, Any], signature: bytes = b"") -> str:
    """A token made by hand, of any header and signature."""
    parts = [json.dumps(part).encode() for part in (header, claims(scope="admin"))]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, signature))


def signed_with_the_public_key() -> str:
    """HS256 whose secret is the public key: whoever takes the algorithm from the token believes it."""
    header = {"alg": "HS256", "typ": "JWT", "kid": "rsa"}
    signer = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    unsigned = forged(header).rpartition(".")[0]
    signature = signer.sign(unsigned.encode(), PEM)
    return f"{unsigned}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


@pytest.mark.parametrize(("key", "algorithm", "kid"), [(RSA, "RS256", "rsa"), (EC, "ES256", "ec")])
async def test_a_valid_token_names_its_caller(reader: JsonWebTokens, key: Any, algorithm: str, kid: str) -> None:
    principal = await reader.principal(token(key, algorithm, kid))
    assert principal.key_id == "jwt:ada@example"
    assert principal.grants.citizen_actions("ada") == {"read"}
    assert not principal.grants.admin


BAD = {
    "expired": token(exp=time.time() - 60),
    "not yet": token(nbf=time.time() + 600),
    "without an end": token(exp=None),
    "without a subject": token(sub=None),
    "another audience": token(aud="another"),
    "no audience": token(aud=None),
    "another issuer": token(iss="https://evil.example"),
    "no issuer": token(iss=None),
    "another key": token(STRANGER),
    "an unknown key": token(STRANGER, kid="nobody"),
    "no key named": token(kid=None),
    "another algorithm of the right key": token(algorithm="PS256"),
    "none": forged({"alg": "none", "kid": "rsa"}),
    "None": forged({"alg": "None", "kid": "rsa"}),
    "no algorithm": forged({"kid": "rsa"}),
    "the public key as a secret": signed_with_the_public_key(),
    "no signature": token().rpartition(".")[0] + ".",
    "a changed claim": ".".join(token(scope=f"a{n % 2}").split(".")[n] for n in range(3)),
    "no token": "a.b.c",
    "too long": f"{token()}{'x' * 9000}",
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_a_bad_token_is_refused_without_saying_why(reader: JsonWebTokens, bad: str) -> None:
    with pytest.raises(Unauthenticated) as refused:
        await reader.principal(bad)
    assert refused.value.detail == "the key is not valid here: unknown, expired or revoked"


async def test_unknown_keys_cause_one_fetch_only(reader: JsonWebTokens, server: Keys) -> None:
    for n in range(5):
        with pytest.raises(Unauthenticated):
            await reader.principal(token(STRANGER, kid=f"nobody{n}"))
    await reader.principal(token())
    assert server.asked == 1


async def test_without_an_answer_of_the_key_server_tokens_are_unavailable_not_accepted() -> None:
    reader = JsonWebTokens("http://127.0.0.1:1/jwks", ISSUER, AUDIENCE)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await reader.principal(token())
    await reader.close()


def test_a_jwks_address_needs_an_issuer_and_an_audience() -> None:
    assert make_token_reader(AuthSettings()) is None
    with pytest.raises(ValueError, match="jwt_issuer"):
        AuthSettings(jwks_url="https://issuer.example/jwks")


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "openid citizen:ada:read N2:read"}, ["citizen:ada:read", "N2:read"]),
        ({"scopes": ["upkeep", "nonsense", 7, None]}, ["upkeep"]),
        ({"scope": ["admin"], "scopes": "admin"}, []),
        ({}, []),
    ],
)
def test_only_known_scopes_of_a_token_are_granted(claims: dict[str, Any], scopes: list[str]) -> None:
    assert list(scopes_in(claims)) == scopes


@pytest.mark.parametrize(
    ("claims", "scopes", "highest"),
    [
        ({}, ["citizen:ada:write"], Source.CITIZEN),
        ({}, ["admin"], Source.SYSTEM),
        ({"highest_source": "tool"}, ["admin"], Source.TOOL),
    ],
)
def test_a_token_claims_its_highest_source_or_the_default_of_a_new_key(
    claims: dict[str, str], scopes: list[str], highest: Source
) -> None:
    assert highest_source_in(claims, grants(scopes)) is highest


@pytest.mark.parametrize("source", ["god", 1, ["tool"], {"tool": 1}])
def test_a_token_with_an_unknown_highest_source_is_invalid(source: object) -> None:
    with pytest.raises(jwt.InvalidTokenError):
        highest_source_in({"highest_source": source}, grants(["admin"]))
