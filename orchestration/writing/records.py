"""Commands → stored properties. Pure: what a memory or a link looks like in the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from orchestration.identifiers import handle
from schemas.commands import (
    ChangeCommand,
    Command,
    Correct,
    CorrectLink,
    LinkRevision,
    Relate,
    Remember,
    Revision,
    StretchCommand,
)
from schemas.memory import Source
from schemas.temporal import END_OF_TIME, Instant, Period, to_instant
from substrate.cypher.fragments import LINK_COLUMNS, LINK_UPKEEP, NODE_COLUMNS, NODE_UPKEEP
from substrate.emotions import emotion_trace, normal_emotions
from substrate.store.rows import json_text, stored
from substrate.text import STOP_WORDS, name_key, search_text, words

SPOKEN_TYPES = frozenset(("Turn", "Session"))
"""Memories whose name is a place in a conversation; nobody names them in a question."""

FEWEST_WORDS = 5
"""A text of fewer words is no sign that the same is said again: "Thanks!" is said for good reasons."""

_ASSUMED = ("energy", "confidence", "emotion_vector")


def fingerprint(command: Command) -> int:
    """What the command says, as a number below 2**53: equal for equal content, whatever the command id."""
    said = command.model_dump(mode="json", exclude_unset=True, exclude={"command_id"})
    said["command"] = getattr(command, "command", "")
    digest = blake2b(orjson.dumps(said, option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
    return int.from_bytes(digest) >> 11


def instant(moment: Any, otherwise: Instant) -> Instant:
    """The instant of a datetime, or `otherwise` when there is none."""
    return otherwise if moment is None else to_instant(moment)


def embedded_text(content: Mapping[str, Any]) -> str:
    """What is embedded of a memory: a turn with who said it, anything else with its name."""
    if content.get("speaker"):
        return f"{content['speaker']}: {content.get('description', '')}"
    return f"{content['name']}. {content.get('description') or ''}".strip()


def search_properties(content: Mapping[str, Any], emotions: Mapping[str, float] | None) -> dict[str, Any]:
    """The properties kept for search beside a content: normal text, names, emotion names, its length in words."""
    beside = " ".join(words(_beside(content)))
    normal = search_text(content["name"], content.get("description") or "")
    return {
        "search_text": " ".join(part for part in (normal, beside) if part) or None,
        "name_key": None if content["node_type"] in SPOKEN_TYPES else bare_name(content) or None,
        "entity_names": _entity_names(content),
        "emotions": sorted(normal_emotions(emotions)) if emotions else None,
        "terms": terms(content),
        "text_key": words_key(" ".join(words(content.get("description") or content["name"]))),
    }


def words_key(normal: str) -> int | None:
    """The number, below 2**53, under which a text in normal form is found again; None for a short one."""
    if normal.count(" ") < FEWEST_WORDS - 1:
        return None
    return int.from_bytes(blake2b(normal.encode(), digest_size=8).digest()) >> 11


def terms(content: Mapping[str, Any]) -> int:
    """How many words a memory is found by, stop words left out."""
    return sum(word not in STOP_WORDS for word in words(indexed_text(content)))


def indexed_text(content: Mapping[str, Any]) -> str:
    """All by whose words a memory is found: name (unless it is a turn's), aliases, text, goal, tags, buckets."""
    names = () if content.get("speaker") else (content["name"], *_listed(content.get("aliases")))
    return " ".join((*names, content.get("description") or "", _beside(content)))


def _beside(content: Mapping[str, Any]) -> str:
    labels = (*given_tags(content), *_listed(content.get("buckets")))
    return " ".join((content.get("goal") or "", *labels)).replace("_", " ")


def given_tags(content: Mapping[str, Any]) -> Sequence[str]:
    """The tags that the writer gave; those made at ingestion repeat words of the text."""
    return () if "tags" in (content.get("unset") or ()) else _listed(content.get("tags"))


def wants_tags(row: Mapping[str, Any]) -> bool:
    """Whether a row was ingested, says something, and has no tags."""
    said = row["source"] == Source.INGESTION and row["node_type"] != "Session" and bool(row["description"])
    return said and row["tags"] is None


def tagged(row: Mapping[str, Any], tags: Sequence[str]) -> dict[str, Any]:
    """The row of a new memory with tags that were made for it, and marked so."""
    unset = ",".join(name for name in (row["unset"], "tags") if name)
    names = tag_names(tags, ()) + row["tag_names"]
    return {**row, "tags": json_text(list(tags)), "unset": unset, "tag_names": names}


def _listed(names: Any) -> Sequence[str]:
    """The names of a column, whether in stored form or not."""
    return orjson.loads(names) if isinstance(names, str) else names or ()


def bare_name(content: Mapping[str, Any]) -> str:
    """The name in comparable form, without its type in front: `person_Luca` of a Person is `luca`."""
    return name_key(content["name"]).removeprefix(f"{content['node_type'].lower()} ")


def _entity_names(content: Mapping[str, Any]) -> str | None:
    if content["node_type"] in SPOKEN_TYPES:
        return None
    names = [content["name"], *_listed(content.get("aliases"))]
    return " ".join(dict.fromkeys(name_key(name) for name in names)) or None


def memory_row(command: Remember, ids: tuple[str, str], now: Instant) -> dict[str, Any]:
    """The stored form of a new memory. `ids`: of the memory and of the command."""
    said = command.model_dump(exclude={"command", "command_id", "level", "citizen_id"})
    emotions = command.emotion_vector
    search = search_properties(said, emotions)
    unset = ",".join(name for name in _ASSUMED if name not in command.model_fields_set)
    return {
        **stored(said, NODE_COLUMNS + NODE_UPKEEP),
        **search,
        "id": ids[0],
        "command_id": ids[1],
        "key_id": command.writer.key_id,
        "author": command.writer.author,
        "fingerprint": fingerprint(command),
        "unset": unset or None,
        "version": 1,
        "valid_at": instant(command.valid_at, now),
        "invalid_at": instant(command.invalid_at, END_OF_TIME),
        "created_at": now,
        "expired_at": END_OF_TIME,
        "emotion_vector": None if emotions is None else orjson.dumps(emotions).decode(),
        "emotion": emotion_trace(emotions, f"{ids[0]} 1"),
        "tag_names": tag_names(command.tags, command.buckets),
    }


def felt_trace(content: Mapping[str, Any], memory_id: str, version: int) -> list[float] | None:
    """The emotion vector of a record whose content is in stored form; None for one without emotions."""
    felt = content.get("emotion_vector")
    return emotion_trace(orjson.loads(felt), f"{memory_id} {version}") if felt else None


def tag_names(tags: Any, buckets: Any) -> list[str]:
    """Names of the tag nodes: `#tag` and `@bucket`, without repeats.

    Without the spaces at their ends: the engine crashes on those in a unique value.
    """
    names = (*(f"#{tag.strip()}" for tag in tags or ()), *(f"@{bucket.strip()}" for bucket in buckets or ()))
    return list(dict.fromkeys(names))


def stored_tag_names(content: Mapping[str, Any]) -> list[str]:
    """The same of a content in stored form."""
    tags, buckets = (orjson.loads(content.get(column) or "[]") for column in ("tags", "buckets"))
    return tag_names(tags, buckets)


def link_row(command: Relate, ids: tuple[str, str], now: Instant) -> dict[str, Any]:
    """The stored form of a new link. `ids`: of the link and of the command."""
    said = command.model_dump(exclude={"command", "command_id", "level", "citizen_id"})
    return {
        **stored(said, LINK_COLUMNS + LINK_UPKEEP),
        "id": ids[0],
        "handle": handle(ids[0]) if command.id else None,
        "source_id": command.source_id,
        "target_id": command.target_id,
        "command_id": ids[1],
        "key_id": command.writer.key_id,
        "author": command.writer.author,
        "fingerprint": fingerprint(command),
        "emotion_vector": orjson.dumps(command.emotion_vector).decode(),
        "valid_at": instant(command.valid_at, now),
        "invalid_at": instant(command.invalid_at, END_OF_TIME),
        "created_at": now,
        "expired_at": END_OF_TIME,
    }


def parts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows as parts of one command: none has a receipt of its own."""
    return [{**row, "receipt": None, "again": False, "warnings": None, "nth": 0} for row in rows]


_OF_ONE_CHANGE = frozenset(("correction_pattern_id", "discovery_energy"))
"""What tells of one change of a memory, and not of the next."""

_NOT_CONTENT = frozenset(
    (
        "command", "command_id", "level", "citizen_id", "id", "expected_version",
        "effective_at", "valid_from", "valid_to", "valid_at", "invalid_at",
    )
)  # fmt: skip


def revised_fields(command: Revision, content: Mapping[str, Any]) -> dict[str, Any]:
    """What a revision changes of a content, in stored form; None clears."""
    changed = _said(command)
    still = [name for name in content.get("unset", "").split(",") if name not in command.model_fields_set]
    over = {name: None for name in _OF_ONE_CHANGE if name in content}
    return {**over, **changed, **({"unset": ",".join(still) or None} if "unset" in content else {})}


def revised_link_fields(command: LinkRevision) -> dict[str, Any]:
    """What a revision changes of a link's metadata, in stored form; None clears."""
    return _said(command)


def names_portion(command: ChangeCommand) -> bool:
    """Whether the command names the stretch of valid time on which it acts."""
    return isinstance(command, StretchCommand) and not (command.valid_from is command.valid_to is None)


def portion(command: ChangeCommand, now: Instant) -> Period:
    """The stretch that the command names: from `valid_from`, `effective_at` or now to `valid_to` or the end."""
    begins = getattr(command, "valid_from", None) or getattr(command, "effective_at", None)
    return Period(instant(begins, now), instant(getattr(command, "valid_to", None), END_OF_TIME))


def corrects_period(command: ChangeCommand) -> bool:
    """Whether a correction is one of the valid time itself."""
    return bool({"valid_at", "invalid_at"} & command.model_fields_set)


def corrected_period(command: Correct | CorrectLink, valid: Period) -> Period:
    """The valid time as the command corrects it; what it leaves out stays."""
    said = command.model_fields_set
    return Period(
        instant(command.valid_at, valid.start) if "valid_at" in said else valid.start,
        instant(command.invalid_at, END_OF_TIME) if "invalid_at" in said else valid.end,
    )


def _said(command: Revision | LinkRevision) -> dict[str, Any]:
    whose = {"source": command.source, "author": command.writer.author}
    said = {**command.model_dump(exclude_unset=True, exclude=set(_NOT_CONTENT)), **whose}
    changed: dict[str, Any] = stored(said, tuple(said))
    if command.emotion_vector is not None:
        changed["emotion_vector"] = orjson.dumps(command.emotion_vector).decode()
    return changed
