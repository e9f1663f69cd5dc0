"""Reads who did what to whom in plain words: "Ingrid praised Tom, but criticised Lena" (000, 002). Pure.

Only what is told as done is read, between two names or the writer: nothing that is denied, asked, supposed,
wished, guessed or dreamt. The verbs of each language stand in `[deeds]` of its file; a graph adds its own types.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.context import asked_from
from orchestration.appraisal.languages import CODES, Entry, Language
from orchestration.appraisal.languages import language as language_with
from orchestration.appraisal.name_data import language_of
from orchestration.appraisal.names import MOST_WORDS, Kind
from orchestration.appraisal.speech import Hit, Sentence, sentences
from substrate.text import STOP_WORDS, name_key, stem

TOLD: Final = 0.8
HEARD: Final = 0.5
"""How sure a deed is that the writer tells, and one that somebody told the writer."""
_SIGHT: Final = 3
"""So many words after a verb "by" may follow."""
_PEOPLE: Final = frozenset((Kind.PERSON.value, "Self"))


class End(NamedTuple):
    """Who or what a deed joins: its id and its kind."""

    id: str
    kind: str


class Deed(NamedTuple):
    """A deed by the ids of its ends; `confidence` in [0, 1]."""

    source: str
    relation_type: str
    target: str
    confidence: float


class _Named(NamedTuple):
    """An end at the tokens `[start, stop)`; `case` is `subject` for "I" and `object` for "me"."""

    start: int
    stop: int
    end: End
    case: str = ""


type _Ends = Sequence[_Named]
_NONE: Final[tuple[_Ends, _Ends]] = ((), ())


def read_deeds(
    text: str, names: Mapping[str, End], writer: End, types: Collection[str] = (), *, otherwise: str = CODES[0]
) -> list[Deed]:
    """What a text tells as done, each once, in its order. The time is linear in what is read of the text.

    `names`: what each name stands for, by its comparable form. `writer`: who "I" is. `types`: of links of the
    graph, read beside those of the language where the text has their words: "Ingrid mentors Tom" for `MENTORS`.
    `otherwise`: the language of a text that has no frequent word.
    """
    language = language_with(language_of(text, otherwise))
    verbs = {tuple(map(stem, name.lower().split("_"))): name for name in types}
    deeds: dict[tuple[str, str, str], Deed] = {}
    for sentence in sentences(text, language, language.deeds):
        if not language.words["jokes"].isdisjoint(token.text for token in sentence.tokens):
            return []
        for deed in _Reader(sentence, language, names, writer).deeds(verbs):
            deeds.setdefault(deed[:3], deed)
    return [deed for deed in deeds.values() if deed.source != deed.target]


class _Reader:
    """Reads one sentence from left to right. `subjects`: who did the last deed; `taken`: to whom one was done."""

    def __init__(self, sentence: Sentence, language: Language, names: Mapping[str, End], writer: End) -> None:
        self.sentence, self.language, self.words = sentence, language, language.words
        self.texts = [token.text for token in sentence.tokens]
        self.left_out = _Named(0, 0, writer, "subject")
        self.starts: dict[int, _Named] = {}
        self.stops: dict[int, _Named] = {}
        self.subjects: _Ends = ()
        self.taken: set[int] = set()
        place = 0
        while place < len(self.texts):
            found = self._end_at(place, names, writer)
            if found is not None:
                self.starts[found.start] = self.stops[found.stop] = found
            place = place + 1 if found is None else found.stop

    def _end_at(self, place: int, names: Mapping[str, End], writer: End) -> _Named | None:
        text = self.texts[place]
        if text in self.words["writers"]:
            return _Named(place, place + 1, writer, "object" if text in self.words["own_objects"] else "subject")
        most = min(MOST_WORDS, len(self.texts) - place) if self.sentence.tokens[place].shape else 0
        for size in range(most, 0, -1):
            key = name_key(" ".join(self.texts[place : place + size]))
            if key in names and key not in STOP_WORDS and self.texts[place + size - 1][-1].isalnum():
                return _Named(place, place + size, names[key])
        return None

    def deeds(self, verbs: Mapping[tuple[str, ...], str]) -> list[Deed]:
        """The deeds of the sentence. `verbs`: the types of the graph by the stems of their words."""
        deeds: list[Deed] = []
        if not self.starts:
            return deeds
        asked, words = asked_from(self.sentence, self.language), self.words
        doubtful = words["supposing"] | words["doubts"] | words["unreal"]
        read = self._in_order if self.language.names_have_capitals else self._in_clause
        for hit in self._hits(verbs):
            before = {*self.texts[: hit.start]}
            if hit.start >= asked or before & doubtful:
                continue
            sure = HEARD if before & words["heard"] else TOLD
            sources, targets = read(hit)
            for target in targets:
                if not (hit.entry.kind == "things" and target.end.kind in _PEOPLE):
                    deeds += [Deed(one.end.id, hit.entry.value, target.end.id, sure) for one in sources]
        return deeds

    def _hits(self, verbs: Mapping[tuple[str, ...], str]) -> list[Hit]:
        """The verbs of the sentence, from left to right."""
        hits = {hit.start: hit for hit in self.sentence.hits}
        stems = list(map(stem, self.texts)) if verbs else []
        for place in range(len(stems)):
            for verb, name in verbs.items():
                if tuple(stems[place : place + len(verb)]) == verb:
                    entry = Entry("own", name, 0, None, len(verb), frozenset())
                    hits.setdefault(place, Hit(entry, place, place + len(verb)))
        return sorted(hits.values(), key=lambda hit: hit.start)

    def _in_order(self, hit: Hit) -> tuple[_Ends, _Ends]:
        """Who did it and to whom, where the order of words says so: the doer stands before the verb."""
        words, place = self.words, hit.start
        while place > 0 and place not in self.stops and self._is_between(self.texts[place - 1]):
            place -= 1
        between, verb = {*self.texts[place : hit.start]}, self.texts[hit.start]
        before = self._before(place)
        if {*self.texts[:place]} <= words["polite"] | words["joins"] | {","} and not verb.endswith(("s", "ing")):
            before = [self.left_out]  # "asked Tom for help": the writer left out the "I"
        is_passive = not between.isdisjoint(words["passive"]) and not verb.endswith("ing")
        if is_passive or self.texts[hit.end : hit.end + 1] == ["by"]:
            self.subjects = before
            return self._agents(hit), before
        if not before or not self._is_done(hit, between, before[0]):
            return _NONE
        self.subjects = before
        return before, self._after(hit)

    def _is_between(self, text: str) -> bool:
        """Whether a word may stand between who does something and the verb, without a change of what it says."""
        words = self.words
        return text in words["between"] or (
            text.endswith("ly") and text not in words["doubts"] | words["negations"]
        )

    def _is_done(self, hit: Hit, between: set[str], doer: _Named) -> bool:
        """Whether the form of the verb tells a deed: "asked", "has been asking", "used to ask", not "to ask"."""
        words, verb = self.words, self.texts[hit.start]
        if verb.endswith("ing"):
            return not between.isdisjoint(words["going_on"])
        is_inflected = hit.entry.kind != "own" or verb.endswith(("s", "ed"))
        if is_inflected and verb not in words["bare"]:
            return "to" not in between
        is_own = doer.case == "subject" and doer.stop > 0 and "to" not in between
        return is_own or not between.isdisjoint(words["of_old"])

    def _before(self, place: int) -> _Ends:
        """Who stands before `place` as the one who does something."""
        words, text = self.words, self.texts[place - 1] if place else ""
        if text in words["who"]:
            return self._group(place - 2 if self.texts[place - 2] == "," else place - 1)
        if text == "," and "," in self.texts[: place - 1]:
            opening = max(at for at in range(place - 1) if self.texts[at] == ",")
            aside = self._group(opening)
            return aside if aside and self.sentence.begins_clause(self._led(aside[0].start)) else ()
        if text in words["joins"] | words["clause_breaks"]:
            return self._same_as_before(place - 1)
        group = self._group(place)
        led = self._led(group[0].start) if group else 0
        if led and self.texts[led - 1] in words["prepositions"] | words["turned_before"]:
            return ()
        return () if {*self.texts[max(0, led - 2) : led]} & words["negations"] else group

    def _same_as_before(self, place: int) -> _Ends:
        """Who did the last deed, or begins the sentence, when nobody else comes in until `place`."""
        if self.subjects:
            first = self.subjects
        else:
            begin = min(self.starts)
            opening = {*self.texts[: self._led(begin)]} - self.words["polite"] - self.words["skipped"] - {","}
            first = () if opening else self._group(self.starts[begin].stop)
        since = first[-1].stop if first else place
        other = self.words["others"] | self.words["people"] | self.words["own_subjects"]
        comes_in = any(at in self.starts and at not in self.taken for at in range(since, place))
        return () if comes_in or {*self.texts[since:place]} & other else first

    def _group(self, stop: int) -> _Ends:
        """The ends joined by "and" of which the last stops there, without those to whom something was done."""
        found, group = self.stops.get(stop), list[_Named]()
        while found is not None and found.start not in self.taken and found.case != "object":
            group.insert(0, found)
            led = self._led(found.start)
            joined = led > 0 and self.texts[led - 1] in self.words["pairs"]
            found = self.stops.get(led - 1) if joined else None
        return group

    def _led(self, start: int) -> int:
        """Where the words begin that belong to a name: "my sister Anna"."""
        while start > 0 and self.texts[start - 1] in self.words["leads"] | self.words["people"]:
            start -= 1
        return start

    def _agents(self, hit: Hit) -> _Ends:
        for place in range(hit.end, min(hit.end + _SIGHT, len(self.texts))):
            if self.texts[place] in self.words["agent"]:
                return self._objects(place + 1)
        return ()

    def _after(self, hit: Hit) -> _Ends:
        """To whom a verb tells that something was done: after it, or between its parts as in "told Tom off"."""
        inside = [found for start, found in self.starts.items() if hit.start < start < hit.end]
        following = self._objects(hit.end)
        if inside:
            return () if following and self.texts[hit.end - 1] == "to" else inside
        self.taken |= {found.start for found in following}
        return following

    def _objects(self, place: int) -> _Ends:
        """The ends that begin at `place`, joined by commas or "and"."""
        group: list[_Named] = []
        first = place
        while True:
            place = self._after_leads(place)
            found = self.starts.get(place)
            if found is None or found.case == "subject":
                break
            group.append(found)
            place = found.stop
            if place >= len(self.texts) or self.texts[place] not in self.words["pairs"] | {","}:
                break
            place += 1
        if not group:
            return ()
        led = self.texts[group[0].start - 1]
        is_part = len(group) == 1 and group[0].start > first and led not in self.words["people"]
        if (len(group) > 1 or is_part) and not self._goes_on(group[-1].stop):
            group.pop()
        return group

    def _goes_on(self, place: int) -> bool:
        """Whether a name ends before `place`: no verb follows that it does, and no noun of which it is a part."""
        words = self.words
        text = self.texts[place] if place < len(self.texts) else ""
        small = self.language.function_words | words["prepositions"] | words["skipped"] | words["leads"]
        return not text.isalnum() or (text in small and text not in words["turned_before"])

    def _in_clause(self, hit: Hit) -> tuple[_Ends, _Ends]:
        """Who did it and to whom, where verbs may stand at the end: the first name of the clause is the doer."""
        words, (start, stop) = self.words, self._clause(hit)
        said = {*self.texts[start:stop]}
        is_turned = hit.start == 0 or (start == 0 and self.texts[0] in words["turned_before"])
        if is_turned or said & (words["negations"] | words["no_names"]):
            return _NONE
        agents, free = self._groups(start, stop)
        if said & words["passive"]:
            return (agents[0], free[0]) if agents and free else _NONE
        is_end = hit.end == stop and said.isdisjoint(words["turned_before"])
        if len(free) == 1 and (hit.start == start or is_end) and self.texts[start - 1] in words["joins"] | {","}:
            free.insert(0, self.subjects)
        if len(free) != 2 or not free[0]:
            return _NONE
        doers, others = free
        before = self.texts[doers[0].start - 1] if doers[0].start else ""
        if doers[0].case == "object" or others[0].case == "subject" or before in words["turned_objects"]:
            doers, others = others, doers
        self.subjects = doers
        return doers, others

    def _clause(self, hit: Hit) -> tuple[int, int]:
        start, stop = hit.start, hit.end
        while not self.sentence.begins_clause(start) and not self._parts(start - 1):
            start -= 1
        while stop < len(self.texts) and self.texts[stop].isalnum() and not self._parts(stop):
            stop += 1
        return start, stop

    def _parts(self, place: int) -> bool:
        """Whether a word parts two clauses: "und", where it does not join two names."""
        joins = place in self.stops and self._after_leads(place + 1) in self.starts
        return self.texts[place] in self.words["joins"] and not joins

    def _after_leads(self, place: int) -> int:
        while place < len(self.texts) and self.texts[place] in self.words["leads"] | self.words["people"]:
            place += 1
        return place

    def _groups(self, start: int, stop: int) -> tuple[list[_Ends], list[_Ends]]:
        """The ends of a clause, those that "und" joins together: those after "von", and those after no preposition."""
        agents: list[_Ends] = []
        free: list[_Ends] = []
        last: list[_Named] = []
        for place in range(start, stop):
            found, led = self.starts.get(place), self._led(place)
            if found is None:
                continue
            lead = self.texts[led - 1] if led else ""
            if last and lead in self.words["pairs"] and last[-1].stop == led - 1:
                last.append(found)
                continue
            last = [found]
            if lead in self.words["agent"]:
                agents.append(last)
            elif lead not in self.words["prepositions"]:
                free.append(last)
        return agents, free
