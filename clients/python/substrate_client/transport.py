"""Send a request, read the answer as a value, and retry where that is safe.

Reads are retried. So are writes: each command gets an id here unless it has one, and is applied once. When an
answer is lost, the repeated command returns its receipt with `duplicate`.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from enum import Enum
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Concatenate, Final, NamedTuple, TypeAlias, TypedDict, TypeVar
from urllib.parse import quote
from uuid import UUID, uuid4

import anyio
import httpx
from anyio.from_thread import BlockingPortal
from pydantic import BaseModel, ValidationError
from typing_extensions import ParamSpec, Self, Unpack

from substrate_client.errors import (
    Conflict,
    Fault,
    Incorrect,
    InvalidRequest,
    RateLimited,
    SubstrateError,
    Unavailable,
    errors_by_slug,
)

HOME: Final = "http://127.0.0.1:8000"
"""Where the service is, unless somebody says otherwise."""
ATTEMPTS: Final = 5
TIMEOUT_SECONDS: Final = 30.0
BYTES_A_SECOND: Final = 5_000
"""A long text is read by the embedding model before the answer: so much longer may an answer take."""
PATIENCE_SECONDS: Final = 60.0
"""How long a call is retried. A `Retry-After` beyond it raises at once."""
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_SHORTEST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0
MOST: Final = 500
"""The most items of a page."""
PARTS: Final = (
    "levels",
    "activation_tiers",
    "traversal_graph",
    "energy",
    "temporal_dissonances",
    "resolution_patterns",
    "offers",
    "rules",
    "state",
    "consciousness_summary",
    "metadata_validation",
    "timings",
)
"""All sections of a stream."""
_GATEWAY_STATUSES: Final = (502, 503, 504)
"""From a proxy that cannot reach the service, or from the service when it cannot serve."""


Fields: TypeAlias = Mapping[str, Any]
ModelOrFields: TypeAlias = BaseModel | Fields
P = ParamSpec("P")
R = TypeVar("R")


class Call(NamedTuple):
    """One request. `repeatable`: it may be sent again even if the first one may have arrived."""

    method: str
    path: str
    body: Any = None
    params: Fields = MappingProxyType({})
    repeatable: bool = True


class CallFields(TypedDict, total=False):
    """The further fields of a `Call`."""

    body: Any
    params: Fields
    repeatable: bool


class Sender:
    """Sends the calls of a client over its connection."""

    _http: httpx.AsyncClient
    _attempts: int = ATTEMPTS
    _models: str = "substrate_client.models"
    """The module with the values that answers are read as; the service itself reads them as its own."""

    def _kind(self, name: str) -> Any:
        """A value or a function of the module of values, which is imported by the first call."""
        return getattr(import_module(self._models), name)

    async def _request(self, kind: str, call: Call) -> Any:
        """Raises what the service raised, Unavailable when it cannot be reached."""
        begun, attempt = time.monotonic(), 0
        while True:
            attempt += 1
            try:
                answer = await self._send_once(call)
            except SubstrateError as error:
                pause = _choose_pause(error, attempt)
                spent = time.monotonic() - begun + pause
                if attempt >= self._attempts or spent >= PATIENCE_SECONDS or not _may_repeat(call, error):
                    raise
            else:
                return self._read(kind, answer)
            await anyio.sleep(pause)

    def _read(self, kind: str, answer: httpx.Response) -> Any:
        """The answer as a value. Raises Fault for one that this client does not know."""
        try:
            return self._kind(kind).model_validate_json(answer.content)
        except ValidationError as error:
            raise Fault(
                f"the answer of {answer.url.path} is no {kind} as this client knows it: {error}",
                remedy="Install the client of the version of the service; pip show substrate-client names yours.",
            ) from error

    async def _call(
        self,
        kind: str,
        address: str,
        /,
        *path: object,
        pages: str = "",
        reads: str = "",
        **sent: Unpack[CallFields],
    ) -> Any:
        """The answer from an address such as `GET /v1/streams/{}`, read as a value of that name.

        With `pages` all pages of that field are joined; the function `reads` makes of the answer what is returned.
        """
        method, _, template = address.partition(" ")
        call = Call(method, template.format(*map(quote_segment, path)), **sent)
        answer = await (self._request_all_pages(kind, call, pages) if pages else self._request(kind, call))
        return self._kind(reads)(answer) if reads else answer

    async def _save(self, call: Call, target: Path) -> int:
        """Write the answer to a new file as it comes; returns its bytes.

        Raises FileExistsError, and as `_request`. It is not retried: what came before a fault is removed.
        """
        with _new_file(target) as file:
            try:
                async with self._http.stream(call.method, call.path, params=_to_query(call.params)) as answer:
                    if not answer.is_success:
                        await answer.aread()
                        raise _parse_error(answer)
                    async for block in answer.aiter_bytes():
                        file.write(block)
            except httpx.TransportError as error:
                raise _unreachable(self._http.base_url, call, error) from error
            return file.tell()

    async def _request_all_pages(self, kind: str, call: Call, field: str) -> Any:
        """All pages joined into one; only one page when the call has a `limit` or `cursor`."""
        if call.params.keys() & {"limit", "cursor"}:
            return await self._request(kind, call)
        page = await self._request(kind, call._replace(params={**call.params, "limit": MOST}))
        items = list(getattr(page, field))
        degraded = list(getattr(page, "degraded", ()))
        while cursor := getattr(page, "next", None):
            params = {**call.params, "limit": MOST, "cursor": cursor}
            page = await self._request(kind, call._replace(params=params))
            items += getattr(page, field)
            degraded += getattr(page, "degraded", ())
        joined: dict[str, Any] = {field: tuple(items)}
        if degraded:
            joined["degraded"] = tuple(degraded)
        return page.model_copy(update=joined)

    async def _send_once(self, call: Call) -> httpx.Response:
        body = None if call.body is None else _to_json(call.body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            answer = await self._http.request(
                call.method,
                call.path,
                params=_to_query(call.params),
                content=body,
                headers=headers,
                timeout=TIMEOUT_SECONDS + len(body or b"") / BYTES_A_SECOND,
            )
        except httpx.TransportError as error:
            raise _unreachable(self._http.base_url, call, error) from error
        if not answer.is_success:
            raise _parse_error(answer)
        return answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()


class SyncSender:
    """Waits for the calls of a client that runs on an event loop in a thread of its own."""

    _portal: BlockingPortal
    _client: Sender
    _closed: bool


def block_on(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[SyncSender, P], R]:
    """The method of the sync client that runs a method of the async one."""

    @wraps(method)
    def block(self: SyncSender, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._closed:
            raise RuntimeError("the client is closed; make another")
        result: R = self._portal.call(partial(method, self._client, *args, **kwargs))
        return result

    return block


@contextmanager
def _new_file(target: Path) -> Iterator[BinaryIO]:
    """A new file, which is removed again when the context ends with an error."""
    with target.open("xb") as file:
        try:
            yield file
        except BaseException:
            target.unlink()
            raise


def read_connection(base_url: str | None, api_key: str | None) -> dict[str, Any]:
    """The options of the connection; an address or a key that is not given is read from the environment.

    An empty key is none. Raises InvalidRequest for a key that no header can hold.
    """
    address = base_url or os.environ.get("SUBSTRATE_BASE_URL") or HOME
    if not address.startswith(("http://", "https://")):
        raise InvalidRequest(
            f"{address!r} is not an address such as {HOME}", remedy="See base_url, or SUBSTRATE_BASE_URL."
        )
    key = (os.environ.get("SUBSTRATE_API_KEY", "") if api_key is None else api_key).strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidRequest("the key has characters that no key has", remedy="See api_key, or SUBSTRATE_API_KEY.")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return {"base_url": address, "headers": headers, "timeout": TIMEOUT_SECONDS}


def collect_fields(value: ModelOrFields | None, fields: Fields) -> dict[str, Any]:
    """The fields of a value, overridden by `fields`; of a model only those that were set."""
    if value is None:
        return dict(fields)
    set_fields = value.model_dump(mode="json", exclude_unset=True) if isinstance(value, BaseModel) else dict(value)
    return {**set_fields, **fields}


def collect_command(command: ModelOrFields | None, fields: Fields, id_field: str = "command_id") -> dict[str, Any]:
    """The fields of a command, with a new id if it has none."""
    collected = collect_fields(command, fields)
    collected.pop("command", None)
    return {**collected, id_field: collected.get(id_field) or uuid4().hex}


def with_form(fields: Fields) -> dict[str, Any]:
    """The fields of a question, which asks for each memory once unless it names another form.

    The compact form brings all sections beside its text, unless `max_tokens` bounds it.
    """
    asked = {"form": "references", **fields}
    is_whole = asked["form"] == "compact" and asked.get("max_tokens") is None
    return {"parts": list(PARTS), **asked} if is_whole else asked


def collect_commands(commands: Sequence[ModelOrFields]) -> list[dict[str, Any]]:
    """The fields of each command, with its id and kind."""
    return [{**_read_kind(command), **collect_command(command, {})} for command in commands]


def _read_kind(command: ModelOrFields) -> dict[str, Any]:
    kind = command.get("command") if isinstance(command, Mapping) else getattr(command, "command", None)
    return {} if kind is None else {"command": kind}


def pop_level(fields: dict[str, Any]) -> object:
    """The level of a record, removed from its fields: N1 unless it is given, or N2 where a collective is."""
    return fields.pop("level", "N1" if fields.get("collective") is None else "N2")


def quote_segment(name: object) -> str:
    """One segment of a path. Raises InvalidRequest when it is missing."""
    if not name:
        raise InvalidRequest("id: Field required", faults=("id: Field required",))
    return quote(str(name), safe="").replace(".", "%2E")


def without_nulls(values: Fields) -> dict[str, Any]:
    """What has a value: what a map does not have is null."""
    return {name: value for name, value in values.items() if value is not None}


def _may_repeat(call: Call, error: SubstrateError) -> bool:
    unsent = isinstance(error, RateLimited) or isinstance(error.__cause__, _UNSENT)
    return unsent or (call.repeatable and isinstance(error, Unavailable))


def _choose_pause(error: SubstrateError, attempt: int) -> float:
    """Seconds: those of `Retry-After`, else an exponential backoff."""
    lost = isinstance(error.__cause__, httpx.TransportError)
    if not lost and isinstance(error, (RateLimited, Unavailable)):
        return float(error.retry_after)
    return min(_LONGEST_PAUSE, _SHORTEST_PAUSE * 2.0 ** (attempt - 1)) + random.uniform(0, _SHORTEST_PAUSE)


def _unreachable(base: httpx.URL, call: Call, error: httpx.TransportError) -> Unavailable:
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    command_id = call.body.get("command_id") if isinstance(call.body, dict) else None
    if isinstance(error, _UNSENT) or command_id is None:
        remedy = "Check that the service runs there, and that SUBSTRATE_BASE_URL names it."
    else:
        remedy = f"It may have been applied: receipt({command_id!r}) tells, or send it again with its id."
    return Unavailable(f"{base} does not answer ({reason})", remedy=remedy)


def _to_json(body: Any) -> bytes:
    try:
        text = json.dumps(body, default=_dump, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"body: is not JSON: {error}") from error


def _dump(value: Any) -> Any:
    """What JSON has for a value that is none of its own."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _to_query(params: Fields) -> dict[str, Any]:
    return {
        name: value.isoformat() if hasattr(value, "isoformat") else value  # a list is sent as a repeated name
        for name, value in params.items()
        if value is not None
    }


def _parse_error(answer: httpx.Response) -> SubstrateError:
    """The error that the service raised (RFC 9457); for an unknown problem type, the error of the status."""
    problem = _parse_problem(answer)
    kind = _choose_kind(answer.status_code, str(problem.get("type", "")).rpartition("/")[2])
    detail = str(problem.get("detail") or f"the service answered {answer.status_code}")
    remedy, faults = str(problem.get("remedy", "")), tuple(problem.get("faults", ()))
    if issubclass(kind, RateLimited):
        return kind(detail, remedy=remedy, retry_after=_parse_retry_after(answer) or 1)
    error = kind(detail, remedy=remedy, faults=faults)
    if isinstance(error, Conflict):
        error.current_version = problem.get("current_version")
    if isinstance(error, Unavailable):
        error.retry_after = _parse_retry_after(answer) or error.retry_after
    return error


def _parse_problem(answer: httpx.Response) -> Fields:
    try:
        problem = json.loads(answer.content)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def _choose_kind(status: int, slug: str) -> type[SubstrateError]:
    kinds = errors_by_slug()
    named = kinds.get(slug)
    if named is not None and named.status == status:
        return named
    if status in _GATEWAY_STATUSES:
        return Unavailable
    by_status = [kind for kind in kinds.values() if kind.status == status and issubclass(kind, Incorrect)]
    return next(iter(by_status), Incorrect if status < 500 else Fault)


def _parse_retry_after(answer: httpx.Response) -> int | None:
    seconds = answer.headers.get("Retry-After", "")
    return int(seconds[:9]) if seconds.isdigit() else None
