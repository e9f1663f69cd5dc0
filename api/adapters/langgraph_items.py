"""Convert LangGraph items to memories and back, and apply LangGraph's filters. Pure.

An item is a memory of the type `LangGraphItem`, or `LangGraphKept` when nothing of it is indexed. Its description
is the indexed text: the value as JSON, or only parts of it; then `extra` holds the whole value. Each prefix of
the namespace is a bucket, which narrows a search to that namespace.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from api.adapters.fitting import remove_control_characters
from schemas.base import MAX_LONG_TEXT
from schemas.errors import InvalidRequest
from schemas.memory import ConsciousnessNode
from substrate.inference.providers import missing

try:
    from langgraph.store.base import MatchCondition, PutOp, get_text_at_path
except ModuleNotFoundError as error:
    raise missing("langgraph", error) from error

ITEM_TYPE: Final = "LangGraphItem"
UNINDEXED_TYPE: Final = "LangGraphKept"
ROOT_BUCKET: Final = "langgraph"
"""The bucket of all items."""
MAX_LABELS: Final = 63
"""The most labels of a namespace: a memory has at most 64 buckets, and `ROOT_BUCKET` takes one."""
_MAX_BUCKET: Final = 200
_MAX_NAME: Final = 200
_UNSAFE: Final = re.compile(r"[^\w.@:+-]")
_MIN_REFRESH: Final = 0.01
"""A read moves an end only by at least this share of the time to live, so that not every read writes a record."""


class StoredItem(NamedTuple):
    """An item as a memory: its id, its content, and its time to live in minutes."""

    id: str
    content: Mapping[str, Any]
    ttl: float | None


def memory_id(namespace: Sequence[str], key: str) -> str:
    """A digest of both, because namespaces and keys may contain characters that an id may not."""
    return f"langgraph-{blake2b(_json([list(namespace), key]), digest_size=16).hexdigest()}"


def bucket_name(prefix: Sequence[str]) -> str:
    """The bucket of all items whose namespace has this prefix; a path over 200 characters becomes a digest."""
    path = "/".join((ROOT_BUCKET, *(_UNSAFE.sub(_percent, label) for label in prefix)))
    if len(path) <= _MAX_BUCKET:
        return path
    return f"{ROOT_BUCKET}/~{blake2b(path.encode(), digest_size=16).hexdigest()}"


def _percent(char: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in char[0].encode("utf-8", "surrogatepass"))


def item_to_store(op: PutOp, fields: Sequence[str] | None) -> StoredItem:
    """The memory for a put; `fields` are indexed unless the operation names others.

    Raises InvalidRequest for a value that is not JSON, a namespace that is too deep, or an invalid time to live.
    """
    namespace = tuple(op.namespace)
    if len(namespace) > MAX_LABELS:
        raise InvalidRequest(f"namespace: has {len(namespace)} labels, at most {MAX_LABELS} are allowed")
    whole = _json(op.value).decode()
    text = _indexed_text(op, fields, whole)
    extra: dict[str, Any] = {"namespace": list(namespace), "key": op.key}
    if text != whole:
        extra["value"] = orjson.loads(whole)
    if op.ttl is not None:
        if not math.isfinite(op.ttl) or op.ttl <= 0:
            raise InvalidRequest(f"ttl: {op.ttl} is no time to live; give minutes above zero, or None for no end")
        extra["ttl_minutes"] = op.ttl
    return StoredItem(
        memory_id(namespace, op.key),
        {
            "node_type": ITEM_TYPE if text else UNINDEXED_TYPE,
            "name": " ".join(remove_control_characters(op.key).split())[:_MAX_NAME] or ITEM_TYPE,
            "description": text,
            "buckets": [bucket_name(namespace[:depth]) for depth in range(len(namespace) + 1)],
            "extra": extra,
        },
        op.ttl,
    )


def _indexed_text(op: PutOp, fields: Sequence[str] | None, whole: str) -> str:
    """The text that a search reads; empty when nothing of the item is indexed."""
    if op.index is False:
        return ""
    paths = fields if op.index is None else op.index
    if paths is None or list(paths) == ["$"]:
        return whole
    texts = [
        remove_control_characters(text).strip() for path in paths for text in get_text_at_path(op.value, path)
    ]
    return "\n".join(text for text in texts if text)[:MAX_LONG_TEXT]


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise InvalidRequest(f"value: cannot be stored as JSON: {error}") from error


def ttl_end(minutes: float | None, now: datetime) -> datetime | None:
    """The end of a time to live that starts now; None for no end. Raises InvalidRequest beyond the last date."""
    if minutes is None:
        return None
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError as error:
        raise InvalidRequest(f"ttl: {minutes} minutes from now are later than the last date") from error


def refreshed_end(memory: ConsciousnessNode, now: datetime) -> datetime | None:
    """The new end of an item that is read now; None when its end does not move."""
    minutes = memory.extra.get("ttl_minutes")
    if minutes is None or memory.invalid_at is None:
        return None
    end = ttl_end(minutes, now)
    moves = end is not None and end - memory.invalid_at > timedelta(minutes=minutes * _MIN_REFRESH)
    return end if moves else None


def commands_to_store(wanted: StoredItem, stored: ConsciousnessNode | None, now: datetime) -> list[dict[str, Any]]:
    """The commands that store the item; none when it is stored already. The old content stays in the past."""
    address = {"id": wanted.id}
    end = ttl_end(wanted.ttl, now)
    if stored is None:
        ends = {} if end is None else {"invalid_at": end.isoformat()}
        return [{"command": "remember", **address, **wanted.content, **ends, "restate": True}]
    needed: list[dict[str, Any]] = []
    if not _is_stored(wanted, stored):
        extra = {**wanted.content["extra"], "created_at": _created_at(stored).isoformat()}
        needed.append({"command": "supersede", **address, **wanted.content, "extra": extra})
    if end is not None or stored.invalid_at is not None:
        needed.append({"command": "correct", **address, "invalid_at": None if end is None else end.isoformat()})
    return needed


def _is_stored(wanted: StoredItem, stored: ConsciousnessNode) -> bool:
    extra = {name: value for name, value in stored.extra.items() if name != "created_at"}
    content = {**wanted.content, "buckets": tuple(wanted.content["buckets"])}
    present = {name: getattr(stored, name) for name in content}
    return content == {**present, "extra": extra}


def _created_at(memory: ConsciousnessNode) -> datetime:
    created_at = memory.extra.get("created_at")
    return memory.valid_at if created_at is None else datetime.fromisoformat(created_at)


def item_fields(memory: ConsciousnessNode) -> dict[str, Any]:
    """The fields of LangGraph's `Item`."""
    extra = memory.extra
    return {
        "namespace": tuple(extra["namespace"]),
        "key": extra["key"],
        "value": extra["value"] if "value" in extra else orjson.loads(memory.description),
        "created_at": _created_at(memory),
        "updated_at": memory.valid_at,
    }


_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_NUMBERS: Final = (int, float)


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Raises InvalidRequest for an invalid filter."""
    for name, value in wanted.items():
        _check_part(f"filter: {name}", value)


def _check_part(place: str, wanted: Any) -> None:
    if not isinstance(wanted, dict):
        return
    operators = [name for name in wanted if isinstance(name, str) and name.startswith("$")]
    if operators and len(operators) < len(wanted):
        raise InvalidRequest(f"{place} mixes operators with names of fields; use one or the other")
    for name, value in wanted.items():
        if not operators:
            _check_part(f"{place}.{name}", value)
        elif name in _ORDER and not (_is_number(value) or isinstance(value, str)):
            raise InvalidRequest(f"{place} {name} compares with a number or a text")
        elif name not in ("$eq", "$ne", *_ORDER):
            known = ", ".join(("$eq", "$ne", *_ORDER))
            raise InvalidRequest(f"{place} has the unknown operator {name}; known are {known}")


def passes_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """True when every field in the filter matches; a missing field counts as null.

    `a.b` names the field `b` of `a`, unless there is a field named `a.b`.
    """
    return all(_passes_value(_field_value(value, name), condition) for name, condition in wanted.items())


def _field_value(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return None
    first, dot, rest = name.partition(".")
    return _field_value(value.get(first), rest) if dot and name not in value else value.get(name)


def _passes_value(actual: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return _equal_json(actual, wanted)
    if any(isinstance(name, str) and name.startswith("$") for name in wanted):
        return all(_compare(actual, name, value) for name, value in wanted.items())
    return isinstance(actual, dict) and passes_filter(actual, wanted)


def _compare(actual: Any, name: str, value: Any) -> bool:
    if name in ("$eq", "$ne"):
        return _equal_json(actual, value) is (name == "$eq")
    comparable = (_is_number(actual) and _is_number(value)) or (isinstance(actual, str) and isinstance(value, str))
    return comparable and _ORDER[name](actual, value)


def _equal_json(first: Any, second: Any) -> bool:
    """Equal as JSON: true is not 1, 1 is 1.0."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_equal_json, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_equal_json(first[name], second[name]) for name in first)
    return bool(first == second)


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def matches_namespace(namespace: tuple[str, ...], conditions: Sequence[MatchCondition]) -> bool:
    """True when the namespace has the prefixes and suffixes of the conditions; `*` stands for any one label."""
    return all(_matches_condition(namespace, condition) for condition in conditions)


def _matches_condition(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(pattern in ("*", label) for label, pattern in zip(part, path, strict=True))


def required_prefix(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """The longest prefix without `*` that the conditions require."""
    longest: tuple[str, ...] = ()
    for condition in conditions:
        path = tuple(condition.path) if condition.match_type == "prefix" else ()
        literal = path[: path.index("*")] if "*" in path else path
        longest = max(longest, literal, key=len)
    return longest
