"""The tree of errors that Substrate raises.

SubstrateError
├── Incorrect            the caller can correct the request (4xx)
│   ├── InvalidRequest     422  a field is missing, malformed or out of range
│   ├── Unauthenticated    401  no valid key
│   ├── Forbidden          403  the key may not do this
│   ├── ForeignOrigin      403  a page of another origin may not call
│   ├── NotTrusted         403  the command's source may not change that record
│   ├── NotAuthor          403  another citizen wrote that shared record
│   ├── NotFound           404  no such memory, citizen or receipt
│   ├── Conflict           409  it clashes with what is stored
│   ├── PreconditionFailed 412  it is no longer as If-Match says
│   ├── RateLimited        429  more requests than the key may send
│   ├── QuotaReached       507  the citizen has all that it may store; nothing was changed
│   └── Refused                 the Python client: a part of a list was refused, the rest is stored
├── Unavailable          503  try again: the engine is starting, restarting or too slow
│   ├── StoreTimeout
│   └── StorageFull        507  the disk of the store is full: reads go on
└── Fault                500  a defect, or something for the operator to repair
    ├── StoreMisfit          the store was made for another schema or embedding model
    └── EngineFault          the embedded engine cannot start (disk, rights, binary)
        └── StoreDamaged       the files of the store no longer hold what was written

Every error says what is wrong (`detail`) and what to do (`remedy`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SubstrateError(Exception):
    """Base of the tree. `status` is the HTTP status, `slug` the stable problem type."""

    status = 500
    slug = "fault"
    title = "Something went wrong inside Substrate"

    def __init__(self, detail: str, *, remedy: str = "", faults: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy
        self.faults = tuple(faults)


class Incorrect(SubstrateError):
    """The request cannot be carried out as it stands; nothing was changed."""

    status = 400
    slug = "incorrect"
    title = "The request cannot be carried out"


class InvalidRequest(Incorrect):
    """A field is missing, malformed or out of range; `faults` lists each one."""

    status = 422
    slug = "invalid-request"
    title = "The request is not valid"


class NotFound(Incorrect):
    """The memory, citizen or receipt does not exist, or not in this scope of time."""

    status = 404
    slug = "not-found"
    title = "Not found"


class Conflict(Incorrect):
    """The request clashes with what is stored. `current_version`: that of the stored record, if there is one."""

    status = 409
    slug = "conflict"
    title = "The request conflicts with what is stored"
    current_version: int | None = None


class Unauthenticated(Incorrect):
    """There is no key, or one that is unknown, expired or revoked: the answer does not say which."""

    status = 401
    slug = "unauthenticated"
    title = "A valid key is needed"


class Forbidden(Incorrect):
    """The key is valid, but its scopes do not allow this."""

    status = 403
    slug = "forbidden"
    title = "The key does not allow this"


class ForeignOrigin(Incorrect):
    """A browser sent the request for a page of an origin that may not call."""

    status = 403
    slug = "foreign-origin"
    title = "Pages of this origin may not call"


class NotTrusted(Incorrect):
    """The record comes from a source that weighs more than the command's."""

    status = 403
    slug = "not-trusted"
    title = "The record is not changed by such a source"


class NotAuthor(Incorrect):
    """The shared record was written by another citizen; only its author or a steward changes it."""

    status = 403
    slug = "not-author"
    title = "Another citizen wrote this"

    def __init__(self, detail: str, *, remedy: str = "", faults: Sequence[str] = ()) -> None:
        usual = "Contest it, or ask its author or a steward of the level to change it."
        super().__init__(detail, remedy=remedy or usual, faults=faults)


class PreconditionFailed(Incorrect):
    """The memory is no longer at the version that `If-Match` names."""

    status = 412
    slug = "precondition-failed"
    title = "It has changed since it was read"


class RateLimited(Incorrect):
    """More requests than the key may send; send the request again after `retry_after` seconds."""

    status = 429
    slug = "rate-limited"
    title = "Too many requests"

    def __init__(self, detail: str, *, remedy: str = "", retry_after: int) -> None:
        super().__init__(detail, remedy=remedy)
        self.retry_after = retry_after


class QuotaReached(Incorrect):
    """The write would pass a quota of the citizen; nothing was changed."""

    status = 507
    slug = "quota-reached"
    title = "The quota of the citizen is used up"


class Refused(Incorrect):
    """A part of what was sent was refused; the rest is stored. `faults` says why, `report` is the whole answer.

    Only the Python client raises it: over REST the report itself is the answer.
    """

    title = "A part of what was sent was refused"
    report: Any = None


class Unavailable(SubstrateError):
    """The store cannot answer now; the same request may succeed after `retry_after` seconds."""

    status = 503
    slug = "unavailable"
    title = "The store is not available"
    retry_after = 1


class StoreTimeout(Unavailable):
    """A query ran past its deadline; nothing of it was applied."""

    slug = "store-timeout"
    title = "The store took too long"


class StorageFull(Unavailable):
    """The disk of the store has too little space for a write; reads go on, and nothing was changed."""

    status = 507
    slug = "storage-full"
    title = "The disk of the store is full"
    retry_after = 30


class Fault(SubstrateError):
    """A defect or a broken installation."""


class StoreMisfit(Fault):
    """The store was made for another schema version or embedding model."""

    slug = "store-misfit"
    title = "The store does not fit this configuration"


class EngineFault(Fault):
    """The embedded engine cannot be started or used."""

    slug = "engine-fault"
    title = "The embedded engine cannot run"


class StoreDamaged(EngineFault):
    """The files of the store no longer hold what was written to them; `faults` names each."""

    slug = "store-damaged"
    title = "The stored data is damaged"


def errors_by_slug() -> dict[str, type[SubstrateError]]:
    """The error of each problem type; a kind without a slug of its own shares that of its parent."""
    kinds: list[type[SubstrateError]] = [SubstrateError]
    by_slug: dict[str, type[SubstrateError]] = {}
    for kind in kinds:
        by_slug.setdefault(kind.slug, kind)
        kinds += kind.__subclasses__()
    return by_slug


def refusal_error(
    problem: str | None, faults: Sequence[str], current_version: int | None = None
) -> SubstrateError:
    """The error for a command or a repair that was refused with this problem type.

    What the single fault of a conflict says after a semicolon is what to do.
    """
    kind = errors_by_slug()[str(problem)]
    has_advice = issubclass(kind, Conflict) and len(faults) == 1 and "; " in faults[0]
    advice = faults[0].rpartition("; ")[2] if has_advice else ""
    error = kind("; ".join(faults), faults=faults, remedy=advice and f"{advice[0].upper()}{advice[1:]}.")
    if isinstance(error, Conflict):
        error.current_version = current_version
    return error
