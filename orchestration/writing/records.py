"""Turns the content of commands into stored form: fingerprints, properties for search, changed fields. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from orchestration.writing.passages import LONG, text_digest, trim_runaway
from schemas.commands import Command, LinkRevision, Revision, Writer
from schemas.memory import GENERALISATION, GENERALISED_KEY
from schemas.temporal import Instant, to_instant
from substrate.emotions import emotion_trace, normal_emotions
from substrate.language.text import indexed_words, name_key, search_text, stop_words, words
from substrate.store.rows import stored

SPOKEN_TYPES = frozenset(("Turn", "Session", GENERALISATION))
"""Memories whose name is a position in a conversation, or made of other names; nobody names them in a question."""

TITLED_TYPES = frozenset(("Document", "Note"))
"""Memories whose name is a title, also where it is known who wrote them."""

FEWEST_WORDS = 5
"""Shorter texts do not count as repeated: people write "Thanks!" more than once and mean it each time."""


def fingerprint(command: Command) -> int:
    """A number below 2**53 that is equal for commands of equal content, whatever their command ids."""
    fields = command.model_dump(mode="json", exclude_unset=True, exclude={"command_id"})
    fields["command"] = getattr(command, "command", "")
    digest = blake2b(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
    return int.from_bytes(digest) >> 11


class TrimmedCommand(NamedTuple):
    """A command without what a runaway model left at the end of its text; `note` says what was cut."""

    command: Command
    note: str | None = None


def trim_command(command: Command) -> TrimmedCommand:
    """The command with its text as it is stored."""
    text = getattr(command, "description", None)
    trimmed = trim_runaway(text) if isinstance(text, str) else None
    if trimmed is None or trimmed.note is None:
        return TrimmedCommand(command)
    return TrimmedCommand(command.model_copy(update={"description": trimmed.text}), trimmed.note)


def instant(moment: Any, otherwise: Instant) -> Instant:
    """The instant of a datetime, or `otherwise` when there is none."""
    return otherwise if moment is None else to_instant(moment)


def embedded_text(content: Mapping[str, Any]) -> str:
    """The text to embed: `speaker: text` for what somebody said, `name. text` for other memories.

    Of a long text it is the beginning: no model reads all of it at once, and some refuse it.
    """
    text = (content.get("description") or "")[:LONG]
    return f"{content['speaker']}: {text}" if _is_said(content) else f"{content['name']}. {text}".strip()


def search_properties(content: Mapping[str, Any], emotions: Mapping[str, float] | None) -> dict[str, Any]:
    """The properties stored only for search: text in normal form, names, emotion names, length in words, and for a
    long text the number by which its passages are found."""
    labels = " ".join(words(_goal_and_labels(content)))
    normal = search_text(content["name"], content.get("description") or "")
    bare = names = None
    if content["node_type"] not in SPOKEN_TYPES:  # `person_Luca` of a Person is compared as `luca`
        bare = name_key(content["name"]).removeprefix(f"{content['node_type'].lower()} ") or None
        named = (content["name"], *_read_list(content.get("aliases")))
        names = " ".join(dict.fromkeys(" ".join(indexed_words(name_key(name))) for name in named)) or None
    text_key: int | None = GENERALISED_KEY  # what was made of other texts repeats none
    if content["node_type"] != GENERALISATION:
        text_key = words_key(" ".join(words(content.get("description") or content["name"])))
    return {
        "search_text": " ".join(part for part in (normal, labels) if part) or None,
        "name_key": bare,
        "entity_names": names,
        "emotions": sorted(normal_emotions(emotions)) if emotions else None,
        "terms": count_terms(content),
        "passages": text_digest(content.get("description")),
        "text_key": text_key,
    }


def words_key(text: str) -> int | None:
    """A hash below 2**53 by which a text in normal form is looked up; None for fewer than `FEWEST_WORDS` words."""
    if text.count(" ") < FEWEST_WORDS - 1:
        return None
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) >> 11


def count_terms(content: Mapping[str, Any]) -> int:
    """The length of a memory for BM25: its indexed words without stop words."""
    return sum(word not in stop_words() for word in words(indexed_text(content)))


def indexed_text(content: Mapping[str, Any]) -> str:
    """The text that word search reads: name and aliases (not of what was said), text, goal, tags, buckets."""
    names = () if _is_said(content) else (content["name"], *_read_list(content.get("aliases")))
    return " ".join((*names, content.get("description") or "", _goal_and_labels(content)))


def _is_said(content: Mapping[str, Any]) -> bool:
    """True for what somebody said: its name is no title, but a place in a conversation."""
    return bool(content.get("speaker")) and content.get("node_type") not in TITLED_TYPES


def _goal_and_labels(content: Mapping[str, Any]) -> str:
    labels = (*given_tags(content), *_read_list(content.get("buckets")))
    unset = content.get("unset") or ()
    goal = content.get("goal") or "" if "goal" not in unset else ""  # one that was read from the text repeats it
    return " ".join((goal, *labels)).replace("_", " ")


def given_tags(content: Mapping[str, Any]) -> Sequence[str]:
    """The tags that the writer gave, without those made at ingestion: these only repeat words of the text."""
    return () if "tags" in (content.get("unset") or ()) else _read_list(content.get("tags"))


def _read_list(names: Any) -> Sequence[str]:
    """A list of names, from JSON or as it is."""
    return orjson.loads(names) if isinstance(names, str) else names or ()


def felt_trace(content: Mapping[str, Any], memory_id: str, version: int) -> list[float] | None:
    """The emotion vector of a record, from its content in stored form; None without emotions."""
    felt = content.get("emotion_vector")
    return emotion_trace(orjson.loads(felt), f"{memory_id} {version}") if felt else None


def tag_names(tags: Any, buckets: Any) -> list[str]:
    """Names of the tag nodes, each once: `#tag` and `@bucket`.

    Spaces at their ends are removed: the engine crashes on those in a unique value.
    """
    names = (*(f"#{tag.strip()}" for tag in tags or ()), *(f"@{bucket.strip()}" for bucket in buckets or ()))
    return list(dict.fromkeys(names))


def stored_tag_names(content: Mapping[str, Any]) -> list[str]:
    """`tag_names` of a content in stored form."""
    tags, buckets = (orjson.loads(content.get(column) or "[]") for column in ("tags", "buckets"))
    return tag_names(tags, buckets)


_ONE_CHANGE_ONLY = frozenset(("correction_pattern_id", "discovery_energy"))
"""Fields that describe one change; the next revision clears them."""

_NOT_CONTENT = frozenset(
    (
        "command", "command_id", "level", "citizen_id", "collective", "id", "expected_version",
        "effective_at", "valid_from", "valid_to", "valid_at", "invalid_at",
    )
)  # fmt: skip


def revised_fields(command: Revision, content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a revision of a memory changes, in stored form; None clears a field."""
    changed: dict[str, Any] = {name: None for name in _ONE_CHANGE_ONLY if name in content}
    changed |= named_fields(command, content)
    return {**changed, **still_unset(content, command.model_fields_set)}


def kept_author(content: Mapping[str, Any], writer: Writer) -> str | None:
    """The author of a record after a change: the one it has, else the writer."""
    return content.get("author") or writer.author


def still_unset(content: Mapping[str, Any], given: Collection[str]) -> dict[str, Any]:
    """`unset` of a content without the fields that are given now; nothing when it had none of them."""
    names = (content.get("unset") or "").split(",")
    left = [name for name in names if name not in given]
    return {} if left == names else {"unset": ",".join(left) or None}


def named_fields(command: Revision | LinkRevision, content: Mapping[str, Any]) -> dict[str, Any]:
    """What a revision of this content names, its source and the author, in stored form; None clears a field."""
    named = command.model_dump(exclude_unset=True, exclude=set(_NOT_CONTENT))
    fields = {**named, "source": command.source, "author": kept_author(content, command.writer)}
    if command.copy_of is not None:
        fields["shared_from"] = command.copy_of
    changed: dict[str, Any] = stored(fields, tuple(fields))
    if command.emotion_vector is not None:
        changed["emotion_vector"] = orjson.dumps(command.emotion_vector).decode()
    return changed
