"""What a graph knows of a query: how common its words are, and whom it names (003, task 3). Pure.

Lexical: every memory that carries a name is a candidate when a word of its name sounds like a word of the
query; it is named when the whole name (or an alias) stands in the query, spelling mistakes allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from rapidfuzz import fuzz

from substrate.text import STOP_WORDS, name_key

MAX_ENTITIES = 8
_ALIKE = 85.0
"""Percent of likeness from which two spellings are one name; names under five letters must be exact."""
_EXACT_LENGTH = 5
_TWO_EDITS_LENGTH = 9
_PHRASE = 5
_MAX_SAID = 40


@dataclass(frozen=True, slots=True)
class Entity:
    """A memory that the query names."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What one graph knows of a query: its size, how many memories hold each word, whom it names."""

    memories: int = 0
    traces: int = 0
    past_traces: int = 0
    frequencies: dict[str, int] | None = None
    entities: tuple[Entity, ...] = ()


def sounds(words: Sequence[str]) -> list[str]:
    """For each word the full-text query for names that hold it or, for a longer one, sound like it."""
    terms = []
    for word in words:
        if len(word) >= _TWO_EDITS_LENGTH:
            terms.append(f"@entity_names:%%{word}%%")
        elif len(word) >= _EXACT_LENGTH:
            terms.append(f"@entity_names:%{word}%")
        else:
            terms.append(f"@entity_names:{word}")
    return terms


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
    """The lexicon in the rows of the query `LEXICON`."""
    said = Said(query_text)
    sizes = (0, 0, 0)
    frequencies: dict[str, int] = {}
    entities: dict[str, Entity] = {}
    for kind, key, amount, name, aliases, node_type in rows:
        if kind == "size":
            sizes = (amount or 0, name or 0, aliases or 0)
        elif kind == "word":
            frequencies[key] = amount
        elif key not in entities and _is_named(said, name, aliases, node_type):
            entities[key] = Entity(key, name)
    return Lexicon(*sizes, frequencies, tuple(entities.values())[:MAX_ENTITIES])


def _is_named(said: Said, name: str, aliases: str | None, node_type: str) -> bool:
    bare = name_key(name).removeprefix(f"{node_type.lower()} ")
    others = orjson.loads(aliases) if aliases else ()
    return any(said.names(candidate) for candidate in (bare, *others))
