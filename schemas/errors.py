"""The one tree of errors that Substrate raises.

SubstrateError
├── Incorrect            the caller can mend it (4xx)
│   ├── InvalidRequest     422  a field is missing, malformed or out of range
│   ├── NotFound           404  no such memory, citizen or receipt
│   └── Conflict           409  it clashes with what is stored
├── Unavailable          503  try again: the engine is starting, restarting or too slow
│   └── StoreTimeout
└── Fault                500  ours to mend, or the operator's
    ├── StoreMisfit          the store was made for another schema or embedding model
    └── EngineFault          the embedded engine cannot start (disk, rights, binary)

Every error says what is wrong (`detail`) and what to do (`remedy`).
"""

from __future__ import annotations

from collections.abc import Sequence


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
    """What was asked for does not exist (or not in this scope of time)."""

    status = 404
    slug = "not-found"
    title = "Not found"


class Conflict(Incorrect):
    """The request clashes with what is stored."""

    status = 409
    slug = "conflict"
    title = "The request conflicts with what is stored"


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
