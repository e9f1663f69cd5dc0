"""Finds the people, places, projects and products that an ordinary text names, in its writer's own words. Pure.

A name is a run of words with capitals, beside words that say what it is: a relation ("my sister Anna"), a title, a
way to a place ("moved to Lisbon"), "the Atlas project", a common first name. A run without such a sign is `weak`:
it names something only if it is repeated or known. Time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from operator import itemgetter
from typing import Final, NamedTuple

from schemas.bounded_cache import cached_within
from substrate.language.languages import DEFAULT_LANGUAGE, Language, NameWords
from substrate.language.text import likeliest, name_key, stop_words

MOST_READ, MIDDLE = 100_000, "middle_of_description"
"""At most this many characters of a text are read for names; what is in `unset` of a memory with a longer text."""
LONG_QUOTATION: Final = 4
"""A quotation with this many spaces is what somebody else said; a shorter one may be a title."""
_TOKEN: Final = re.compile(r"[^\W\d_](?:[\w'’&-]*\w)?")
_OWNING: Final = re.compile(r"['’]s$|['’]$")
_FOREIGN: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,200}`|^[ \t]*>.*$|<<.{0,4000}?>>|>>.{0,4000}?<<|\bhttps?://\S+|\bwww\.\S+|(?<![\w.+-])[\w.+-]{1,200}@[\w-]+\.[\w.]+",
    re.DOTALL | re.MULTILINE,
)
QUOTED: Final = re.compile(r'"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|„([^„“”"\n]{1,2000})[“”"]|«([^«»\n]{1,2000})»')
_NEW_SENTENCE: Final = re.compile(r"[.!?:\n…•*|]|\"|“|„|\)\s*-")
_LONGEST_HEADING: Final = 100
_HEADING_WORDS: Final = 4
_HEADING_SHARE: Final = 0.7


@dataclass(slots=True)
class Token:
    """A word of a text: `word` without a possessive ending, `key` in lower case. `first`: a sentence begins."""

    word: str
    key: str
    start: int
    end: int
    capital: bool
    first: bool
    owning: bool


def ends_of(text: str) -> str:
    """What is read of a text: all, or of one without end its first part and half as much of its last."""
    return text if len(text) <= MOST_READ else f"{text[: 2 * MOST_READ // 3]}\n{text[-(MOST_READ // 3) :]}"


def own_words(text: str) -> str:
    """The text with code, links, cited lines and long quotations blanked: what others wrote. Places stay."""
    if any(sign in text for sign in ("`", ">", "http", "www.", "@")):
        text = _FOREIGN.sub(lambda found: " " * len(found[0]), text)
    if not has_quotes(text):
        return text
    return QUOTED.sub(lambda one: " " * len(one[0]) if one[0].count(" ") >= LONG_QUOTATION else one[0], text)


def has_quotes(text: str) -> bool:
    return any(sign in text for sign in '"“„«')


def tokens_of(text: str) -> list[Token]:
    """The words of a text in order."""
    tokens: list[Token] = []
    end = 0
    for found in _TOKEN.finditer(text):
        whole = found[0]
        word = _OWNING.sub("", whole)
        gap = text[end : found.start()]
        first = not tokens or bool(_NEW_SENTENCE.search(gap))
        capital = word[:1].isupper() and not (len(word) > 1 and word.isupper())
        tokens.append(
            Token(word, word.lower().replace("’", "'"), found.start(), found.end(), capital, first, word != whole)
        )
        end = found.end()
    return tokens


def heading_spans(text: str) -> list[tuple[int, int]]:
    """The lines in which most words have a capital: there it is no sign of a name."""
    spans: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        named = [word for word in line.split() if word[0].isalpha()]
        large = sum(word[0].isupper() for word in named)
        is_short = len(line) <= _LONGEST_HEADING and "," not in line and not line.rstrip().endswith(".")
        if is_short and len(named) >= _HEADING_WORDS and large >= _HEADING_SHARE * len(named):
            spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


class Kind(StrEnum):
    """What a name is the name of; it is stored as the `node_type`."""

    PERSON = "Person"
    PLACE = "Place"
    PROJECT = "Project"
    PRODUCT = "Product"
    ORGANISATION = "Organisation"
    ENTITY = "Entity"


class Mention(NamedTuple):
    """A name in a text. `weak`: a capital is its only sign. `relation`: what it is to the writer, "sister".

    `short`: the part by which it may be called alone, of "Dr Lindqvist" the last.
    """

    name: str
    kind: Kind
    weak: bool = False
    relation: str | None = None
    short: str | None = None


LONGEST_NAME: Final = 80
"""Longer runs of capitals are headings, or no text at all."""
MOST_WORDS: Final = 4
MOST_FOR_LANGUAGE: Final = 2000
"""At most this many characters of a text decide its language."""
_WORD: Final = re.compile(r"[^\W\d_]+")
# Without its bound, which is above the longest name, a word without end takes the square of its length.
_CAPITALISED: Final = r"[^\W\d_a-zß-öø-ÿ][\w'’-]{0,100}\w"
_NAME: Final = rf"(?<!\w){_CAPITALISED}(?: {_CAPITALISED}){{0,2}}(?!\w)"
_ROLE: Final = r"[^\W\d_][\w-]*(?: (?:of )?[^\W\d_][\w-]*){0,4}"
_NOUN: Final = r"[^\W\d_a-zß-öø-ÿ][\w-]+"
_HANDLE: Final = re.compile(r"(?<![\w@#/.])([@#])([^\W\d_][\w-]{1,39})(?!\w)")


class NamePatterns(NamedTuple):
    """The patterns by which a language names people, places and things, and the `words` of its file."""

    words: NameWords
    place: re.Pattern[str]
    organisation: re.Pattern[str]
    from_work: re.Pattern[str]
    title: re.Pattern[str]
    role_aside: re.Pattern[str] | None
    aliases: Sequence[re.Pattern[str]]
    own_names: Sequence[re.Pattern[str]]
    own_roles: Sequence[re.Pattern[str]]


@cache
def name_patterns(code: str) -> NamePatterns:
    """The patterns of a language, made of the words in its file."""
    names = Language.of(code).names
    workplaces = sorted(names.organisation_suffixes | names.businesses)
    trade, workplace = "|".join(names.trades), "|".join(map(re.escape, workplaces))
    roles = [text.replace("TRADE", trade).replace("WORKPLACE", workplace) for text in names.role_statements]
    return NamePatterns(
        words=names,
        place=re.compile(rf"\b(?:{names.place_cues}) (?:the )?$", re.IGNORECASE),
        organisation=re.compile(rf"\b(?:{names.organisation_cues}) (?:the )?$", re.IGNORECASE),
        from_work=re.compile(rf" {names.from_work}\b", re.IGNORECASE),
        title=re.compile(rf"\b(?:{names.title_cues}):? $", re.IGNORECASE),
        role_aside=None if names.role_aside is None else re.compile(names.role_aside),
        aliases=_filled(names.alias_statements),
        own_names=_filled(names.name_statements),
        own_roles=_filled(roles),
    )


def _filled(texts: Iterable[str]) -> list[re.Pattern[str]]:
    """The patterns with NAME, ROLE and NOUN filled in; all but the names are read whatever the case."""
    patterns: list[re.Pattern[str]] = []
    for text in texts:
        filled = text.strip().replace("NAME", _NAME).replace("ROLE", _ROLE).replace("NOUN", _NOUN)
        head, mark, rest = filled.partition("(?P<")
        bare = re.sub(r"\\.|\[[^\]]*\]", "", head)
        is_outside = bare.count("(") == bare.count(")")
        patterns.append(re.compile(f"(?i:{head}){mark}{rest}" if is_outside else filled))
    return patterns


@cache
def first_names(code: str) -> frozenset[str]:
    """The first names of a language, with those of the default one."""
    return Language.of(code).names.first_names | Language.of(DEFAULT_LANGUAGE).names.first_names


@cache
def of_all(name: str) -> frozenset[str]:
    """The words that all languages have in one of their lists of names: a text may mix languages."""
    return frozenset(Language.gather(f"names.{name}"))


def name_language(text: str, otherwise: str = DEFAULT_LANGUAGE) -> str:
    """The code of the language whose frequent words a text has most of; `otherwise` when it has none."""
    found = _WORD.findall(text[:MOST_FOR_LANGUAGE].lower())
    best = likeliest(found, Language.all(), lambda language: language.names.function_words)
    return otherwise if best.names.function_words.isdisjoint(found) else best.code


@cached_within(1 << 20)
def read_names(text: str, code: str) -> Sequence[Mention]:
    """The names in a text of this language, each with its sign, in order; a name may come more than once."""
    own = own_words(text)
    found: list[Mention] = []
    for quoted in QUOTED.finditer(own) if has_quotes(own) else ():
        title = next(part for part in quoted.groups() if part is not None).strip(" .,!?")
        before = own[max(0, quoted.start() - 24) : quoted.start()]
        if title[:1].isupper() and len(title) <= LONGEST_NAME and name_patterns(code).title.search(before):
            found.append(Mention(title, Kind.ENTITY))
    if "@" in own or "#" in own:
        found += [Mention(handle[2], Kind.ENTITY) for handle in _HANDLE.finditer(own)]
    if own == own.lower():
        return found
    reader = _Reader(own, tokens_of(own), code)
    return [*found, *(mention for run in reader.runs() if (mention := reader.judge(run)) is not None)]


def read_aliases(text: str, language: str | None = None) -> list[tuple[str, str]]:
    """Pairs of names that a text says are one person's, as "Thomas, everyone calls him Tom" does."""
    patterns = name_patterns(language or name_language(text)).aliases
    return [(found["name"], found["alias"]) for pattern in patterns for found in pattern.finditer(text)]


class _Run(NamedTuple):
    """Tokens `first` to `last`, the latter included, that may be one name."""

    first: int
    last: int


class _Reader:
    """Reads the names of one text by the words around each run of capitals."""

    def __init__(self, text: str, tokens: Sequence[Token], language: str) -> None:
        self.text = text
        self.tokens = tokens
        self.patterns = name_patterns(language)
        self.words = self.patterns.words
        self.first_names = first_names(language)
        self._headings = heading_spans(text)

    def runs(self) -> Iterator[_Run]:
        """Every longest run of words with capitals that may be a name."""
        place = 0
        while place < len(self.tokens):
            if not self._may_name(place):
                place += 1
                continue
            last = place
            while self._goes_on(last):
                last += 1
            yield _Run(place, last)
            place = last + 1

    def _may_name(self, place: int) -> bool:
        token = self.tokens[place]
        if not token.capital or token.key in self.words.never:
            return False
        before = bisect_right(self._headings, token.start, key=itemgetter(0))
        return not before or token.start >= self._headings[before - 1][1]

    def _goes_on(self, last: int) -> bool:
        if last + 1 >= len(self.tokens):
            return False
        token, after = self.tokens[last], self.tokens[last + 1]
        if token.owning or self.text[token.end : after.start] != " " or not self._may_name(last + 1):
            return False
        if not self.words.have_capitals:
            return self._is_first_name(last) and after.key not in self.words.relations
        return not (token.first and self._is_common(token.key)) and not self._is_first_name(last + 1)

    def judge(self, run: _Run) -> Mention | None:
        """The name of a run with its kind, or None when it is no name."""
        name = " ".join(token.word for token in self.tokens[run.first : run.last + 1])
        if len(name) > LONGEST_NAME or run.last - run.first >= MOST_WORDS or len(name) < 2:
            return None
        return self._person(run, name) or self._thing(run, name) or self._weak(run, name)

    def _person(self, run: _Run, name: str) -> Mention | None:
        before = self._word(run.first - 1)
        if before in self.words.titles and self._near(run.first - 1, run.first, (" ", ". ")):
            title = self.tokens[run.first - 1].word.capitalize()
            return Mention(f"{title} {name}", Kind.PERSON, short=name.split()[-1])
        relation = self._relation_before(run)
        relation = self._relation_after(run) if relation is None else relation
        if relation is not None:
            weak = self._doubtful(run) and (not self.words.have_capitals or not relation)
            return Mention(name, Kind.PERSON, weak, relation or None)
        if self._is_place(run, name):
            return None
        if self._is_first_name(run.first):
            return Mention(name, Kind.PERSON)
        from_work = self.patterns.from_work.match(self.text, self.tokens[run.last].end)
        if (from_work or self._is_named_aside(run)) and not self._doubtful(run):
            return Mention(name, Kind.PERSON)
        return None

    def _is_named_aside(self, run: _Run) -> bool:
        """True for a name between commas after a relation: "the landlord at the yard, Prentiss, wants to sell"."""
        if not self.words.have_capitals or not self._near(run.first - 1, run.first, (", ",)):
            return False
        if self.text[self.tokens[run.last].end : self.tokens[run.last].end + 1] not in (",", "."):
            return False
        for back in range(run.first - 1, max(-1, run.first - 6), -1):
            if self._word(back) in self.words.relations:
                return True
            if self.tokens[back].first:
                return False
        return False

    def _doubtful(self, run: _Run) -> bool:
        """True for a word that may be an ordinary noun, or only begins a sentence."""
        token = self.tokens[run.first]
        if not self.words.have_capitals:
            return not self._is_first_name(run.first)
        return token.first and self._is_common(token.key)

    def _relation_before(self, run: _Run) -> str | None:
        """The relation named before the run: "" for somebody else's; None without one."""
        place = run.first - 1
        if place < 0 or not self._near(place, run.first, (" ", ", ", " (", ": ")):
            return None
        if self._word(place) in self.words.called or self._word(place) in of_all("copulas"):
            place -= 1
            while place > 0 and self._word(place) in of_all("adjoining"):
                place -= 1
        if place < 0 or self.tokens[place + 1].first:
            return None
        word = self._word(place)
        if word not in self.words.relations:
            return "" if word in self.words.people_nouns else None
        return word if self._is_mine(place) else ""

    def _is_mine(self, place: int) -> bool:
        """True when "my" or "our" stands shortly before a relation, in its sentence, with nobody's in between."""
        for back in range(place, max(-1, place - 4), -1):
            token = self.tokens[back]
            if token.key in self.words.my:
                return True
            if token.first or (token.owning and back != place):
                return False
        return False

    def _relation_after(self, run: _Run) -> str | None:
        """The relation named after the run, as in "Anna, my sister", "Jamal's mum"; None without one."""
        words, last = self.words, self.tokens[run.last]
        place = run.last + 1
        if last.owning and self._word(place) in words.relations:
            return ""
        if self._word(place) in of_all("copulas") or (last.owning and self._word(place) != ""):
            place += self._word(place) in of_all("copulas")
        elif not self._near(run.last, place, (", ", " (")):
            return None
        if self._word(place) not in self.words.my:
            return None
        for ahead in range(place + 1, min(place + 4, len(self.tokens))):
            if self.tokens[ahead].first:
                return None
            if self._word(ahead) in words.relations:
                return self._word(ahead)
        return None

    def _thing(self, run: _Run, name: str) -> Mention | None:
        words, last = self.words, self.tokens[run.last]
        following = "" if last.owning else self._word(run.last + 1)
        if self._is_project(run, following):
            return Mention(name, Kind.PROJECT)
        is_product = following in self.words.product_cues
        if is_product and self._word(run.first - 1) in of_all("before_a_product"):
            return Mention(name, Kind.PRODUCT)
        if run.last > run.first and last.key in words.organisation_suffixes:
            return Mention(name, Kind.ORGANISATION)
        if self._is_place(run, name):
            return Mention(name, Kind.PLACE)
        if self._cued(run, self.patterns.organisation) and not last.owning:
            return Mention(name, Kind.ORGANISATION, not self.words.have_capitals)
        return None

    def _is_project(self, run: _Run, following: str) -> bool:
        cues = self.words.project_cues
        if self._word(run.first - 1) in cues and self._near(run.first - 1, run.first, (" ",)):
            return True
        return following in cues and self._word(run.first - 1) in of_all("before_a_project")

    def _is_place(self, run: _Run, name: str) -> bool:
        last = self.tokens[run.last]
        if name.lower() in self.words.places:
            return not last.owning or not self._is_first_name(run.first)
        if run.last > run.first and last.key in self.words.place_suffixes:
            return self.words.have_capitals and not self._acts(run)
        parts = name.replace("-", " ").split()
        is_plain = all(word.isalpha() and word[1:].islower() for word in parts)  # `FalkorDB` is no place
        if last.owning or not self.words.have_capitals or not is_plain:
            return False
        return self._cued(run, self.patterns.place) and not self._first_name_key(last.key)

    def _acts(self, run: _Run) -> bool:
        """True for a first name with a surname that does something or has a role: "Kim Park, a teacher"."""
        aside = self.patterns.role_aside and self.patterns.role_aside.match(self.text, self.tokens[run.last].end)
        said = [] if aside is None else aside[0].lower().split()
        works = not self.words.occupations.isdisjoint(said[-1:] if said[:1] == [","] else said[1:])
        acts = works or self._word(run.last + 1) in self.words.person_verbs
        return acts and self._first_name_key(self.tokens[run.first].key)

    def _cued(self, run: _Run, cue: re.Pattern[str]) -> bool:
        start = self.tokens[run.first].start
        return bool(cue.search(self.text[max(0, start - 40) : start]))

    def _weak(self, run: _Run, name: str) -> Mention | None:
        """A name by its capital alone: in the middle of a sentence, and not where nouns have capitals."""
        token = self.tokens[run.first]
        if not self.words.have_capitals or (token.first and run.last == run.first):
            return None
        if token.first and self._is_common(token.key):
            return None
        return Mention(name, self._likely_kind(run), weak=True)

    def _likely_kind(self, run: _Run) -> Kind:
        """What an unknown name probably is, by the word before or after it."""
        words, before = self.words, self._word(run.first - 1)
        if not self.tokens[run.last].owning and self._word(run.last + 1) in words.person_verbs:
            return Kind.PERSON
        if before in words.place_leads and before not in words.person_leads:
            return Kind.PLACE
        return Kind.PERSON if before in words.person_leads - words.place_leads else Kind.ENTITY

    def _is_first_name(self, place: int) -> bool:
        """True for a common first name that is no other word, or that a surname follows."""
        token = self.tokens[place]
        if not token.capital or not self._first_name_key(token.key):
            return False
        if token.key not in self.words.ambiguous_names:
            return True
        if token.first or not self.words.have_capitals:
            return False
        after = self.tokens[place + 1 : place + 2]  # a surname
        return any(one.capital and self.text[token.end : one.start] == " " for one in after)

    def _first_name_key(self, key: str) -> bool:
        return key in self.first_names

    def _is_common(self, key: str) -> bool:
        """True for a word that only has a capital because a sentence begins with it."""
        return not self._first_name_key(key) and key not in self.words.places

    def _word(self, place: int) -> str:
        return self.tokens[place].key if 0 <= place < len(self.tokens) else ""

    def _near(self, place: int, other: int, gaps: Collection[str]) -> bool:
        if place < 0 or other >= len(self.tokens):
            return False
        return self.text[self.tokens[place].end : self.tokens[other].start] in gaps


class KnownNames(NamedTuple):
    """Keys of names to look for. `lower`: those that also count without a capital, as people write in a hurry.

    `firsts`: the first word of each.
    """

    keys: Collection[str]
    lower: Collection[str]
    firsts: Collection[str]

    @classmethod
    def of(cls, keys: Collection[str], lower: Collection[str]) -> KnownNames:
        return cls(frozenset(keys), frozenset(lower), frozenset(key.split()[0] for key in keys))


def name_forms(text: str, known: KnownNames) -> Iterator[str]:
    """The keys of the known names that stand in a text, each time they do."""
    own = tokens_of(own_words(text)) if known.keys else []
    place = 0
    while place < len(own):
        size, key = _known_at(own, place, known)
        if key:
            yield key
        place += max(size, 1)


def _known_at(own: Sequence[Token], place: int, known: KnownNames) -> tuple[int, str]:
    """How many tokens from `place` on are a known name, the longest, and its key; 0 when none is.

    One in lower case may have a possessive without its apostrophe.
    """
    token = own[place]
    large, first = token.word[:1].isupper(), name_key(token.word)
    if first.partition(" ")[0] in known.firsts:
        for size in range(min(MOST_WORDS, len(own) - place), 0, -1):
            key = name_key(" ".join(token.word for token in own[place : place + size]))
            if key in known.keys and (large or key in known.lower):
                return size, key
    if not large and len(first) > 3 and first.endswith("s") and first[:-1] in known.lower:
        return 1, first[:-1]
    return 0, ""


def may_be_lower(key: str, code: str = DEFAULT_LANGUAGE) -> bool:
    """True for the key of a name that is no ordinary word, so that it may count without a capital."""
    names = Language.of(code).names
    plain = key not in stop_words() and key not in names.never and key not in names.relations
    return plain and len(key) >= 3 and key not in names.ambiguous_names and " " not in key
