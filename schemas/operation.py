"""An operation: what the service does, at which address, for whom. Its doors are made from this one value.

Who may call it is a value too: a sentence, and what the caller needs as calculated from what was asked.
`api.security.permissions` compares it with the scopes of the caller.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import chain, takewhile
from typing import Annotated, Any, Final, Literal, NamedTuple

from schemas.base import Identifier, Request
from schemas.collectives import named_graph
from schemas.keys import Action
from schemas.memory import GraphKey, Level, Source


class Need(NamedTuple):
    """The right to an action in a graph."""

    action: Action
    citizen_id: str | None
    graph: GraphKey = Level.N1


class AsCitizen(NamedTuple):
    """The right to say what the citizen feels and wants: to write as the citizen, else the action `state`."""

    citizen_id: str


class Claim(NamedTuple):
    """The right to write in the name of a source."""

    source: Source


class Standing(NamedTuple):
    """A scope that names no graph."""

    scope: Literal["upkeep", "admin"]


class RequestParts(NamedTuple):
    """The request, which was the body or the query, and the values in the path of the address, by their names."""

    request: Any
    path: Mapping[str, Any]

    @property
    def citizen_id(self) -> str:
        """The citizen in the path, else the one that the request names."""
        named: str = self.path.get("citizen_id") or self.request.citizen_id
        return named


type Needs = Callable[[RequestParts], Iterable[Need | AsCitizen | Claim | Standing]]


def no_needs(_asked: RequestParts) -> Iterable[Need]:
    """What any key may do."""
    return ()


class May(NamedTuple):
    """Who may call an operation. `says` is the sentence of the documents, `needs` what the request asks for.

    Some is checked before the body is read, so that none is read in vain: `scope`; with `of_path` all `needs`,
    which the path then says; `first`, an action on the citizen in the path, else on any citizen, and with `shared`
    on any shared level; with `stewards` the steward of a shared level passes that.

    What the request claims in its field `source` is at most the caller's highest source; a default is lowered to
    that. With `narrows` it loses the shared levels that it did not name and the caller may not read.
    """

    says: str
    needs: Needs = no_needs
    scope: Literal["", "upkeep", "admin"] = ""
    first: Action | None = None
    shared: bool = False
    stewards: bool = False
    of_path: bool = False
    source: str = ""
    narrows: bool = False


PUBLIC: Final = May("nothing")
"""For what needs no key."""
ANY_KEY: Final = May("any key")
ADMIN: Final = May("admin", scope="admin")
COMMANDS: Final = May("citizen:ID:write or LEVEL:write, for each command", first="write", shared=True)
"""For what applies commands, and checks the caller for each."""
ERASES: Final = May(
    "citizen:ID:erase; for N2 and N3 LEVEL:write with :erase of the author, or with LEVEL:steward",
    first="erase",
    stewards=True,
)
"""For what erases, and checks the caller for each command."""


def citizen_may(action: Action, says: str = "", *, also: str = "", source: str = "", narrows: bool = False) -> May:
    """The action on the citizen in the path, else of the request; to write too where its flag `also` is set."""

    def needs(asked: RequestParts) -> Iterable[Need]:
        yield Need(action, asked.citizen_id)
        if also and getattr(asked.request, also, False):
            yield Need("write", asked.citizen_id)

    return May(says or f"citizen:ID:{action}", needs, first=action, source=source, narrows=narrows)


def graph_may(action: Action, says: str = "", *, upkeep: bool = False, source: str = "") -> May:
    """The action in the graph of the request, and to erase where that is asked; with `upkeep` that scope too."""

    def needs(asked: RequestParts) -> Iterable[Need]:
        request = asked.request
        yield Need(action, request.citizen_id, request.graph_key)
        if getattr(request, "action", None) == "erase":
            yield Need("erase", request.citizen_id, request.graph_key)

    sentence = f"{'upkeep, and ' if upkeep else ''}citizen:ID:{action} or LEVEL:{action}"
    return May(says or sentence, needs, scope="upkeep" if upkeep else "", source=source)


def record_may(action: Action, says: str = "") -> May:
    """The action on the record whose level stands in the path, of the citizen that the query names, if it does."""

    def needs(asked: RequestParts) -> Iterable[Need]:
        graph = named_graph(asked.path["level"], asked.request.collective)
        yield Need(action, getattr(asked.request, "citizen_id", None), graph)

    return May(says or f"citizen:ID:{action} or LEVEL:{action}", needs)


ASKS: Final = citizen_may(
    "read",
    "citizen:ID:read; also :write with apply_feedback; LEVEL:read for N2 and N3; collective:ID:read",
    also="apply_feedback",
    narrows=True,
)
"""For what asks a question."""


class Says(NamedTuple):
    """In the annotation of a value in the path: what the documents say of it."""

    text: str


MemoryIdInPath = Annotated[Identifier, Says("Percent-encode special characters; `/` may stay.")]


class Method(NamedTuple):
    """The method of the clients that calls an operation, as far as its address and its request do not say.

    It has the operation's name unless it has a `name`, and describes itself by `says`, else by the first paragraph
    of the documents. With `by_hand` no method is written. `once`: a request that was lost is not sent again, or is
    not where this field of it is true. `takes`: a value instead of the request, with the values in the path too.
    `positional`: the only field of the request, which is given by position. `new_id`: a field that gets a new id
    where it has none, as `command_id` does. `pages`: the field of the answer whose pages are joined. `reads` makes
    of the answer what the method returns.
    """

    name: str = ""
    says: str = ""
    by_hand: bool = False
    once: bool | str = False
    takes: type[Request] | None = None
    positional: str = ""
    new_id: str = ""
    pages: str = ""
    reads: Callable[[Any], Any] | None = None


class Operation(NamedTuple):
    """One operation, at an `address` such as `GET /v1/streams/{stream_id}`: `run` does it.

    `run` is described by its own annotations. A `Request` that it takes is the body, or the query of a GET or a
    DELETE; what stands in braces in the address is taken by its name. `deps`, `now`, `writer`, `may_read`
    and `may_override` are the open store, the moment, the caller as a writer, which graphs the caller may read,
    and for which citizens it speaks. What else has a default keeps it. The answer is what it returns, or its JSON
    as bytes, which `gives` describes; `sent` is the class of a response that is no JSON. Its docstring, up to a
    paragraph that begins with "Raises", describes the operation in the documents.

    With `notes` the header `Substrate-Notes` lists what was assumed about the request. `call` is the method of the
    clients.
    """

    name: str
    address: str
    summary: str
    may: May
    run: Callable[..., Awaitable[Any]]
    tag: str = ""
    gives: Any = None
    sent: type | None = None
    status: int = 200
    responses: Mapping[int | str, dict[str, Any]] | None = None
    notes: bool = False
    call: Method = Method()

    @property
    def method(self) -> str:
        """`GET`, `POST`, `PUT`, `PATCH` or `DELETE`."""
        return self.address.partition(" ")[0]

    @property
    def path(self) -> str:
        """The address without the method."""
        return self.address.partition(" ")[2]

    @property
    def description(self) -> str:
        """What the documents say of it."""
        paragraphs = inspect.cleandoc(self.run.__doc__ or "").split("\n\n")
        return "\n\n".join(takewhile(lambda paragraph: not paragraph.startswith("Raises "), paragraphs))


def group(tag: str, *operations: Operation) -> tuple[Operation, ...]:
    """The operations under one heading of the documents."""
    return tuple(operation._replace(tag=tag) for operation in operations)


def collect(*groups: Iterable[Operation]) -> tuple[Operation, ...]:
    """All operations in their order. Raises ValueError for two of one name or of one address."""
    collected = tuple(chain.from_iterable(groups))
    seen: dict[str, Operation] = {}
    for operation in collected:
        for key in (operation.name, operation.address):
            if key in seen:
                raise ValueError(f"two operations are {key!r}: {seen[key].run} and {operation.run}")
            seen[key] = operation
    return collected
