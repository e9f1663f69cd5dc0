"""A tool, its answer, and how its arguments become those of the client."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, NamedTuple, Protocol, get_args

from api.client import AsyncSubstrate
from api.client._calls import AsOfFields
from api.mcp.arguments import Arguments
from schemas.base import Frozen
from schemas.memory import Source
from schemas.temporal import ALL_KNOWN


class Timed(Protocol):
    """Arguments that say as of when, and what was known then."""

    @property
    def as_of_time(self) -> datetime | str | None: ...

    @property
    def known_at(self) -> datetime | str | None: ...


class ToolAnswer[Values: Frozen](NamedTuple):
    """An answer: text for a model, values for a program."""

    text: str
    values: Values


class Tool(NamedTuple):
    """`read_only`: it changes nothing. `destructive`: it ends a belief. `extra`: offered only where chosen."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type[Frozen]
    call: Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer[Any]]]
    read_only: bool = True
    destructive: bool = False
    extra: bool = False


def tool(
    title: str, *, read_only: bool = True, destructive: bool = False, extra: bool = False
) -> Callable[[Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer[Any]]]], Tool]:
    """Make a tool of a function, by its name without `call_`, its docstring, what it takes and what it answers."""

    def make(call: Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer[Any]]]) -> Tool:
        kinds = inspect.get_annotations(call, eval_str=True)
        name, description = call.__name__.removeprefix("call_"), inspect.getdoc(call) or ""
        [answer] = get_args(kinds["return"])
        return Tool(name, title, description, kinds["given"], answer, call, read_only, destructive, extra)

    return make


def times_of(given: Timed) -> AsOfFields:
    """The times of a question. `as_of_time` alone asks what was true then, as known now."""
    if given.as_of_time is None:
        return {} if given.known_at is None else {"known_at": given.known_at}
    return {"as_of_time": given.as_of_time, "known_at": given.known_at or ALL_KNOWN}


def fields_of(given: Arguments, *left_out: str) -> dict[str, Any]:
    """The arguments that were given, as fields of a command. What is `quoted` has the source `tool`."""
    fields = given.model_dump(exclude_none=True, exclude_unset=True, exclude={*left_out, "quoted"})
    return {**fields, "source": Source.TOOL} if getattr(given, "quoted", False) else fields


class Resource(NamedTuple):
    """A text that a model can read at a `uri` with one name in it, of the citizen that `citizen_of` says."""

    name: str
    uri: str
    description: str
    pattern: re.Pattern[str]
    citizen_of: Callable[[str], str | None]
    read: Callable[[AsyncSubstrate, str], Awaitable[str]]
