"""Finds texts without content, essays in place of emotions, contents that occur twice, bare metadata. Pure."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import numpy as np

from orchestration.appraisal.feelings import read_emotions
from orchestration.validation import GivenMetadata, grade
from orchestration.writing.records import SPOKEN_TYPES
from schemas.memory import MetadataValidationReport, ValidationResult
from substrate.language.text import normal_text, words

MAX_EMOTION_CHARACTERS: Final = 40
MAX_EMOTION_WORDS: Final = 4
MIN_SPOKEN_WORDS: Final = 6
"""A turn with fewer words can be repeated without being a duplicate: `Yes, of course.`"""
NAMED_TYPES: Final = frozenset(
    ("Person", "Concept", "Entity", "Place", "Organization", "Project", "Topic", "Tool", "Tag", "Session",
     "Document")
)  # fmt: skip
"""Types whose memories are things: a name alone is enough for them."""
PLACEHOLDERS: Final = frozenset(("none", "null", "undefined", "nan", "n/a", "nil", "[object object]", "{}", "[]"))
EMPTY: Final = "it says nothing: no text, or a placeholder such as None"
EMPTY_BESIDE_NAME: Final = "its description is a placeholder such as None"
ONE_WORD: Final = "it is one word, with no description, that nothing explains"


class MemoryTexts(NamedTuple):
    """The texts of a memory, and its type."""

    name: str
    description: str
    speaker: str | None
    node_type: str


def _is_blank(text: str) -> bool:
    return not any(char.isprintable() and not char.isspace() for char in text)


def _is_placeholder(text: str) -> bool:
    """True when the text is what a program writes for a missing value, such as `None`."""
    return text.strip().lower() in PLACEHOLDERS


def junk_reason(texts: MemoryTexts, *, linked: bool) -> str | None:
    """Return the reason why a memory has no content; None when it has some (002, known problem 3)."""
    if texts.speaker or texts.node_type in SPOKEN_TYPES:
        spoken = texts.description if texts.speaker else texts.description or texts.name
        return EMPTY if _is_blank(spoken) or _is_placeholder(spoken) else None
    nameless = _is_blank(texts.name) or _is_placeholder(texts.name)
    if _is_blank(texts.description) or (nameless and _is_placeholder(texts.description)):
        named = texts.node_type in NAMED_TYPES or (linked and texts.node_type != "Memory")
        only_name = None if named or len(words(texts.name)) != 1 else ONE_WORD
        return EMPTY if nameless else only_name
    return EMPTY_BESIDE_NAME if _is_placeholder(texts.description) else None


class ShortenedEmotions(NamedTuple):
    """An emotion map with short names, the essays that were its names, and the message of the finding."""

    emotions: dict[str, float]
    essays: tuple[str, ...]
    message: str


def is_essay(name: str) -> bool:
    """True when the name of an emotion is a whole text: over 40 characters or over 4 words."""
    return len(name) > MAX_EMOTION_CHARACTERS or len(name.split()) > MAX_EMOTION_WORDS


def shorten_emotions(felt: Any) -> ShortenedEmotions | None:
    """Replace each essay in a map by the emotions that it names; None for a map without an essay."""
    if not isinstance(felt, Mapping):
        return None
    essays = tuple(name for name in felt if is_essay(name))
    if not essays:
        return None
    short = {name: float(intensity) for name, intensity in felt.items() if name not in essays}
    for essay in essays:
        for name in read_emotions(essay):
            short[name] = max(short.get(name, 0.0), float(felt[essay]))
    named = f"it names {', '.join(sorted(short))}" if short else "no emotion is named in it"
    return ShortenedEmotions(short, essays, f"an emotion is a text of {len(essays[0])} characters; {named}")


def append_essays(text: str | None, essays: Sequence[str], limit: int) -> str:
    """Return the text followed by the essays, cut to `limit` characters."""
    return "; ".join((*([text] if text else ()), *essays))[:limit]


def content_key(texts: MemoryTexts) -> str | None:
    """Return the normal form of a memory's content; None for a turn too short to be a duplicate.

    Without a description the type counts too: a person and a tool may have the same name.
    """
    text = _plain(texts.description)
    spoken = bool(texts.speaker) or texts.node_type in SPOKEN_TYPES
    if spoken and len(text.split()) < MIN_SPOKEN_WORDS:
        return None
    kind = "" if text else texts.node_type
    return f"{_plain(texts.name)}\n{text}\n{_plain(texts.speaker or '')}\n{kind}"


def _plain(text: str) -> str:
    return " ".join((text.lower() if text.isascii() else normal_text(text)).split())


def short_digest(key: str) -> int:
    """Return a digest of 63 bits, for `Digests`."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) >> 1


def repair_command_id(reason: str, memory_id: str, version: int) -> str:
    """Return the id of a repairing command; the same repair of the same record is applied only once."""
    seen = blake2b(f"{memory_id}\n{version}".encode(), digest_size=8).hexdigest()
    return f"repair-{reason}-{seen}"


def long_digest(key: str) -> bytes:
    """Return a digest of 128 bits: equal digests mean equal contents."""
    return blake2b(key.encode(), digest_size=16).digest()


class Digests:
    """The content digests of a graph, in sixteen bytes per memory, to find memories that may be duplicates.

    Memories with equal short digests must be read again and compared as a whole.
    """

    def __init__(self) -> None:
        self._digests = array("q")
        self._internal_ids = array("q")

    def add(self, digest: int, internal_id: int) -> None:
        self._digests.append(digest)
        self._internal_ids.append(internal_id)

    def repeated(self) -> Iterator[list[int]]:
        """Yield groups of internal ids of memories with the same digest."""
        digests = np.frombuffer(self._digests, dtype=np.int64) if self._digests else np.zeros(0, np.int64)
        order = np.argsort(digests, kind="stable")
        ends = np.flatnonzero(np.diff(digests[order])) + 1
        for group in np.split(order, ends):
            if len(group) > 1:
                yield [self._internal_ids[int(position)] for position in group]


_PRESENT, _FAULTY, _WARNED = 1, 2, 4


class MetadataQuality:
    """Collects the quality of each memory's metadata, and at most `listed` ids of faulty memories."""

    def __init__(self, listed: int) -> None:
        self.important_missing: Counter[str] = Counter()
        self.inferred: Counter[str] = Counter()
        self._listed = listed
        self._faulty: dict[str, None] = {}
        self._flags = bytearray()
        self._own = array("d")
        self._sums = array("d")
        self._links = array("i")

    def add_memory(self, internal_id: int, memory_id: str, own: ValidationResult, given: GivenMetadata) -> None:
        """Add a memory with the validation of its own metadata, and what was given of it."""
        self._make_room(internal_id)
        self._own[internal_id] = given.share
        self.inferred.update(given.inferred)
        self._rate(internal_id, memory_id, own)
        self._flags[internal_id] |= _PRESENT

    def add_link(self, ends: dict[int, str], result: ValidationResult, given: GivenMetadata) -> None:
        """Add a link with its validation and what was given; `ends` has the id of each end by its internal id."""
        self.inferred.update(given.inferred)
        for warning in result.warnings:
            self.important_missing[warning.partition(": ")[2].partition(".")[0]] += 1
        for internal_id, memory_id in ends.items():
            self._make_room(internal_id)
            self._sums[internal_id] += given.share
            self._links[internal_id] += given.share > 0
            self._rate(internal_id, memory_id, result)

    def _rate(self, internal_id: int, memory_id: str, result: ValidationResult) -> None:
        if not result.valid:
            self._flags[internal_id] |= _FAULTY
            if len(self._faulty) < self._listed:
                self._faulty[memory_id] = None
        if result.warnings:
            self._flags[internal_id] |= _WARNED

    def _make_room(self, internal_id: int) -> None:
        missing = internal_id + 1 - len(self._flags)
        if missing > 0:
            more = max(missing, len(self._flags))
            self._flags.extend(bytes(more))
            for numbers in (self._own, self._sums, self._links):
                numbers.frombytes(bytes(more * numbers.itemsize))

    def report(self) -> MetadataValidationReport:
        """Return the report; without memories it has zeros and the grade of zero completeness."""
        flags = np.frombuffer(self._flags, dtype=np.uint8)
        present = (flags & _PRESENT) > 0
        total = int(present.sum())
        if not total:
            return MetadataValidationReport()
        links = np.frombuffer(self._links, dtype=np.int32)[present]
        sums, own = np.frombuffer(self._sums)[present], np.frombuffer(self._own)[present]
        shares = np.where(links > 0, sums / np.maximum(links, 1), own)
        graded = shares[shares > 0]
        average = min(1.0, float(graded.mean())) if len(graded) else 0.0
        faulty = int(((flags[present] & _FAULTY) > 0).sum())
        return MetadataValidationReport(
            total_memories=total,
            fully_valid_memories=total - faulty,
            memories_with_warnings=int(((flags[present] & _WARNED) > 0).sum()),
            memories_with_errors=faulty,
            average_completeness=average,
            incomplete_memory_ids=tuple(self._faulty),
            quality_grade=grade(average, faulty / total),
            graded_memories=len(graded),
            inferred_fields=dict(self.inferred),
        )
