"""What a graph knows of a query: how common its words are, and whom it names (003, task 3). Pure.

Lexical: every memory that carries a name is a candidate when a word of its name sounds like a word of the
query; it is named when the whole name (or an alias) stands in the query, spelling mistakes allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from rapidfuzz import fuzz

from orchestration.identifiers import person_ids
from orchestration.question.reading import ROLES
from substrate.cypher.search import NAMED
from substrate.text import STOP_WORDS, name_key

MAX_ENTITIES = NAMED
_ALIKE = 85.0
"""Percent of likeness from which two spellings are one name; names under five letters must be exact."""
_EXACT_LENGTH = 5
_TWO_EDITS_LENGTH = 9
_PHRASE = 5
_MAX_SAID = 40
_MANY = 10**9


@dataclass(frozen=True, slots=True)
class Entity:
    """A memory that the query names; `speaks` says that it is somebody whose words were ingested."""

    id: str
    name: str
    speaks: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What one graph knows of a query: its size, how many memories hold each word, whom it names.

    `late`: the graph was asked in vain.
    `left_out`: what the query names beyond the `MAX_ENTITIES` that are starts.
    """

    memories: int = 0
    traces: int = 0
    past_traces: int = 0
    frequencies: Mapping[str, int] | None = None
    entities: tuple[Entity, ...] = ()
    late: bool = False
    left_out: tuple[Entity, ...] = ()

    def with_named(self, named: Sequence[Entity]) -> Lexicon:
        """The lexicon of a query that names these: the first of them are starts."""
        return replace(self, entities=tuple(named[:MAX_ENTITIES]), left_out=tuple(named[MAX_ENTITIES:]))

    def named(self) -> tuple[Entity, ...]:
        """Every memory that the query names."""
        return (*self.entities, *self.left_out)

    def notes(self, level: str) -> list[str]:
        """What is to be said of this level: what was not to be had, and which names are no starts."""
        notes = [f"what {level} knows of the words was not to be had"] if self.late else []
        if self.left_out:
            told = ", ".join(entity.name for entity in self.left_out[:MAX_ENTITIES])
            more = len(self.left_out) - MAX_ENTITIES
            others = f" and {more} more" if more > 0 else ""
            first = (
                f"{level}: the question names {len(self.named())} memories, the first {MAX_ENTITIES} are starts"
            )
            notes.append(f"{first}; not {told}{others}")
        return notes

    def speakers(self) -> tuple[str, ...]:
        """Names of those whom the query names and who speak."""
        return tuple(entity.name for entity in self.entities if entity.speaks)

    @classmethod
    def unknown(cls, words: Sequence[str]) -> Lexicon:
        """A lexicon that was not to be had: every word may be held, every graph may be large."""
        return cls(1, _MANY, _MANY, dict.fromkeys(words, 1), (), late=True)


def holding(words: Sequence[str]) -> list[str]:
    """For each word the full-text query for names that hold it."""
    return [f"@entity_names:{word}" for word in words]


def sounding(words: Sequence[str]) -> list[str]:
    """For each longer word the full-text query for names that sound like it."""
    edits = {word: "%%" if len(word) >= _TWO_EDITS_LENGTH else "%" for word in words if len(word) >= _EXACT_LENGTH}
    return [f"@entity_names:{edit}{word}{edit}" for word, edit in edits.items()]


def phrases(query_text: str) -> list[str]:
    """Every run of up to `_PHRASE` words of the query, in comparable form: a name may be any of them."""
    said = name_key(query_text).split()[:_MAX_SAID]
    runs = (" ".join(said[start : start + size]) for size in range(1, _PHRASE + 1) for start in range(len(said)))
    return [run for run in dict.fromkeys(runs) if run not in STOP_WORDS]


class Said:
    """A query as runs of words, against which names are held."""

    def __init__(self, query_text: str) -> None:
        self._words = name_key(query_text).split()[:_MAX_SAID]
        self._runs: dict[int, list[str]] = {}

    def runs(self, size: int) -> list[str]:
        """Every run of `size` words."""
        if size not in self._runs:
            starts = range(len(self._words) - size + 1)
            self._runs[size] = [" ".join(self._words[start : start + size]) for start in starts]
        return self._runs[size]

    def says(self, name: str) -> bool:
        """Whether the name stands in the query to the letter."""
        sought = name_key(name)
        return sought in self.runs(sought.count(" ") + 1)

    def names(self, name: str) -> bool:
        """Whether the query names `name`, as a whole and up to spelling."""
        sought = name_key(name)
        if not sought or sought in STOP_WORDS:
            return False
        runs = self.runs(sought.count(" ") + 1)
        if len(sought) < _EXACT_LENGTH:
            return sought in runs
        return any(run[0] == sought[0] and fuzz.ratio(run, sought) >= _ALIKE for run in runs)


def names_in(query_text: str, name: str) -> bool:
    """Whether the query names `name`, as a whole and up to spelling."""
    return Said(query_text).names(name)


def read_lexicon(rows: Sequence[Sequence[Any]], query_text: str) -> Lexicon:
    """The lexicon in the rows of the query `LEXICON_NOW` or `LEXICON_THEN`."""
    said = Said(query_text)
    sizes, records = (0, 0, 0), 0
    counted: dict[str, dict[str, int]] = {"word": {}, "was": {}}
    entities: dict[str, Entity] = {}
    for kind, key, amount, name, aliases, node_type in rows:
        if kind == "size":
            sizes, records = (amount or 0, name or 0, aliases or 0), node_type or 0
        elif kind in counted:
            counted[kind][key] = amount
        elif key not in entities and _is_named(said, name, aliases, node_type):
            entities[key] = Entity(key, name, speaks=key in person_ids(name))
    held = counted["word"]
    for word, count in counted["was"].items():
        held[word] = max(held.get(word, 0), holding_then(count, records, sizes[0]))
    return Lexicon(*sizes, held).with_named(_closest(said, entities.values()))


def holding_then(count: int, records: int, memories: int) -> int:
    """How many of the memories held a word at a moment of the past, when `count` of all past records hold it.

    At each moment a memory has one record of the many that it leaves behind.
    """
    return math.ceil(count * memories / max(records, memories, 1))


def named_alike(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> tuple[Entity, ...]:
    """The memories in the rows of `read_lexicon` that best fit each of the names, up to spelling and word order.

    Whoever chose the names may have put the type of a memory in front: `person_Luca` is Luca.
    """
    fits: dict[str, dict[Entity, float]] = {name: {} for name in names}
    for kind, key, _, name, aliases, node_type in rows:
        if kind != "name":
            continue
        forms = [_bare(form, node_type) for form in (name, *(orjson.loads(aliases) if aliases else ()))]
        for sought, found in fits.items():
            likeness = max(_likeness(_bare(sought, node_type), form) for form in forms)
            if likeness >= _ALIKE:
                found[Entity(key, name)] = likeness
    best = (entity for found in fits.values() for entity in found if found[entity] == max(found.values()))
    return tuple(dict.fromkeys(best))


def called(rows: Sequence[Sequence[Any]], name: str, node_type: str) -> str | None:
    """The id of the memory in the rows with this very type and, in comparable form, this very name or alias."""
    sought = _bare(name, node_type)
    for kind, key, _, own, aliases, of_type in rows:
        if kind == "name" and of_type.lower() == node_type.lower():
            forms = (own, *(orjson.loads(aliases) if aliases else ()))
            if sought in {_bare(form, of_type) for form in forms}:
                return str(key)
    return None


def _bare(name: str, node_type: str) -> str:
    return name_key(name).removeprefix(f"{node_type.lower()} ")


def _likeness(name: str, other: str) -> float:
    """Percent of likeness, whatever the order of words; a short name must be exact."""
    if not name or not other or min(len(name), len(other)) < _EXACT_LENGTH:
        return 100.0 if name == other != "" else 0.0
    return fuzz.token_sort_ratio(name, other)


def _closest(said: Said, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """The entities without those that only sound like one which the query names to the letter."""
    known = list(entities)
    exact = [name_key(entity.name) for entity in known if said.says(entity.name)]
    kept = [
        entity
        for entity in known
        if said.says(entity.name) or all(fuzz.ratio(name_key(entity.name), other) < _ALIKE for other in exact)
    ]
    return tuple(kept)


def _is_named(said: Said, name: str, aliases: str | None, node_type: str) -> bool:
    bare = _bare(name, node_type)
    if bare in ROLES:
        return False
    others = orjson.loads(aliases) if aliases else ()
    return any(said.names(candidate) for candidate in (bare, *others))
