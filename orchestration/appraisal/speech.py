"""The words of a text that its speaker says, without what is quoted or pasted: sentences as tokens. Pure.

A sentence knows how a phrase stands in it: whose it is, negated, supposed or asked, and to which degree. The time
is linear in what is read: at most `MOST_CHARACTERS` characters and `MOST_SENTENCES` sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from orchestration.appraisal.phrases import IDLE, Book, Entry, all_phrases
from substrate.language.languages import Language

NEGATION_REACH: Final = 3
"""A word is negated when one of this many words before it in its clause is a negation."""
UNFINISHED_REACH: Final = 5
MOST_CHARACTERS: Final = 12_000
MOST_SENTENCES: Final = 60
MOST_TOKENS: Final = 160
"""At most this many tokens of a sentence are read."""
QUOTE_WORDS: Final = 4
"""A quotation of this many words or more is somebody else's voice."""

_QUOTES: Final = re.compile('"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|»[^«»\n]*«')
_END: Final = re.compile(r"(?<![.!?…])[.!?…]++(?=[\s\"')\]]|$)|\n+")
_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['-][^\W_]+)*|[^\w\s]")
_REPEATED: Final = re.compile(r"([^\W\d_])\1{2,}")
_CODE_SIGNS: Final = frozenset("{}[]();=<>_/\\|`$#")
_CODE_SHARE: Final = 0.12
_BREAKS: Final = frozenset(',;:()–—-.…!?"')
_PLAIN_APOSTROPHE: Final = str.maketrans("’‘ʼ", "'''")


class Owner(Enum):
    """Who a phrase tells about: the speaker, somebody else, something that is no person, or nobody named."""

    OWN = "own"
    OTHER = "other"
    THING = "thing"
    NOBODY = "nobody"


class Token(NamedTuple):
    """A word in lower case or a sign. `start`, `end`: its place in the text; words of one contraction share it.

    `shape` is `A` for a word in capitals, `a` for one with a capital first, else empty.
    """

    text: str
    start: int
    end: int
    shape: str


class SpeechHit(NamedTuple):
    """A phrase in a sentence: tokens `[start, end)`."""

    entry: Entry
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of a sentence, their texts, the phrases in it, and the sign at its end: `?`, `!` or others."""

    text: str
    tokens: Sequence[Token]
    texts: Sequence[str]
    hits: Sequence[SpeechHit]
    ending: str
    elongated: bool
    language: Language

    @property
    def words(self) -> Mapping[str, frozenset[str]]:
        """The words of its language that say how something is told."""
        return self.language.telling.words

    def begins_clause(self, place: int) -> bool:
        return place == 0 or self.texts[place - 1] in _BREAKS

    def clause_start(self, place: int) -> int:
        """The place of the first token of the clause that the token at `place` is in."""
        while not self.begins_clause(place):
            place -= 1
        return place

    def is_negated(self, hit: SpeechHit) -> bool:
        start = max(self.clause_start(hit.start), hit.start - NEGATION_REACH)
        negations, undone = self.words["negations"], self.words["negation_undone"]
        for place in range(start, hit.start):
            if self.texts[place] in negations and self.texts[place + 1] not in undone:
                return True
        return not self.words["negations_after"].isdisjoint(self.texts[hit.end : hit.end + NEGATION_REACH])

    def is_told(self, hit: SpeechHit) -> bool:
        """Whether the speaker tells a phrase of now: not denied, supposed, reported from others or long over."""
        return self.is_told_of_others(hit) and not self.is_reported(hit)

    def is_told_of_others(self, hit: SpeechHit) -> bool:
        """The same for what others did, who may have said so themselves: "they say they will not pay"."""
        return not (self.is_negated(hit) or self.is_supposed(hit) or self.is_over(hit))

    def is_reported(self, hit: SpeechHit) -> bool:
        """True for what somebody else says: "according to Omar it is fixed"; not for "I think it is fixed"."""
        words = self.words
        for place in range(hit.start):
            own = place > 0 and self.texts[place - 1] in words["own_subjects"]
            if self.texts[place] in words["reporting"] and not own:
                return True
        return False

    def is_over(self, hit: SpeechHit) -> bool:
        """True for what was once: "I used to be afraid", "we were stuck, but that is long gone"."""
        marks = [other.start for other in self.hits if other.entry.kind == "past"]
        return any(mark > hit.start or mark >= self.clause_start(hit.start) for mark in marks)

    def opens_clause(self, hit: SpeechHit) -> bool:
        """Whether only degree words and the like come before a phrase in its clause: the speaker left out the
        "I"."""
        words = self.words
        may_precede = words["skipped"] | words["polite"] | words["joins"]
        return may_precede.issuperset(self.texts[self.clause_start(hit.start) : hit.start])

    def is_supposed(self, hit: SpeechHit) -> bool:
        """True in a clause that says what would, could or should be; "and I" begins another, unless it goes on to
        suppose: "it sounds muddy and I am fed up", but not "if it rains and I am fed up".
        """
        words, start = self.words, self.clause_start(hit.start)
        doubtful = words["hypothetical"] & (words["supposing"] | words["doubts"])
        if not doubtful.isdisjoint(self.texts[start : hit.start]):
            return True
        for place in range(start, hit.start - 1):
            joined = self.texts[place] in words["joins"]
            if joined and self.texts[place + 1] in words["own_subjects"] | words["things"]:
                start = place + 1
        return not words["hypothetical"].isdisjoint(self.texts[start : hit.start])

    def is_unfinished(self, hit: SpeechHit) -> bool:
        """True for a result that is still to come: "until it is done", "to be fixed", "not solved yet"."""
        start = max(self.clause_start(hit.start), hit.start - UNFINISHED_REACH)
        is_ahead = not self.words["not_yet"].isdisjoint(self.texts[hit.end : hit.end + 2])
        return is_ahead or not self.words["unfinished"].isdisjoint(self.texts[start : hit.start])

    def asked_from(self) -> int:
        """The place from which the sentence asks or bids; its length when it does not.

        In "I am stuck, can you help?" only the second clause is a question.
        """
        leads = [hit.start for hit in self.hits if hit.entry.kind == "questions"]
        if "?" in self.ending:
            leads.append(self._first_question())
        return min(leads, default=len(self.tokens))

    def told(self) -> Iterator[SpeechHit]:
        """The phrases before what the sentence asks."""
        asked = self.asked_from()
        return (hit for hit in self.hits if hit.start < asked)

    def _first_question(self) -> int:
        """The place of the first clause that begins as a question; the last clause of several when none does."""
        starts, joins = self.words["question_starts"], self.words["joins"]
        last = 0
        for place, token in enumerate(self.tokens):
            begins = self.begins_clause(place)
            if token.text in starts and (begins or self.texts[place - 1] in joins):
                return place
            if begins:
                last = place
        return last

    def owner_of(self, hit: SpeechHit) -> Owner:
        """Who the phrase tells about, by the words before it in its clause, the nearest first."""
        words, tokens = self.words, self.tokens
        start = self.clause_start(hit.start)
        own = words["own_subjects"] | words["own_objects"] | words["own_possessives"] | words["own_copulas"]
        if not own.isdisjoint(self.texts[hit.start : hit.end]):
            return Owner.OWN
        linked = self.texts[hit.start] in words["copulas"]
        for place in range(hit.start - 1, start - 1, -1):
            word, is_capital = self.texts[place], tokens[place].shape == "a"
            if word in own - words["own_possessives"]:
                return Owner.OWN
            is_name = self.language.names.have_capitals and is_capital and place > 0
            if is_name or word in words["others"] or word in words["people"]:
                return Owner.OTHER
            if word in words["copulas"]:
                linked = True
            elif linked and word not in words["skipped"]:
                return self._owner_of_subject(place, start)
        return Owner.NOBODY

    def _owner_of_subject(self, place: int, start: int) -> Owner:
        """Who the noun before a verb such as `was` is. A capitalised word alone counts as a name."""
        words = self.words
        for earlier in range(place, max(start, place - 3) - 1, -1):
            word = self.texts[earlier]
            if word in words["own_subjects"]:
                return Owner.OWN
            if word in words["others"] or word in words["people"]:
                return Owner.OTHER
        token = self.tokens[place]
        is_name = place == start and token.shape == "a" and token.text not in self.language.telling.function_words
        return Owner.OTHER if is_name and token.text not in words["things"] else Owner.THING

    def degree(self, hit: SpeechHit) -> int:
        """2 for `extremely`, 1 for `very`, −1 for `a bit`, else 0: the strongest of the words before a phrase."""
        steps, degrees = {"top": 2, "high": 1, "low": -1}, self.language.telling.degrees
        found: list[int] = []
        for token in self.tokens[max(self.clause_start(hit.start), hit.start - 3) : hit.start]:
            found += (step for name, step in steps.items() if token.text in degrees[name])
        return max(found, key=abs, default=0)


def own_text(text: str, language: Language) -> str:
    """The text with spaces or line ends in place of what is quoted or pasted; places of the rest stay the same.

    Pasted are code, lines with `>`, long quotations, and all that follows a line such as "here is the mail:":
    where a pasted block ends cannot be known, and a rule in it must not count.
    """
    read = text[:MOST_CHARACTERS].translate(_PLAIN_APOSTROPHE)
    parts = read.split("```")
    for place in range(1, len(parts), 2):
        parts[place] = "\n" * len(parts[place])
    read = "\n\n\n".join(parts)
    kept: list[str] = []
    pasted = False
    for line in read.split("\n"):
        first = line.split(maxsplit=1)[:1]  # of a mail, or of the trace of an error
        pasted = pasted or (first != [] and first[0].lower() in language.telling.pasted["headers"])
        kept.append(" " * len(line) if pasted or _is_foreign(line) else line)
        pasted = pasted or _introduces(line, language)
    read = "\n".join(kept)
    return _QUOTES.sub(lambda one: " " * len(one[0]) if one[0].count(" ") >= QUOTE_WORDS - 1 else one[0], read)


def _is_foreign(line: str) -> bool:
    """True for a quoted line of a mail, and for a line of code."""
    bare = line.lstrip()
    if bare.startswith(">"):
        return True
    signs = sum(map(_CODE_SIGNS.__contains__, bare))
    return signs > 3 and signs > _CODE_SHARE * len(bare)


def _introduces(line: str, language: Language) -> bool:
    """True for a line such as "here is the mail:"."""
    if not line.rstrip().endswith(":"):
        return False
    words = {token.lower() for token in _TOKEN.findall(line[-200:])}
    return all(not words.isdisjoint(language.telling.pasted[name]) for name in ("introduced", "introducers"))


def sentences(text: str, language: Language, book: Book | None = None) -> Iterator[Sentence]:
    """The sentences of what the speaker says in a text, at most `MOST_SENTENCES`.

    `book`: the phrases that are looked for in them; all of the language where none are given.
    """
    book = all_phrases(language.code) if book is None else book
    read = own_text(text, language)
    start, count = 0, 0
    for end in [*_END.finditer(read), None]:
        stop = len(read) if end is None else end.start()
        if read[start:stop].strip():
            elongated = _REPEATED.search(read, start, stop) is not None
            tokens = _tokens(read, (start, stop), language, squeeze=elongated)
            ending = "" if end is None else end[0].strip()
            texts = [token.text for token in tokens]
            hits = _find_phrases(texts, book)
            for idle in [hit for hit in hits if hit.entry.kind == IDLE]:  # no other hit may overlap one
                hits = [hit for hit in hits if hit.start >= idle.end or idle.start > hit.end]
            yield Sentence(read[start:stop], tokens, texts, hits, ending, elongated, language)
            count += 1
        if end is None or count >= MOST_SENTENCES:
            return
        start = end.end()


def _tokens(text: str, span: tuple[int, int], language: Language, *, squeeze: bool) -> list[Token]:
    tokens: list[Token] = []
    contractions = language.telling.contractions
    for match in _TOKEN.finditer(text, *span):
        written = match[0]
        word = written.lower()
        if squeeze:
            word = _REPEATED.sub(r"\1", word)
        shape = ""
        full = contractions.get(word)
        if word != written and full is None:
            shape = "A" if len(written) > 1 and written.isupper() else "a"
        for part in (word,) if full is None else full.split():
            tokens.append(Token(part, match.start(), match.end(), shape))
        if len(tokens) >= MOST_TOKENS:
            break
    return tokens


def _find_phrases(texts: Sequence[str], book: Book) -> list[SpeechHit]:
    """Every phrase in the sentence; of those that overlap and tell the same, the first and longest."""
    firsts = [place for place, text in enumerate(texts) if text in book]
    if not firsts:
        return []
    starts, length = [], 0
    for text in texts:
        starts.append(length)
        length += len(text) + 1
    joined, spoken = " ".join(texts) + " ", set(texts)
    hits: list[SpeechHit] = []
    read_to: dict[tuple[str, str], int] = {}
    for place in firsts:
        for entry in book[texts[place]]:
            if entry.needed.isdisjoint(spoken) or read_to.get(entry[:2], 0) > place:
                continue
            end = place + 1
            pattern = entry.pattern
            if pattern is not None:
                match = pattern.match(joined, starts[place])
                if match is None:
                    continue
                end = bisect_left(starts, match.end())
            hits.append(SpeechHit(entry, place, end))
            read_to[entry[:2]] = end
    return hits
