"""API keys: their scopes, and a key as requested, stored and listed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, Field

from schemas.base import AtMost, Frozen, Name, Request
from schemas.collectives import DEFAULT_NAME
from schemas.memory import GraphKey, Level, Source, collective_of, graph_key
from schemas.temporal import Moment

Action = Literal["read", "write", "state", "erase", "steward"]

_SCOPE: Final = (
    r"^(admin|upkeep|N[23]:(read|write|steward|\*)"
    r"|collective:(\*|[A-Za-z0-9][A-Za-z0-9_.-]{0,63}):(read|write|steward|\*)"
    r"|citizen:(\*|[A-Za-z0-9][A-Za-z0-9_.-]{0,63}):(read|write|state|erase|\*))$"
)


_EXAMPLES: Final = (
    "citizen:ada:read", "citizen:ada:*", "citizen:*:read", "N2:write", "N2:steward", "collective:atlas:read",
    "upkeep", "admin",
)  # fmt: skip


def _scope(text: str) -> str:
    if not re.fullmatch(_SCOPE, text):
        raise ValueError(
            "a scope is citizen:ID:read, :write, :state or :erase, N2:read, :write or :steward, "
            "collective:ID:read, :write or :steward, upkeep, admin"
        )
    if text.lower().startswith(f"collective:{DEFAULT_NAME}:"):
        raise ValueError("n2 is the default collective: its scopes are N2:read, N2:write and N2:steward")
    return text


Scope = Annotated[
    str,
    Field(max_length=100),
    AfterValidator(_scope),
    Field(
        json_schema_extra={"pattern": _SCOPE},
        examples=[*_EXAMPLES],
    ),
]
"""`citizen:ID:ACTION`, `N2:ACTION`, `N3:ACTION`, `collective:ID:ACTION`, `upkeep`, `admin`; a `*` stands for each
citizen, collective or action.

`state` is the right to say what the citizen feels and wants; `write` includes it for a key that may claim to be
the citizen. `steward`, which `*` leaves out, is the right to change what others wrote on a shared level."""

ANYONE: Final = "*"
_ACTIONS: Final[tuple[Action, ...]] = ("read", "write", "state", "erase")
_ON_SHARED: Final[tuple[Action, ...]] = ("read", "write", "steward")
_EVERY_COLLECTIVE: Final = graph_key(Level.N2, ANYONE)


class Grants(NamedTuple):
    """The rights of some scopes. An administrator may do everything.

    `citizens` maps a citizen, or `*` for each, to its actions; `shared` a graph of N2
    or N3 to its actions; `N2:*` stands for each collective beside the default one.
    """

    admin: bool = False
    upkeep: bool = False
    citizens: Mapping[str, frozenset[Action]] = {}
    shared: Mapping[GraphKey, frozenset[Action]] = {}

    def citizen_actions(self, citizen_id: str) -> frozenset[Action]:
        """The actions allowed on a citizen."""
        if self.admin:
            return frozenset(_ACTIONS)
        nothing: frozenset[Action] = frozenset()
        return self.citizens.get(citizen_id, nothing) | self.citizens.get(ANYONE, nothing)

    def only_citizen(self) -> str | None:
        """The only citizen of the scopes; None for several, all or no citizens."""
        return next(iter(self.citizens)) if len(self.citizens) == 1 and ANYONE not in self.citizens else None

    def level_actions(self, graph: GraphKey) -> frozenset[Action]:
        """The actions allowed on a shared level, or in a collective."""
        if self.admin:
            return frozenset((*_ACTIONS, *_ON_SHARED))
        nothing: frozenset[Action] = frozenset()
        everywhere = nothing if collective_of(graph) is None else self.shared.get(_EVERY_COLLECTIVE, nothing)
        return self.shared.get(graph, nothing) | everywhere

    def named_collectives(self, action: Action) -> list[str]:
        """The collectives beside the default one whose scopes name them one by one, in their order."""
        named = {collective_of(graph): actions for graph, actions in self.shared.items()}
        return sorted(name for name, actions in named.items() if name not in (None, ANYONE) and action in actions)

    def anywhere(self, action: Action, *, shared: bool = True) -> bool:
        """True when the action is allowed on any citizen, or with `shared` on any shared level."""
        allowed = (*self.citizens.values(), *(self.shared.values() if shared else ()))
        return self.admin or any(action in actions for actions in allowed)


def grants(scopes: Iterable[str]) -> Grants:
    """The rights of the scopes together; each scope must match the pattern of `Scope`."""
    flags: set[str] = set()
    citizens: dict[str, frozenset[Action]] = {}
    shared: dict[GraphKey, frozenset[Action]] = {}
    for scope in scopes:
        subject, _, rest = scope.partition(":")
        if not rest:
            flags.add(subject)
        elif subject == "citizen":
            citizen_id, _, action = rest.rpartition(":")
            citizens[citizen_id] = citizens.get(citizen_id, frozenset()) | _expand_action(action, _ACTIONS)
        else:
            name, _, action = rest.rpartition(":")
            graph = graph_key(Level.N2, name) if subject == "collective" else Level(subject)
            shared[graph] = shared.get(graph, frozenset()) | _expand_action(action, _ON_SHARED)
    return Grants("admin" in flags, "upkeep" in flags, citizens, shared)


def _expand_action(name: str, every: tuple[Action, ...]) -> frozenset[Action]:
    return frozenset(action for action in every if name == action or (name == "*" and action != "steward"))


def usual_source(granted: Grants) -> Source:
    """The default highest source of a key: `system` for an administrator, else `citizen`."""
    return Source.SYSTEM if granted.admin else Source.CITIZEN


class KeyRequest(Request):
    """A key to create; without `expires_at` it is valid until it is revoked.

    `highest_source` is the most trusted source that a write with the key may claim; the default is `system` for an
    administrator's key, else `citizen`.
    """

    name: Annotated[Name, Field(max_length=100)]
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1), AtMost(100)]
    highest_source: Source | None = None
    expires_at: Moment | None = None

    @property
    def highest(self) -> Source:
        """The highest source of the key, with the default applied."""
        return usual_source(grants(self.scopes)) if self.highest_source is None else self.highest_source


class KeyChange(Request):
    """The highest source that the key may claim from now on."""

    highest_source: Source


class KeyInfo(Frozen):
    """A key as listed, without the key itself. `last_used_at` is exact to a minute.

    A key stored without a highest source may claim any.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    highest_source: Source = Source.SYSTEM
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class KeyRecord(KeyInfo):
    """A key as stored. `hash`: the SHA-256 of the whole key, in hexadecimal."""

    hash: str

    def info(self) -> KeyInfo:
        return KeyInfo(**self.model_dump(exclude={"hash"}))


class NewKey(KeyInfo):
    """A new key. `key` is shown only this once."""

    key: str


class KeyList(Frozen):
    """All keys, oldest first, revoked and expired ones included."""

    keys: tuple[KeyInfo, ...]
