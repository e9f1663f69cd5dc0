"""Items of LangGraph as memories, and back. Pure.

An item is a memory of the type `LangGraphItem`, or `LangGraphKept` when nothing of it is indexed. Its description
is what it is found by. Its value is there as JSON, or in `extra` where only parts of it are indexed. Each
beginning of its namespace is a bucket, by which a search is narrowed to it.
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
from langgraph.store.base import MatchCondition, PutOp, get_text_at_path

from api.adapters.fitting import remove_control_characters
from schemas.base import MAX_TEXT
from schemas.errors import InvalidRequest
from schemas.memory import ConsciousnessNode

ITEM_TYPE: Final = "LangGraphItem"
UNINDEXED_TYPE: Final = "LangGraphKept"
ROOT_BUCKET: Final = "langgraph"
"""The bucket of all items."""
MAX_LABELS: Final = 63
"""Labels of a namespace at most: with `ROOT` they are the buckets that a memory may have."""
_MAX_BUCKET: Final = 200
_MAX_NAME: Final = 200
_UNSAFE: Final = re.compile(r"[^\w.@:+-]")
_MIN_REFRESH: Final = 0.01
"""An end is moved when that adds so much of the time to live: not each of many readings makes a record."""


class StoredItem(NamedTuple):
    """An item as it is to be: the id and the content of its memory, and its time to live in minutes."""

    id: str
    content: Mapping[str, Any]
    ttl: float | None


def memory_id(namespace: Sequence[str], key: str) -> str:
    """Namespaces and keys are any text; an id is not."""
    return f"langgraph-{blake2b(_json([list(namespace), key]), digest_size=16).hexdigest()}"


def bucket_name(prefix: Sequence[str]) -> str:
    """The bucket of all items whose namespace begins so."""
    path = "/".join((ROOT_BUCKET, *(_UNSAFE.sub(_percent, label) for label in prefix)))
    if len(path) <= _MAX_BUCKET:
        return path
    return f"{ROOT_BUCKET}/~{blake2b(path.encode(), digest_size=16).hexdigest()}"


def _percent(char: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in char[0].encode("utf-8", "surrogatepass"))


def item_to_store(op: PutOp, fields: Sequence[str] | None) -> StoredItem:
    """The item that is put; `fields` are indexed unless the operation names others.

    Raises InvalidRequest for a value that is no JSON, a namespace too deep, or a time to live that is none.
    """
    namespace = tuple(op.namespace)
    if len(namespace) > MAX_LABELS:
        raise InvalidRequest(f"namespace: has {len(namespace)} labels, at most {MAX_LABELS} are kept")
    whole = _json(op.value).decode()
    text = _indexed_text(op, fields, whole)
    extra: dict[str, Any] = {"namespace": list(namespace), "key": op.key}
    if text != whole:
        extra["value"] = orjson.loads(whole)
    if op.ttl is not None:
        extra["ttl_minutes"] = _check_ttl(op.ttl)
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
    """The text by which an item is found; empty when nothing of it is indexed."""
    if op.index is False:
        return ""
    paths = fields if op.index is None else op.index
    if paths is None or list(paths) == ["$"]:
        return whole
    texts = [
        remove_control_characters(text).strip() for path in paths for text in get_text_at_path(op.value, path)
    ]
    return "\n".join(text for text in texts if text)[:MAX_TEXT]


def _check_ttl(minutes: float) -> float:
    if not math.isfinite(minutes) or minutes <= 0:
        raise InvalidRequest(f"ttl: {minutes} is no time to live; give minutes above zero, or None for no end")
    return minutes


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise InvalidRequest(f"value: cannot be kept as JSON: {error}") from error


def ttl_end(minutes: float | None, now: datetime) -> datetime | None:
    """When what lives so long from now on ends; None for no end. Raises InvalidRequest beyond all times."""
    if minutes is None:
        return None
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError as error:
        raise InvalidRequest(f"ttl: {minutes} minutes from now lie beyond all times") from error


def refreshed_end(memory: ConsciousnessNode, now: datetime) -> datetime | None:
    """The end that an item has when it is read now; None when it stays."""
    minutes = memory.extra.get("ttl_minutes")
    if minutes is None or memory.invalid_at is None:
        return None
    end = ttl_end(minutes, now)
    moves = end is not None and end - memory.invalid_at > timedelta(minutes=minutes * _MIN_REFRESH)
    return end if moves else None


def commands_to_store(wanted: StoredItem, there: ConsciousnessNode | None, now: datetime) -> list[dict[str, Any]]:
    """What makes an item so: nothing when it is so already. What was stays in the citizen's past."""
    of = {"id": wanted.id}
    end = ttl_end(wanted.ttl, now)
    if there is None:
        ends = {} if end is None else {"invalid_at": end.isoformat()}
        return [{"command": "remember", **of, **wanted.content, **ends, "restate": True}]
    said: list[dict[str, Any]] = []
    if not _is_stored(wanted, there):
        extra = {**wanted.content["extra"], "created_at": _created_at(there).isoformat()}
        said.append({"command": "supersede", **of, **wanted.content, "extra": extra})
    if end is not None or there.invalid_at is not None:
        said.append({"command": "correct", **of, "invalid_at": None if end is None else end.isoformat()})
    return said


def _is_stored(wanted: StoredItem, there: ConsciousnessNode) -> bool:
    extra = {name: value for name, value in there.extra.items() if name != "created_at"}
    said = {**wanted.content, "buckets": tuple(wanted.content["buckets"])}
    found = {name: getattr(there, name) for name in said}
    return said == {**found, "extra": extra}


def _created_at(memory: ConsciousnessNode) -> datetime:
    said = memory.extra.get("created_at")
    return memory.valid_at if said is None else datetime.fromisoformat(said)


def item_fields(memory: ConsciousnessNode) -> dict[str, Any]:
    """The fields of the item that a memory is."""
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
    """Raises InvalidRequest for a filter that cannot be read."""
    for name, value in wanted.items():
        _check_part(f"filter: {name}", value)


def _check_part(place: str, wanted: Any) -> None:
    if not isinstance(wanted, dict):
        return
    operators = [name for name in wanted if isinstance(name, str) and name.startswith("$")]
    if operators and len(operators) < len(wanted):
        raise InvalidRequest(f"{place} mixes operators with names of fields; say one or the other")
    for name, value in wanted.items():
        if not operators:
            _check_part(f"{place}.{name}", value)
        elif name in _ORDER and not _is_ordered(value):
            raise InvalidRequest(f"{place} {name} compares with a number or a text")
        elif name not in ("$eq", "$ne", *_ORDER):
            known = ", ".join(("$eq", "$ne", *_ORDER))
            raise InvalidRequest(f"{place} has the unknown operator {name}; known are {known}")


def passes_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every field that is named is as it is wanted; one that is missing is like one that is null.

    `a.b` names the field `b` of `a`, unless there is a field of this very name.
    """
    return all(_passes_value(_field_value(value, name), said) for name, said in wanted.items())


def _field_value(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return None
    first, dot, rest = name.partition(".")
    return _field_value(value.get(first), rest) if dot and name not in value else value.get(name)


def _passes_value(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return _equal_json(found, wanted)
    if any(isinstance(name, str) and name.startswith("$") for name in wanted):
        return all(_compare(found, name, value) for name, value in wanted.items())
    return isinstance(found, dict) and passes_filter(found, wanted)


def _compare(found: Any, name: str, value: Any) -> bool:
    if name in ("$eq", "$ne"):
        return _equal_json(found, value) is (name == "$eq")
    alike = (_is_number(found) and _is_number(value)) or (isinstance(found, str) and isinstance(value, str))
    return alike and _ORDER[name](found, value)


def _equal_json(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal_json(one[name], other[name]) for name in one)
    return bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _is_ordered(value: Any) -> bool:
    return _is_number(value) or isinstance(value, str)


def matches_namespace(namespace: tuple[str, ...], conditions: Sequence[MatchCondition]) -> bool:
    """Whether the namespace begins and ends as the conditions say; `*` stands for any one label."""
    return all(_matches_condition(namespace, condition) for condition in conditions)


def _matches_condition(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(said in ("*", found) for found, said in zip(part, path, strict=True))


def common_prefix(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """The labels with which every namespace begins that the conditions match."""
    longest: tuple[str, ...] = ()
    for condition in conditions:
        path = tuple(condition.path) if condition.match_type == "prefix" else ()
        literal = path[: path.index("*")] if "*" in path else path
        longest = max(longest, literal, key=len)
    return longest
