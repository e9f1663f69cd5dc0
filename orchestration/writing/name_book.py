"""Decides which names in some texts become memories, and which texts mention them. Pure.

A name becomes a memory when its text says what it names, or when it is used twice. A name of the graph is
reused, also by an alias. Two names are one person only when one is a part of the other, and no other person could
be meant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from rapidfuzz import fuzz

from orchestration.appraisal.deeds import Deed, End, read_deeds
from orchestration.appraisal.names import (
    Kind,
    KnownNames,
    Mention,
    first_names,
    may_be_lower,
    name_forms,
    name_language,
    of_all,
    read_aliases,
    read_names,
)
from orchestration.identifiers import identifier, person_id
from orchestration.question.reading import ROLES
from substrate.language.languages import DEFAULT_LANGUAGE, Language
from substrate.language.text import name_key, stop_words

USES: Final = 2
"""A name with a capital as its only sign is used so often before it becomes a memory."""
SAME_SPELLING: Final = 88.0
"""Percent of likeness from which a name that is no common one is a misspelling of a known person's."""
FEWEST_LETTERS: Final = 3
MOST_ALIKE: Final = 1000
"""Among more names with one initial a nickname or a misspelt name is nobody's."""
_FUZZY_LETTERS: Final = 6
MOST_NAMES: Final = 200
"""A text with more different names is a list: at most this many of them are read and linked."""


class NamedText(NamedTuple):
    """A text that may name something: the id of its memory, and the time at which that holds, if known."""

    memory_id: str
    text: str
    time: datetime | None = None


@dataclass(slots=True)
class NamedEntry:
    """Something that has a name: a memory of the graph, or one to be made (`made`).

    `is_guess`: a text was all that said what it is, so another text may say better.
    `since`: the earliest time at which a text mentions it. `new_aliases`: names to add to those of the graph.
    """

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    made: bool = False
    is_guess: bool = False
    since: datetime | None = None
    new_aliases: tuple[str, ...] = ()

    def note_time(self, time: datetime | None) -> None:
        """A text of this time mentions it."""
        if time is not None and (self.since is None or time < self.since):
            self.since = time

    def forms(self) -> list[str]:
        """The name and the aliases in the form in which names are compared."""
        return [key for key in map(name_key, (self.name, *self.aliases, *self.new_aliases)) if key]


@dataclass(slots=True)
class _Sightings:
    """All that some texts say of one name."""

    names: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    likely: Counter[str] = field(default_factory=Counter)
    shorts: set[str] = field(default_factory=set)
    uses: int = 0

    def add(self, mention: Mention) -> None:
        self.uses += 1
        self.names[mention.name] += 1
        (self.likely if mention.weak else self.told)[mention.kind] += 1
        if mention.short:
            self.shorts.add(mention.short)

    def kind(self) -> str:
        """The kind that most texts tell, else the one that most suggest; `Entity` when none does."""
        if self.told:
            return self.told.most_common(1)[0][0]
        suggested = Counter({kind: uses for kind, uses in self.likely.items() if kind != Kind.ENTITY})
        return suggested.most_common(1)[0][0] if suggested else Kind.ENTITY.value


class NameBook:
    """The names of some texts and of a graph, and where they stand."""

    def __init__(self, texts: Sequence[NamedText], known: Sequence[NamedEntry]) -> None:
        self.entries: dict[str, NamedEntry] = {entry.id: entry for entry in known}
        self._forms: dict[str, str] = {}
        self._shared: set[str] = set()
        self._near: defaultdict[str, set[str]] = defaultdict(set)  # ids by first and last word, and by initial
        for entry in known:
            self._add_forms(entry)
        languages = Counter(name_language(text.text) for text in texts)
        self.language = languages.most_common(1)[0][0] if languages else DEFAULT_LANGUAGE
        self._decide(self._see(texts))
        self._lower = {
            key
            for key, entry_id in self._forms.items()
            if self.entries[entry_id].kind == Kind.PERSON and may_be_lower(key, self.language)
        }
        self._names = KnownNames.of(self._forms, self._lower)
        self._read: dict[NamedText, list[NamedEntry]] = {}
        for text in texts:
            self._read[text] = self.mentions(text)

    def _add_forms(self, entry: NamedEntry) -> None:
        for key in entry.forms():
            for near in (*key.split(), key[0]):
                self._near[near].add(entry.id)
            other = self.entries[self._forms.setdefault(key, entry.id)]
            if other.id == entry.id:
                continue
            if other.is_guess and not entry.is_guess:
                self._forms[key] = entry.id
            elif other.is_guess == entry.is_guess and entry.kind == other.kind:
                self._shared.add(key)

    def _see(self, texts: Sequence[NamedText]) -> dict[str, _Sightings]:
        seen: defaultdict[str, _Sightings] = defaultdict(_Sightings)
        self._pairs: list[tuple[str, str]] = []
        for text in texts:
            language = name_language(text.text, self.language)
            self._pairs += read_aliases(text.text, language)
            own: set[str] = set()
            for mention in read_names(text.text, language):
                key = name_key(mention.name)
                if key and key not in ROLES and key not in stop_words() and (key in own or len(own) < MOST_NAMES):
                    own.add(key)
                    seen[key].add(mention)
        return seen

    def _decide(self, seen: Mapping[str, _Sightings]) -> None:
        """Enter the names that become memories: those of several words first, so that a part can join them."""
        accepted = {key: sightings for key, sightings in seen.items() if sightings.told or sightings.uses >= USES}
        aliases = {name_key(alias): name_key(name) for name, alias in self._pairs}
        for key in sorted(accepted, key=lambda key: (key in aliases, -key.count(" "))):
            self._enter(key, accepted[key], aliases.get(key))

    def _enter(self, key: str, sightings: _Sightings, alias_of: str | None) -> None:
        if key in self._forms:
            entry = self.entries[self._forms[key]]
            if entry.is_guess and entry.kind == Kind.ENTITY and sightings.told:
                entry.kind = sightings.kind()
            return
        name, kind = sightings.names.most_common(1)[0][0], sightings.kind()
        owner = self._forms.get(alias_of or "") or self._same_person(key, kind, sightings)
        if owner is not None:
            entry = self.entries[owner]
            entry.new_aliases = (*entry.new_aliases, name)
            self._add_forms(entry)
            return
        entry = NamedEntry(entity_id(name, kind), name, kind, tuple(sorted(sightings.shorts)), made=True)
        if entry.id in self.entries:
            self._forms.setdefault(key, entry.id)
            return
        self.entries[entry.id] = entry
        self._add_forms(entry)

    def _same_person(self, key: str, kind: str, sightings: _Sightings) -> str | None:
        """The id of the one person whose name has this one as a part or the other way round, or misspelt."""
        if kind not in (Kind.PERSON, Kind.ENTITY):
            return None
        ends = {key.split()[0], key.split()[-1]} & self._forms.keys() - self._shared
        near = {self._forms[end] for end in ends} if " " in key else self._near[key]
        fits = self._people(near, lambda other: _is_part(key, other, kind)) if near else []
        alike = self._near[key[0]]
        if not fits and (not sightings.told or kind == Kind.ENTITY) and 0 < len(alike) <= MOST_ALIKE:
            fits = self._people(alike, lambda other: _is_nickname(key, other))
        return fits[0].id if len(fits) == 1 else None

    def _people(self, ids: Iterable[str], fits: Callable[[str], bool]) -> list[NamedEntry]:
        """The people among these of whom a name fits."""
        people = (entry for entry in map(self.entries.__getitem__, ids) if entry.kind == Kind.PERSON)
        return [entry for entry in people if any(map(fits, entry.forms()))]

    def mentions(self, text: NamedText) -> list[NamedEntry]:
        """What a text mentions, each once, in the order of the text."""
        if text in self._read:
            return self._read[text]
        found = dict.fromkeys(
            self._forms[key] for key in name_forms(text.text, self._names) if key not in self._shared
        )
        entries = [self.entries[entry_id] for entry_id in found if entry_id != text.memory_id][:MOST_NAMES]
        for entry in entries:
            entry.note_time(text.time)
        return entries

    def deeds(self, text: NamedText, about: Sequence[str], writer: End, types: Sequence[str]) -> list[Deed]:
        """What a text tells that one did to another, of what it mentions and what is given as what it is `about`.
        `writer`, `types`: as in `read_deeds`.
        """
        names: dict[str, End] = {}
        for entry in (*self.mentions(text), *map(self.find, about)):
            names |= dict.fromkeys(set(entry.forms()) - self._shared, End(entry.id, entry.kind))
        code = name_language(text.text, self.language)
        return read_deeds(text.text, names, writer, Language.of(code), types=types) if names else []

    def get(self, name: str) -> NamedEntry | None:
        """What a name stands for; None for an unknown one, or one that several have."""
        key = name_key(name)
        return self.entries[self._forms[key]] if key in self._forms and key not in self._shared else None

    def find(self, name: str) -> NamedEntry:
        """What a name that was given names: something known, or something to be made."""
        known = self.get(name)
        if known is not None:
            return known
        key = name_key(name)
        first = key.split()[0] if key else ""
        person = first in first_names(self.language)
        told = Kind.PERSON.value if person else Kind.ENTITY.value
        entry = NamedEntry(entity_id(name, told), name, told, made=True)
        entry = self.entries.setdefault(entry.id, entry)
        self._add_forms(entry)
        return entry


def _is_part(key: str, other: str, kind: str) -> bool:
    """True when one name is the first or last word of the other: "Tom" of "Tom Baker"."""
    if kind != Kind.PERSON or (" " in key) == (" " in other):
        return False
    one, whole = (key, other.split()) if " " in other else (other, key.split())
    return one in (whole[0], whole[-1])


def _is_nickname(key: str, other: str) -> bool:
    """True for the beginning of a first name ("Mel" of "Melanie"), or a misspelt one: no name of its own."""
    if " " in key or len(key) < FEWEST_LETTERS or key in of_all("first_names"):
        return False
    first = other.split()[0]
    if first != key and first.startswith(key):
        return True
    long_enough = min(len(key), len(first)) >= _FUZZY_LETTERS and key[0] == first[0]
    return long_enough and fuzz.ratio(key, first) >= SAME_SPELLING


def entity_id(name: str, kind: str) -> str:
    """The id of something by its name: people have the same id as when they speak."""
    if kind == Kind.PERSON:
        return person_id(name)
    key = name_key(name).replace(" ", "_")
    return identifier(f"{kind.lower()}:{key or name}")
