"""Send a request, parse the answer as a value of `schemas`, and retry where that is safe.

Reads are retried. So are writes: each command gets an id here unless it has one, and is applied once. When an
answer is lost, the repeated command returns its receipt with `duplicate`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Concatenate, Final, NamedTuple, Self, TypedDict, Unpack
from urllib.parse import quote
from uuid import uuid4

import httpx
import orjson
from anyio.from_thread import BlockingPortal
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay
from tenacity.wait import wait_exponential_jitter

from schemas.errors import (
    Conflict,
    Fault,
    Incorrect,
    InvalidRequest,
    RateLimited,
    SubstrateError,
    Unavailable,
    errors_by_slug,
)
from schemas.paging import MOST
from schemas.settings import ClientSettings
from schemas.stream_forms import PART_FIELDS

ATTEMPTS: Final = 5
TIMEOUT_SECONDS: Final = 30.0
BYTES_A_SECOND: Final = 5_000
"""A long text is read by the embedding model before the answer: so much longer may an answer take."""
PATIENCE_SECONDS: Final = 60.0
"""How long a call is retried. A `Retry-After` beyond it raises at once."""
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_BACKOFF: Final = wait_exponential_jitter(multiplier=0.05, max=5.0, jitter=0.05)
_GATEWAY_STATUSES: Final = (502, 503, 504)
"""From a proxy that cannot reach the service, or from the service when it cannot serve."""


type Fields = Mapping[str, Any]
type ModelOrFields = BaseModel | Fields


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

    async def _request[T: BaseModel](self, kind: type[T], call: Call) -> T:
        """Raises what the service raised, Unavailable when it cannot be reached."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts) | stop_before_delay(PATIENCE_SECONDS),
            wait=_choose_pause,
            retry=retry_if_exception(_may_repeat(call)),
            reraise=True,
        )
        answer: httpx.Response = await retrying(self._send_once, call)
        return kind.model_validate_json(answer.content)

    async def _call[T: BaseModel](
        self, kind: type[T], address: str, /, *path: object, pages: str = "", **sent: Unpack[CallFields]
    ) -> T:
        """The answer from an address such as `GET /v1/streams/{}`; with `pages` all pages of that field joined."""
        method, _, template = address.partition(" ")
        call = Call(method, template.format(*map(quote_segment, path)), **sent)
        return await (self._request_all_pages(kind, call, pages) if pages else self._request(kind, call))

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

    async def _request_all_pages[T: BaseModel](self, kind: type[T], call: Call, field: str) -> T:
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


def block_on[**P, R](
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
    settings = ClientSettings()
    if api_key is None and settings.api_key is not None:
        api_key = settings.api_key.get_secret_value()
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidRequest("the key has characters that no key has", remedy="See api_key, or SUBSTRATE_API_KEY.")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return {"base_url": base_url or settings.base_url, "headers": headers, "timeout": TIMEOUT_SECONDS}


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
    return {"parts": list(PART_FIELDS), **asked} if is_whole else asked


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


def _may_repeat(call: Call) -> Callable[[BaseException], bool]:
    def may_repeat(error: BaseException) -> bool:
        unsent = isinstance(error, RateLimited) or isinstance(error.__cause__, _UNSENT)
        return unsent or (call.repeatable and isinstance(error, Unavailable))

    return may_repeat


def _choose_pause(state: RetryCallState) -> float:
    """Seconds: those of `Retry-After`, else an exponential backoff."""
    error = state.outcome.exception() if state.outcome else None
    lost = isinstance(error, SubstrateError) and isinstance(error.__cause__, httpx.TransportError)
    if not lost and isinstance(error, RateLimited | Unavailable):
        return float(error.retry_after)
    return _BACKOFF(state)


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
        return orjson.dumps(body, default=_dump_model)
    except TypeError as error:
        raise InvalidRequest(f"body: is not JSON: {error}") from error


def _dump_model(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
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
        problem = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
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
