"""Sending: one request out, its answer read as a value of `schemas`, and again where that is safe.

Reads are sent again. So are writes: each command has an id, made here when it has none, and is applied once. When
an answer is lost, sending the command again asks for its receipt, which then says `duplicate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self
from urllib.parse import quote
from uuid import uuid4

import httpx
import orjson
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay
from tenacity.wait import wait_exponential_jitter

from api.client.errors import error_of
from schemas.commands import WriteReceipt
from schemas.errors import InvalidRequest, RateLimited, SubstrateError, Unavailable
from schemas.paging import MOST

ATTEMPTS: Final = 5
PATIENCE_SECONDS: Final = 60.0
"""For how long a call is tried again; whoever is told to come back later than that is told so at once."""
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_BACKOFF: Final = wait_exponential_jitter(multiplier=0.05, max=5.0, jitter=0.05)

type Fields = Mapping[str, Any]
type Given = BaseModel | Fields


class Call(NamedTuple):
    """One request. `again`: it may be sent again although it may have arrived."""

    method: str
    path: str
    body: Any = None
    params: Fields = MappingProxyType({})
    again: bool = True


class Sender:
    """What all rooms of the client share: the connection."""

    _http: httpx.AsyncClient
    _attempts: int = ATTEMPTS

    async def _answer[T: BaseModel](self, kind: type[T], call: Call) -> T:
        """The answer to the call. Raises what the service raised, Unavailable when it cannot be reached."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts) | stop_before_delay(PATIENCE_SECONDS),
            wait=_pause,
            retry=retry_if_exception(_worth_repeating(call)),
            reraise=True,
        )
        answer: httpx.Response = await retrying(self._once, call)
        return kind.model_validate_json(answer.content)

    async def _whole[T: BaseModel](self, kind: type[T], call: Call, field: str) -> T:
        """All pages as one; the one page that the call names by its `limit` or `cursor`."""
        if call.params.keys() & {"limit", "cursor"}:
            return await self._answer(kind, call)
        page = await self._answer(kind, call._replace(params={**call.params, "limit": MOST}))
        found = list(getattr(page, field))
        degraded = list(getattr(page, "degraded", ()))
        while after := getattr(page, "next", None):
            params = {**call.params, "limit": MOST, "cursor": after}
            page = await self._answer(kind, call._replace(params=params))
            found += getattr(page, field)
            degraded += getattr(page, "degraded", ())
        told = {"degraded": tuple(degraded)} if degraded else {}
        return page.model_copy(update={field: tuple(found), **told})

    async def _revise(self, route: str, said: dict[str, Any]) -> WriteReceipt:
        """The receipt of a change, `memories/correct` for one, of what the fields name."""
        noun, _, change = route.partition("/")
        return await self._answer(WriteReceipt, Call("POST", f"{address(noun, said)}/{change}", said))

    async def _once(self, call: Call) -> httpx.Response:
        body = None if call.body is None else _json(call.body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            answer = await self._http.request(
                call.method, call.path, params=_shown(call.params), content=body, headers=headers
            )
        except httpx.TransportError as error:
            raise _unreachable(self._http.base_url, call, error) from error
        if not answer.is_success:
            raise error_of(answer)
        return answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()


def fields_of(given: Given | None, fields: Fields) -> dict[str, Any]:
    """What was given, as fields: of a value those that were set, so that what is left out stays left out."""
    if given is None:
        return dict(fields)
    said = given.model_dump(mode="json", exclude_unset=True) if isinstance(given, BaseModel) else dict(given)
    return {**said, **fields}


def command_of(given: Given | None, fields: Fields) -> dict[str, Any]:
    """A command as fields, with an id by which it is known when it is sent again."""
    said = fields_of(given, fields)
    said.pop("command", None)
    return {**said, "command_id": said.get("command_id") or uuid4().hex}


def commands_of(given: Sequence[Given]) -> list[dict[str, Any]]:
    """Each command as fields, with its id and what it is."""
    return [{**_kind_of(one), **command_of(one, {})} for one in given]


def _kind_of(given: Given) -> dict[str, Any]:
    kind = given.get("command") if isinstance(given, Mapping) else getattr(given, "command", None)
    return {} if kind is None else {"command": kind}


def address(noun: str, said: dict[str, Any]) -> str:
    """The path of the memory or link that the fields name by `level`, N1 unless said, and `id`; both are taken."""
    return f"/v1/{noun}/{segment(said.pop('level', 'N1'))}/{segment(said.pop('id', None))}"


def segment(name: object) -> str:
    """One part of a path. Raises InvalidRequest when it is missing."""
    if not name:
        raise InvalidRequest("id: Field required", faults=("id: Field required",))
    return quote(str(name), safe="").replace(".", "%2E")


def _worth_repeating(call: Call) -> Any:
    def worth(error: BaseException) -> bool:
        unsent = isinstance(error, RateLimited) or isinstance(error.__cause__, _UNSENT)
        return unsent or (call.again and isinstance(error, Unavailable))

    return worth


def _pause(state: RetryCallState) -> float:
    """As long as the service asks for, else a little longer each time."""
    error = state.outcome.exception() if state.outcome else None
    lost = isinstance(error, SubstrateError) and isinstance(error.__cause__, httpx.TransportError)
    if not lost and isinstance(error, RateLimited | Unavailable):
        return float(error.retry_after)
    return _BACKOFF(state)


def _unreachable(base: httpx.URL, call: Call, error: httpx.TransportError) -> Unavailable:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    command_id = call.body.get("command_id") if isinstance(call.body, dict) else None
    if isinstance(error, _UNSENT) or command_id is None:
        remedy = "See that the service runs there, and that SUBSTRATE_BASE_URL names it."
    else:
        remedy = (
            f"Whether it was applied is not known: receipt({command_id!r}) tells, or send it again with its id."
        )
    return Unavailable(f"{base} does not answer ({said})", remedy=remedy)


def _json(body: Any) -> bytes:
    try:
        return orjson.dumps(body, default=_plain)
    except TypeError as error:
        raise InvalidRequest(f"body: is not JSON: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _shown(params: Fields) -> dict[str, Any]:
    return {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in params.items()
        if value is not None
    }
