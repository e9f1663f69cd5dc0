"""What LangGraph filters by: fields of a value, and parts of a namespace. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langgraph.store.base import MatchCondition

from schemas.errors import InvalidRequest

_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_NUMBERS: Final = (int, float)


def check(wanted: Mapping[str, Any]) -> None:
    """Raises InvalidRequest for a filter that cannot be read."""
    for name, value in wanted.items():
        _check(f"filter: {name}", value)


def _check(place: str, wanted: Any) -> None:
    if not isinstance(wanted, dict):
        return
    operators = [name for name in wanted if isinstance(name, str) and name.startswith("$")]
    if operators and len(operators) < len(wanted):
        raise InvalidRequest(f"{place} mixes operators with names of fields; say one or the other")
    for name, value in wanted.items():
        if not operators:
            _check(f"{place}.{name}", value)
        elif name in _ORDER and not _ordered(value):
            raise InvalidRequest(f"{place} {name} compares with a number or a text")
        elif name not in ("$eq", "$ne", *_ORDER):
            known = ", ".join(("$eq", "$ne", *_ORDER))
            raise InvalidRequest(f"{place} has the unknown operator {name}; known are {known}")


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every field that is named is as it is wanted; one that is missing is like one that is null.

    `a.b` names the field `b` of `a`, unless there is a field of this very name.
    """
    return all(_fits(_found(value, name), said) for name, said in wanted.items())


def _found(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return None
    first, dot, rest = name.partition(".")
    return _found(value.get(first), rest) if dot and name not in value else value.get(name)


def _fits(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return _same(found, wanted)
    if any(isinstance(name, str) and name.startswith("$") for name in wanted):
        return all(_compares(found, name, value) for name, value in wanted.items())
    return isinstance(found, dict) and passes(found, wanted)


def _compares(found: Any, name: str, value: Any) -> bool:
    if name in ("$eq", "$ne"):
        return _same(found, value) is (name == "$eq")
    alike = (_number(found) and _number(value)) or (isinstance(found, str) and isinstance(value, str))
    return alike and _ORDER[name](found, value)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return bool(one == other)


def _number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _ordered(value: Any) -> bool:
    return _number(value) or isinstance(value, str)


def matches(namespace: tuple[str, ...], conditions: Sequence[MatchCondition]) -> bool:
    """Whether the namespace begins and ends as the conditions say; `*` stands for any one label."""
    return all(_matches(namespace, condition) for condition in conditions)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(said in ("*", found) for found, said in zip(part, path, strict=True))


def beginning(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """The labels with which every namespace begins that the conditions match."""
    longest: tuple[str, ...] = ()
    for condition in conditions:
        path = tuple(condition.path) if condition.match_type == "prefix" else ()
        literal = path[: path.index("*")] if "*" in path else path
        longest = max(longest, literal, key=len)
    return longest
