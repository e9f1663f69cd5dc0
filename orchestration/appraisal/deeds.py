"""Reads what a text tells between names, in plain words: deeds and relations (000, 002). Pure.

"Ingrid praised Tom, but criticised Lena" tells two deeds. Only what is told as done is read, between two names or
the writer: nothing that is denied, asked, supposed, wished, guessed or dreamt. The verbs of each language stand
in `[deeds]` of its file; a graph adds its own types. A question names relations by the types of the graph alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from orchestration.appraisal import phrases
from orchestration.appraisal.names import MOST_WORDS, Kind
from orchestration.appraisal.phrases import Entry
from orchestration.appraisal.speech import NEGATION_REACH, Sentence, SpeechHit, sentences
from schemas.wave_signal import Relation
from substrate.language.languages import DEFAULT_LANGUAGE, Language
from substrate.language.text import name_key, stem, stop_words, words

TOLD: Final = 0.8
HEARD: Final = 0.5
"""How sure a deed is that the writer tells, and one that somebody told the writer."""
_SIGHT: Final = 3
""""by" may follow at most this many words after a verb."""
_MARKS: Final = ".,;:!?()\"'…"
_NO_THINGS: Final = (Kind.PERSON.value, "Self")


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


class _NamedEnd(NamedTuple):
    """An end at the tokens `[start, stop)`; `case` is `subject` for "I" and `object` for "me"."""

    start: int
    stop: int
    end: End
    case: str = ""


type _Ends = list[_NamedEnd]


def read_deeds(
    text: str, names: Mapping[str, End], writer: End, language: Language, *, types: Collection[str] = ()
) -> list[Deed]:
    """What a text tells as done, each once, in its order. The time is linear in what is read of the text.

    `names`: what each name stands for, by its comparable form. `writer`: who "I" is. `types`: of links of the
    graph, read beside those of the language where the text has their words: "Ingrid mentors Tom" for `MENTORS`.
    """
    verbs = {tuple(map(stem, name.lower().split("_"))): name for name in types}
    deeds: dict[tuple[str, str, str], Deed] = {}
    book = phrases.deeds(language.code)
    said = {word.strip(_MARKS) for word in text.lower().split()}
    if said.isdisjoint(book) and {verb[0] for verb in verbs}.isdisjoint(map(stem, said)):
        return []
    for sentence in sentences(text, language, book):
        reader = _Reader(sentence, names, writer)
        if not language.telling.words["jokes"].isdisjoint(reader.texts):
            return []
        for deed in reader.deeds(verbs):
            if deed.source != deed.target:
                deeds.setdefault(deed[:3], deed)
    return list(deeds.values())


class _Reader:
    """Reads one sentence from left to right. `doers`: of the last deed, or with whom the sentence begins; `taken`:
    where those stand to whom something was done.
    """

    def __init__(self, sentence: Sentence, names: Mapping[str, End], writer: End) -> None:
        self.sentence, self.language, self.words = sentence, sentence.language, sentence.words
        self.texts = sentence.texts
        self.leads = self.words["leads"] | self.words["people"]
        self.left_out = _NamedEnd(0, 0, writer, "subject")
        self.starts: dict[int, _NamedEnd] = {}
        self.stops: dict[int, _NamedEnd] = {}
        self.taken: set[int] = set()
        self.firsts = {key.partition(" ")[0] for key in names}
        place = 0
        while place < len(self.texts):
            found = self._end_at(place, names, writer)
            if found is not None:
                self.starts[found.start] = self.stops[found.stop] = found
            place = place + 1 if found is None else found.stop
        begin = min(self.starts, default=0)
        is_first = self._opens(self._led(begin)) and begin in self.starts
        self.doers: _Ends = self._group(self.starts[begin].stop) if is_first else []

    def _end_at(self, place: int, names: Mapping[str, End], writer: End) -> _NamedEnd | None:
        text = self.texts[place]
        if text in self.words["writers"]:
            return _NamedEnd(
                place, place + 1, writer, "object" if text in self.words["own_objects"] else "subject"
            )
        is_likely = self.sentence.tokens[place].shape or text in self.firsts
        most = min(MOST_WORDS, len(self.texts) - place) if is_likely else 0
        for size in range(most, 0, -1):
            key = name_key(" ".join(self.texts[place : place + size]))
            if key in names and key not in stop_words() and self.texts[place + size - 1][-1].isalnum():
                return _NamedEnd(place, place + size, names[key])
        return None

    def _opens(self, place: int) -> bool:
        """Whether nothing that counts stands before `place` in the sentence."""
        words, before = self.words, {*self.texts[:place]} - {","}
        return before <= (words["polite"] | words["joins"] | words["skipped"]) - words["negations"]

    def deeds(self, verbs: Mapping[tuple[str, ...], str]) -> list[Deed]:
        """The deeds of the sentence. `verbs`: the types of the graph by the stems of their words."""
        deeds: list[Deed] = []
        if not self.starts:
            return deeds
        hits = {hit.start: hit for hit in self.sentence.hits}
        stems = list(map(stem, self.texts)) if verbs else []
        for place in range(len(stems)):
            for verb, name in verbs.items():
                if tuple(stems[place : place + len(verb)]) == verb:
                    own = Entry("own", name, 0, None, len(verb), frozenset())
                    hits.setdefault(place, SpeechHit(own, place, place + len(verb)))
        asked = self.sentence.asked_from()
        doubtful = self.words["supposing"] | self.words["doubts"] | self.words["unreal"]
        for place in sorted(hits):
            if place < asked and doubtful.isdisjoint(self.texts[:place]):
                deeds += self._deeds_of(hits[place])
        return deeds

    def _deeds_of(self, hit: SpeechHit) -> list[Deed]:
        doers, others = self._in_order(hit) if self.language.names.have_capitals else self._in_clause(hit)
        sure = TOLD if self.words["heard"].isdisjoint(self.texts[: hit.start]) else HEARD
        done = [one.end for one in others if hit.entry.kind != "things" or one.end.kind not in _NO_THINGS]
        return [Deed(doer.end.id, hit.entry.value, end.id, sure) for end in done for doer in doers]

    def _in_order(self, hit: SpeechHit) -> tuple[_Ends, _Ends]:
        """Who did it and to whom, where the order of words says so: the doer stands before the verb."""
        words, place = self.words, hit.start
        while place > 0 and place not in self.stops and self._may_part(self.texts[place - 1]):
            place -= 1
        between, verb = {*self.texts[place : hit.start]}, self.texts[hit.start]
        doers = self._before(place)
        if self._opens(place) and not verb.endswith(("s", "ing")):
            doers = [self.left_out]  # "asked Tom for help": the writer left out the "I"
        helped = not between.isdisjoint(words["auxiliaries"])
        if (helped and not verb.endswith("ing")) or {*self.texts[hit.end : hit.end + 1]} & words["agent"]:
            self.doers = doers
            agent = hit.end
            while agent < hit.end + _SIGHT and words["agent"].isdisjoint(self.texts[agent : agent + 1]):
                agent += 1
            return self._objects(agent + 1) if agent < hit.end + _SIGHT else [], doers
        if not doers or not self._is_done(hit, between, doers[0]):
            return [], []
        self.doers = doers
        inside = [found for start, found in self.starts.items() if hit.start < start < hit.end]
        others = self._objects(hit.end)
        self.taken |= {found.start for found in others}
        if not inside:
            return doers, others
        return doers, [] if others and self.texts[hit.end - 1] in words["infinitive"] else inside  # "told Tom off"

    def _may_part(self, text: str) -> bool:
        """Whether a word may stand between a doer and the verb without a change of what is said."""
        denied = self.words["doubts"] | self.words["negations"]
        return text in self.words["between"] or (text.endswith("ly") and text not in denied)

    def _is_done(self, hit: SpeechHit, between: set[str], doer: _NamedEnd) -> bool:
        """Whether the form of the verb tells a deed: "asked", "has been asking", "used to ask", not "to ask"."""
        verb = self.texts[hit.start]
        if verb.endswith("ing"):
            return not between.isdisjoint(self.words["auxiliaries"])
        is_bare = verb in self.words["bare"] or (hit.entry.kind == "own" and not verb.endswith(("s", "ed")))
        is_own = doer.case == "subject" and doer.stop > 0
        is_finite = between.isdisjoint(self.words["infinitive"]) and (is_own or not is_bare)
        return is_finite or not between.isdisjoint(self.words["of_old"])

    def _before(self, place: int) -> _Ends:
        """Who stands before `place` as the one who does something."""
        words, text = self.words, self.texts[place - 1] if place else ""
        if text in words["who"]:
            return self._group(place - 1 - (self.texts[place - 2] == ","))
        if text == "," and "," in self.texts[: place - 1]:  # "Jonas, my flatmate, asked"
            aside = self._group(place - 2 - self.texts[place - 2 :: -1].index(","))
            return aside if aside and self.sentence.begins_clause(self._led(aside[0].start)) else []
        if text in words["joins"] | words["clause_breaks"]:
            since = self.doers[-1].stop if self.doers else 0
            others = words["others"] | words["people"] | words["own_subjects"]
            comes_in = any(at in self.starts and at not in self.taken for at in range(since, place))
            return [] if comes_in or {*self.texts[since:place]} & others else self.doers
        group = self._group(place)
        led = self._led(group[0].start) if group else 0
        if led and self.texts[led - 1] in words["prepositions"] | words["turned_before"]:
            return []
        return [] if {*self.texts[max(0, led - 2) : led]} & words["negations"] else group

    def _group(self, stop: int) -> _Ends:
        """The ends joined by "and" of which the last stops there, without those to whom something was done."""
        found, group = self.stops.get(stop), list[_NamedEnd]()
        while found is not None and found.start not in self.taken and found.case != "object":
            group.insert(0, found)
            led = self._led(found.start)
            found = self.stops.get(led - 1) if led and self.texts[led - 1] in self.words["pairs"] else None
        return group

    def _led(self, start: int) -> int:
        """Where the words begin that belong to a name: "my sister Anna"."""
        while start > 0 and self.texts[start - 1] in self.leads:
            start -= 1
        return start

    def _objects(self, first: int) -> _Ends:
        """The ends that begin at `first`, joined by commas or "and"."""
        words, place = self.words, first
        group: _Ends = []
        while True:
            while place < len(self.texts) and self.texts[place] in self.leads:
                place += 1
            found = self.starts.get(place)
            if found is None or found.case == "subject":
                break
            group.append(found)
            place = found.stop + 1
            if not {*self.texts[found.stop : place]} & {*words["pairs"], ","}:
                break
        is_led = group and group[0].start > first and self.texts[group[0].start - 1] not in words["people"]
        if group and (len(group) > 1 or is_led):
            # No verb that it does may follow the last, and no noun of which it is a part: "the Atlas team".
            small = words["leads"] | words["prepositions"] | words["skipped"]
            small |= self.language.telling.function_words
            after = {text for text in self.texts[group[-1].stop : group[-1].stop + 1] if text.isalnum()}
            if not after <= small - words["turned_before"]:
                group.pop()
        return group

    def _in_clause(self, hit: SpeechHit) -> tuple[_Ends, _Ends]:
        """Who did it and to whom, where verbs may stand at the end: the first name of the clause is the doer."""
        words, start, stop = self.words, hit.start, hit.end
        while not self.sentence.begins_clause(start) and not self._parts(start - 1):
            start -= 1
        while stop < len(self.texts) and self.texts[stop].isalnum() and not self._parts(stop):
            stop += 1
        said, first = {*self.texts[start:stop]}, self.texts[start - 1] if start else ""
        is_turned = hit.start == 0 or (start == 0 and self.texts[0] in words["turned_before"])
        if is_turned or said & (words["negations"] | words["no_names"]):
            return [], []
        agents, free = self._ends_of(start, stop)
        if said & words["auxiliaries"]:
            return (agents[0], free[0]) if agents and free else ([], [])
        is_last = hit.end == stop and said.isdisjoint(words["turned_before"])
        if len(free) == 1 and (hit.start == start or is_last) and first in words["joins"] | {","}:
            free.insert(0, self.doers)
        if len(free) != 2 or not free[0]:
            return [], []
        doers, others = free
        before = self.texts[doers[0].start - 1] if doers[0].start else ""
        if doers[0].case == "object" or others[0].case == "subject" or before in words["turned_objects"]:
            doers, others = others, doers
        self.doers = doers
        return doers, others

    def _parts(self, place: int) -> bool:
        """Whether a word parts two clauses: "und", where it does not join two names."""
        joins = place in self.stops and any(self._led(start) == place + 1 for start in self.starts)
        return self.texts[place] in self.words["joins"] and not joins

    def _ends_of(self, start: int, stop: int) -> tuple[list[_Ends], list[_Ends]]:
        """The ends of a clause, those that "und" joins together: after "von", and after no preposition."""
        agents: list[_Ends] = []
        free: list[_Ends] = []
        last: _Ends = []
        for found in filter(None, map(self.starts.get, range(start, stop))):
            led = self._led(found.start)
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


MAX_RELATIONS: Final = 16


def relation_words(text: str, names: Sequence[str]) -> list[str]:
    """The distinct words of a text that may name a relation: no stop words, no numbers, no parts of `names`."""
    name_words: set[str] = set()
    for name in names:
        name_words.update(name_key(name).split())
    return [
        word
        for word in dict.fromkeys(words(text))
        if word not in stop_words() and word not in name_words and not word.isdigit()
    ]


def has_same_stem(word: str, relation_type: str) -> bool:
    """True when a word is a form of the relation type, as `criticizing` is of CRITICIZED."""
    return stem(word) in {
        stem(part) for part in words(relation_type.replace("_", " ")) if part not in stop_words()
    }


def read_relations(
    text: str, names: Sequence[str], types: Sequence[str], matches: Callable[[str, str], bool] = has_same_stem
) -> tuple[Relation, ...]:
    """The relations that the text names, at most `MAX_RELATIONS`.

    A relation goes from the nearest name before its word to the nearest name after it; `by` after the word swaps
    the two, as in `praised by Kai`. `types`: the relation types of the graph. `matches`: a test whether a word
    names a type.
    """
    english = Language.of(DEFAULT_LANGUAGE)
    agents = english.telling.words["agent"]
    text_words = words(text)
    spans: list[tuple[int, int, str]] = []  # where each name begins and ends
    for name in names:
        name_words = name_key(name).split()
        size = len(name_words)
        for start in range(len(text_words) - size + 1) if size else ():
            if text_words[start : start + size] == name_words:
                spans.append((start, start + size, name))
    type_by_word: dict[str, str | None] = {}
    for word in relation_words(text, names):
        type_by_word[word] = next((each for each in types if matches(word, each)), None)
    relations: dict[Relation, None] = {}
    for position, word in enumerate(text_words):
        relation_type = type_by_word.get(word)
        negated = not english.words.negations.isdisjoint(text_words[max(0, position - NEGATION_REACH) : position])
        if relation_type is None or negated:
            continue
        before = [(end, name) for _, end, name in spans if end <= position]
        after = [(start, name) for start, _, name in spans if start > position]
        source = max(before, key=itemgetter(0))[1] if before else None
        target = min(after, key=itemgetter(0))[1] if after else None
        if not agents.isdisjoint(text_words[position + 1 : position + 2]):
            source, target = target, source
        relations[Relation(relation_type=relation_type, source=source, target=target)] = None
    return tuple(relations)[:MAX_RELATIONS]


def match_by_meaning(vectors: Mapping[str, Sequence[float]], floor: float) -> Callable[[str, str], bool]:
    """Make a test whether a word names a relation type: it has the same stem, or a cosine of at least `floor`.

    `vectors`: unit vectors of the words and of the phrases of the types. Without a vector only the stem counts.
    """

    def matches(word: str, relation_type: str) -> bool:
        if has_same_stem(word, relation_type):
            return True
        left, right = vectors.get(word), vectors.get(relation_phrase(relation_type))
        return left is not None and right is not None and sum(map(float.__mul__, left, right)) >= floor

    return matches


def relation_phrase(relation_type: str) -> str:
    """A relation type as words: IS_PROUD_OF as `is proud of`."""
    return relation_type.replace("_", " ").lower()
