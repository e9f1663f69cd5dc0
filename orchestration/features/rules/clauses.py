"""A rule or an action as clauses, and the forms that both have: what is done or not, when, in which order. Pure.

"Release without running the tests" has two clauses, of which the second is negated; in "run the tests before you
release" the second comes later, in "merge after the review" earlier. "Never on Fridays" is limited to a day,
"before 9 am" to hours, "more than 100 euros" to amounts. The words stand in the files of the languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import chain
from typing import Final, Literal, NamedTuple

from orchestration.appraisal.speech import Token, sentences
from schemas.bounded_cache import cached_within
from substrate.language.languages import AskedLanguage, Language
from substrate.language.text import normal_text, stop_words, words

type Role = Literal["main", "without", "before", "after", "unless", "when"]

ROLES: Final[Sequence[Role]] = ("without", "unless", "before", "after", "when")
"""Roles with words of their own, in the order in which these are looked up."""
_TIMED: Final = frozenset(("before", "after", "unless"))
_BREAKS: Final = frozenset(",;:()–—.…!?")
MOST_SHOWN: Final = 2_000
"""Only this many characters of a text show its language."""
FEW_WORDS: Final = 3
SHORT: Final = 8
"""A text of this many words or fewer may have no function word: "send Mira one small step"."""
_FAR: Final = 100
_NEAR: Final = 50
LEAST_COMPOUND: Final = 5
"""A word of this many letters or more may be the end of a compound: Rechnung in Stromrechnung."""


class Word(NamedTuple):
    """A word that carries meaning, as it is written in lower case, and its stem."""

    text: str
    stem: str


class Clause(NamedTuple):
    """`negated`: it is not done. `place`: its order in time. `words`: those that carry meaning, without times.

    `carried`: words of the clause before, which a pronoun in it stands for. `name`: it begins with a name.
    """

    role: Role
    tokens: tuple[Token, ...]
    negated: bool
    place: int
    words: tuple[Word, ...]
    limits: Limits
    carried: tuple[Word, ...] = ()
    sentence: int = 0

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.tokens)

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)


def languages_of(text: str) -> list[Language]:
    """The languages with rules that a text may be in, the likeliest first; none for a text in another one.

    A text without any function word may be in each of them, as long as its letters are Latin.
    """
    counts = {each.code: len(_telling(text, each.code)) for each in AskedLanguage.all()}
    most = max(counts.values())
    if not any(char.isalpha() and normal_text(char)[:1].isascii() for char in text[:MOST_SHOWN]):
        return []
    return [language for language in Language.all() if counts[language.code] == most]


def is_told(text: str, code: str) -> bool:
    """Whether a text is known to be in a language: by a function word; a few words need none if letters fit.

    Some more need a word by which rules and actions are read, or none that ends as the language's words do not.
    """
    if _telling(text, code):
        return True
    letters = "".join(Language.of(code).rules.get("letters", ()))
    others = (char for char in text.lower() if char.isalpha() and char not in letters)
    found, known = words(text), dict[str, int]()
    if len(found) > SHORT or not all(map(str.isascii, others)):
        return False
    for each in Language.all():
        known[each.code] = len(_known_stems(each.code).intersection(map(each.stem, found)))
    if len(found) <= FEW_WORDS or any(known.values()):
        return len(found) <= FEW_WORDS or known[code] == max(known.values())
    ends = tuple(Language.of(code).rules["foreign_ends"])
    return not any(word.islower() and word.endswith(ends) for word in text.split())


@cache
def _known_stems(code: str) -> frozenset[str]:
    """The stems of all words in the lists by which rules and actions are read."""
    spoken = Language.of(code)
    listed = " ".join(chain.from_iterable(spoken.rules.values()))
    return frozenset(map(spoken.stem, words(listed)))


def _telling(text: str, code: str) -> list[str]:
    """The words of a text that show its language: function words, and those by which a rule bids."""
    language = AskedLanguage.of(code)
    known = stop_words(language.code)
    if isinstance(language, Language):
        known = known.union(*(language.rules[name] for name in ("negations", "bidding", "only")))
    return [word for word in words(text[:MOST_SHOWN]) if word in known]


def read_clauses(text: str, code: str, today: int | None = None) -> tuple[Clause, ...]:
    """The clauses of a text in the language with this code, in the order in which they are written."""
    return _read_clauses(text, code, today)


@cached_within(8 << 20)
def _read_clauses(text: str, code: str, today: int | None) -> tuple[Clause, ...]:
    spoken = Language.of(code)
    found: list[Clause] = []
    for number, sentence in enumerate(sentences(text, spoken)):
        for role, tokens in _cut(sentence.tokens, spoken):
            found.append(_clause(_Cut(role, tokens), found, spoken, today)._replace(sentence=number))
    return tuple(clause for clause in found if clause.tokens)


class _Cut(NamedTuple):
    role: Role
    tokens: list[Token]


def _cut(tokens: Sequence[Token], spoken: Language) -> list[_Cut]:
    cuts = [_Cut("main", [])]
    texts = [token.text for token in tokens]
    place = 0
    while place < len(tokens):
        if texts[place] in _BREAKS:
            if cuts[-1].tokens:
                cuts.append(_Cut("main", []))
            place += 1
            continue
        if cuts[-1].role != "main" and cuts[-1].tokens and texts[place] in spoken.rules["bidding"]:
            cuts.append(_Cut("main", []))  # "before a meal always wash your hands"
        role, length = _lead(tokens, texts, place, spoken)
        if role is None:
            cuts[-1].tokens.append(tokens[place])
            place += 1
            continue
        if cuts[-1].tokens or role != "main":
            cuts.append(_Cut(role, []))
        place += length
    return [cut for cut in chain.from_iterable(_without_verbs(cuts, spoken)) if cut.tokens]


def _lead(tokens: Sequence[Token], texts: Sequence[str], place: int, spoken: Language) -> tuple[Role | None, int]:
    """The role of the clause that the words at a place lead in, and how many they are."""
    for role in ROLES:
        length = _match(texts, place, spoken.rules[role])
        if length and not (role in _TIMED and is_hour(tokens, texts, place + length, spoken)):
            return role, length
    length = _match(texts, place, spoken.rules["joins"])
    return ("main", length) if length else (None, 0)


def _match(texts: Sequence[str], place: int, phrases: Sequence[str]) -> int:
    """How many words the longest of the phrases has that stands at the place; 0 for none."""
    lengths = [len(parts) for parts in map(str.split, phrases) if list(texts[place : place + len(parts)]) == parts]
    return max(lengths, default=0)


def _without_verbs(cuts: Sequence[_Cut], spoken: Language) -> list[list[_Cut]]:
    """In a language whose verb comes last: "ohne Rücksprache bezahlen" takes one word, the rest goes before."""
    infinitive = spoken.rules.get("infinitive", ())
    found: list[list[_Cut]] = []
    for cut in cuts:
        if not infinitive or cut.role != "without" or any(token.text in infinitive for token in cut.tokens):
            found.append([cut])
            continue
        end = next((i for i, token in enumerate(cut.tokens, 1) if not _is_common(token.text, spoken)), 0)
        rest = cut.tokens[end:]
        if rest and found:
            found[-1][-1].tokens.extend(rest)
        found.append([_Cut(cut.role, cut.tokens[:end])])
    return found


def _clause(cut: _Cut, before: Sequence[Clause], spoken: Language, today: int | None) -> Clause:
    judging, tokens = spoken.rules, cut.tokens
    texts = [token.text for token in tokens]
    limits = read_limits(tokens, spoken, today)
    content = content_words(tokens, limits, spoken)
    leaving = stems_of(spoken.code, "negating")  # skip, avoid, refuse
    turned = sum(text in judging["negations"] or spoken.stem(text) in leaving for text in texts)
    negated = (turned + (cut.role == "without")) % 2 == 1
    place = len(before) + {"before": _FAR, "after": -_FAR}.get(cut.role, 0)
    place += _NEAR * (any(text in judging["last"] for text in texts))
    place -= _NEAR * (any(text in judging["first"] for text in texts))
    carried = before[-1].words if before and any(text in judging["pronouns"] for text in texts) else ()
    return Clause(cut.role, tuple(tokens), negated, place, content, limits, carried)


def content_words(tokens: Sequence[Token], limits: Limits, spoken: Language) -> tuple[Word, ...]:
    """The words that carry meaning: no function words, no times, no light verbs unless they are all there is."""
    negating = stems_of(spoken.code, "negating")
    found: list[Word] = []
    deeds = deeds_of(spoken.code)
    particle = -1
    for place, token in enumerate(tokens):
        if place == particle:
            continue
        text = token.text.removesuffix("'s")
        stem = spoken.stem(text)
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if f"{stem} {after}" in deeds:
            found.append(Word(f"{text} {after}", deeds[f"{stem} {after}"]))
            particle = place + 1
            continue
        if place in limits.taken or not any(char.isalpha() for char in text) or _is_common(text, spoken):
            continue
        if stem not in negating:
            found.append(Word(text, deeds.get(stem, stem)))
    light = stems_of(spoken.code, "light") | set(units_of(spoken).values())  # "more than 100 euros": of spending
    heavy = [word for word in found if word.stem not in light]
    return tuple(dict.fromkeys(heavy or found))


@cache
def deeds_of(code: str) -> Mapping[str, str]:
    """The stem under which each word for a deed is known: erase is delete. A verb with a particle is two words."""
    spoken = Language.of(code)
    stem = spoken.stem
    found: dict[str, str] = {}
    for group in spoken.rules["deeds"]:
        known, *others = group.split()
        for word in others:
            verb, _, particle = word.partition("_")
            found[f"{stem(verb)} {particle}" if particle else stem(verb)] = stem(known)
    return found


@cache
def stems_of(code: str, name: str) -> frozenset[str]:
    """The stems of one of the lists by which rules and actions are read."""
    return frozenset(map(Language.of(code).stem, Language.of(code).rules[name]))


def all_words(tokens: tuple[Token, ...], code: str) -> tuple[Word, ...]:
    """Each token as a word, those for times and amounts too: "ten paragraphs" tells a manner."""
    spoken, deeds = Language.of(code), deeds_of(code)
    stems = [spoken.stem(token.text) for token in tokens]
    return tuple(Word(token.text, deeds.get(stem, stem)) for token, stem in zip(tokens, stems, strict=True))


def is_opposite(stem: str, among: Set[str], code: str) -> bool:
    """Whether a deed or a manner has its opposite among stems, and neither itself nor one that means the same."""
    opposites = opposites_of(code)
    others = opposites.get(stem, frozenset()) & among
    return any(opposites[other].isdisjoint(among) for other in others) and stem not in among


@cache
def opposites_of(code: str) -> Mapping[str, frozenset[str]]:
    """Of the stem of a deed or a manner, those that leave no room for it: short, and long or detailed."""
    spoken, deeds = Language.of(code), deeds_of(code)
    found: dict[str, frozenset[str]] = {}
    for group in spoken.rules["opposites"]:
        sides: list[set[str]] = []
        for side in group.split("/"):
            stems = list(map(spoken.stem, side.split()))
            sides.append(set(map(deeds.get, stems, stems)))
        for place, own in enumerate(sides):
            others = frozenset(chain.from_iterable(sides[:place] + sides[place + 1 :])) - own
            for stem in own:
                found[stem] = found.get(stem, frozenset()) | others
    return found


def _is_common(text: str, spoken: Language) -> bool:
    named = (*spoken.rules["common"], *spoken.rules["negations"])
    is_silent = text in spoken.telling.function_words or normal_text(text) in stop_words(spoken.code)
    return is_silent or text in named


type Kind = Literal["never", "always", "order", "only"]

MOST_READ: Final = 2_000
"""A rule or an action with more characters is not judged: nobody says one so."""


class RuleForm(NamedTuple):
    """What a rule says. `matter`: the words it is about, of which `verb` is the deed, if it has one.

    `condition`: when it holds. `licence`: what makes the forbidden allowed; where it is `awaited`, an action that
    does not mention it may be right. `needed`: what `order` wants done before the matter. `who`: to whom `only`
    reserves it; without anybody its limits are meant.
    """

    code: str
    kind: Kind
    text: str
    matter: tuple[Word, ...]
    verb: Word | None
    limits: Limits
    condition: tuple[Word, ...] = ()
    licence: tuple[Word, ...] = ()
    needed: tuple[Word, ...] = ()
    who: tuple[str, ...] = ()


@cached_within(8 << 20)
def read_forms(text: str) -> tuple[RuleForm, ...]:
    """What a rule says, one form for each of its bids; none where it cannot be read."""
    if len(text) > MOST_READ:
        return ()
    for spoken in languages_of(text):
        if found := tuple(form for form in _forms(text, spoken) if form.matter):
            return found
    return ()


def _forms(text: str, spoken: Language) -> Iterator[RuleForm]:
    unit: list[Clause] = []
    for clause in read_clauses(text, spoken.code):
        # A clause after another one bids by itself: ", and never …".
        bidding = (*spoken.rules["only"], *spoken.rules["bidding"])
        bids = clause.negated or any(token.text in bidding for token in clause.tokens)
        is_new = bool(unit) and clause.role == "main" and (unit[0].sentence != clause.sentence or bids)
        if is_new and any(each.role == "main" and each.words for each in unit):
            yield from _unit_forms(unit, spoken)
            unit = []
        unit.append(clause)
    if unit:
        yield from _unit_forms(unit, spoken)


def _unit_forms(unit: Sequence[Clause], spoken: Language) -> Iterator[RuleForm]:
    mains = [clause for clause in unit if clause.role == "main" and (clause.words or clause.limits.any())]
    if not mains:
        return
    first, *others = mains
    form = _form(first, unit, spoken)
    yield form
    is_list = form.kind == "never" and form.verb is None
    for other in others:  # "no nuts, eggs or milk for Mira"; a word alone is else a filler
        if len(other.words) > 1 or (is_list and other.words):
            yield _form(other._replace(negated=first.negated), (other, *unit), spoken)


def _form(main: Clause, unit: Sequence[Clause], spoken: Language) -> RuleForm:
    by_role = {clause.role: clause for clause in reversed(unit) if clause.role != "main"}
    texts = [token.text for token in main.tokens]
    negated = main.negated != is_ceiling(texts, spoken) if not main.negated else True
    text = " ".join(word.text for word in main.words)
    form = RuleForm(spoken.code, "never" if negated else "always", text, main.words, None, main.limits)
    form = form._replace(verb=_verb(main, spoken))
    earlier, later = by_role.get("before"), by_role.get("after")
    if any(text in spoken.rules["only"] for text in texts) and not negated:
        form = _reserved(form, main, spoken)
    if earlier is not None and earlier.words:
        if negated:
            form = form._replace(kind="order", needed=earlier.words)
        else:
            trigger = earlier.words
            verb = _verb(earlier, spoken)
            form = form._replace(kind="order", needed=main.words, matter=trigger, text=earlier.text, verb=verb)
    condition = by_role.get("when") or later
    licence = by_role.get("unless") or by_role.get("without")
    if condition is not None:
        form = form._replace(condition=condition.words, limits=form.limits.joined(condition.limits))
    if licence is not None:
        form = form._replace(licence=licence.words)
    return form


def _verb(clause: Clause, spoken: Language) -> Word | None:
    """The deed of a clause: its first word, or the last where verbs come last; none after "no" or a light verb."""
    texts = [token.text for token in clause.tokens]
    light = stems_of(spoken.code, "light")
    if not clause.words or (clause.words[0].stem not in light and not light.isdisjoint(map(spoken.stem, texts))):
        return None
    places = [place for place, text in enumerate(texts) if text.removesuffix("'s") == clause.words[0].text]
    if places and places[0] and texts[places[0] - 1] in spoken.rules["nothing"]:
        return None
    last = "verbs_last" in spoken.rules or any(text in ("be", "been") for text in texts)
    return clause.words[-1 if last else 0]


def _reserved(form: RuleForm, main: Clause, spoken: Language) -> RuleForm:
    """Who alone may ("only Ana may approve invoices"), or when ("only water the orchids on Sundays")."""
    texts = [token.text for token in main.tokens]
    place = next(i for i, text in enumerate(texts) if text in spoken.rules["only"]) + 1
    rest = main.tokens[place:]
    modal = next((i for i, token in enumerate(rest) if token.text in spoken.rules["may"]), 0)
    who = rest[:modal] if 0 < modal <= 4 else rest[:1] if rest and rest[0].shape else ()
    if not who:
        return form._replace(kind="only") if form.limits.any() else form
    matter = content_words(rest[len(who) :], Limits(), spoken)
    names = tuple(word.stem for word in content_words(who, Limits(), spoken))
    verb = matter[-1 if "verbs_last" in spoken.rules else 0] if matter else None
    return form._replace(kind="only", who=names, matter=matter, verb=verb, text=" ".join(w.text for w in matter))


type Bound = Literal["exactly", "over", "under"]
type Fit = Literal["holds", "fails", "untold"]

DAY_MINUTES: Final = 24 * 60
_CLOCK: Final = re.compile(r"([01]?\d|2[0-4])[:.]([0-5]\d)(am|pm)?")
_HALF_DAY: Final = re.compile(r"(1[0-2]|[1-9])(am|pm)")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SIGNS: Final = {"€": "euro", "$": "dollar", "£": "pound"}


class Amount(NamedTuple):
    """A number with its unit, as a stem or ''. `bound`: over or under it, or exactly this many."""

    value: float
    unit: str
    bound: Bound = "exactly"


class Hours(NamedTuple):
    """Minutes of the day from `start` to before `end`; over midnight where `end` is not after `start`.

    Not `sure`: one of two readings of an hour without its half of the day.
    """

    start: int
    end: int
    sure: bool = True

    def minutes(self) -> list[tuple[int, int]]:
        if self.start < self.end:
            return [(self.start, self.end)]
        return [(self.start, DAY_MINUTES), (0, self.end)]

    def meets(self, other: Hours) -> bool:
        return any(a < d and c < b for a, b in self.minutes() for c, d in other.minutes())


class Limits(NamedTuple):
    """What some words say of days (0 is Monday), hours and amounts. `taken`: the places of these words."""

    days: frozenset[int] = frozenset()
    hours: tuple[Hours, ...] = ()
    amounts: tuple[Amount, ...] = ()
    taken: frozenset[int] = frozenset()

    def joined(self, other: Limits) -> Limits:
        return Limits(self.days | other.days, self.hours + other.hours, self.amounts + other.amounts)

    def any(self) -> bool:
        return bool(self.days or self.hours or self.amounts)


def compare(rule: Limits, action: Limits) -> Fit:
    """Whether an action lies within the limits of a rule; `untold` where it does not say.

    It fails as soon as one of day, hour or amount lies outside.
    """
    fits: list[Fit] = []
    if rule.days:
        fits.append("untold" if not action.days else "holds" if rule.days & action.days else "fails")
    if rule.hours:
        met = {own.meets(other) for own in rule.hours for other in action.hours}
        doubted = len(met) > 1 and {hours.sure for hours in (*rule.hours, *action.hours)} != {True}
        fits.append("untold" if not met or doubted else "holds" if True in met else "fails")
    for limit in (amount for amount in rule.amounts if amount.bound != "exactly"):
        told = [amount.value for amount in action.amounts if amount.unit == limit.unit or not limit.unit]
        is_over = limit.bound == "over"
        within = any(value > limit.value if is_over else value < limit.value for value in told)
        fits.append("untold" if not told else "holds" if within else "fails")
    return "fails" if "fails" in fits else "untold" if "untold" in fits else "holds"


def read_limits(tokens: Sequence[Token], language: Language, today: int | None = None) -> Limits:
    """The limits that the tokens name. `today`: the weekday at which "today" is said; None leaves it out."""
    days: set[int] = set()
    hours: list[Hours] = []
    amounts: list[Amount] = []
    taken: set[int] = set()
    words = [token.text for token in tokens]
    for place in range(len(words)):
        if place in taken:
            continue
        day = _day(words, place, language, today)
        if day is not None:
            days |= day.what
            taken |= day.taken
        hour = _hours(tokens, words, place, language)
        if hour is not None:
            hours += hour.what
            taken |= hour.taken
            if hour.what[0].sure:
                continue  # a bare number after "at" may be an amount too
        amount = _amount(words, place, language)
        if amount is not None:
            amounts.append(amount.what)
            taken |= amount.taken
    return Limits(frozenset(days), tuple(hours), tuple(amounts), frozenset(taken))


def is_hour(tokens: Sequence[Token], words: Sequence[str], place: int, language: Language) -> bool:
    """Whether a time of the day or a weekday stands at the place, after a word such as "before"."""
    return place < len(words) and (
        _hours(tokens, words, place, language) is not None or _day(words, place, language, None) is not None
    )


class _Consumption[T](NamedTuple):
    what: T
    taken: frozenset[int]


class _Phrase(NamedTuple):
    length: int
    start: int
    end: int


def _day(
    words: Sequence[str], place: int, language: Language, today: int | None
) -> _Consumption[frozenset[int]] | None:
    word = words[place]
    known = language.times.words["weekday"]
    for form in (word, word.removesuffix("'s"), word.removesuffix("s")):
        if form in known:
            return _Consumption(frozenset((known[form],)), frozenset((place,)))
    spans = _phrase_at(words, place, language, "days")
    if spans is not None:
        return _Consumption(
            frozenset(range(spans.start, spans.end + 1)), frozenset(range(place, place + spans.length))
        )
    near = _phrase_at(words, place, language, "relative_days")
    if near is None or today is None:
        return None
    return _Consumption(frozenset(((today + near.start) % 7,)), frozenset())


def _hours(
    tokens: Sequence[Token], words: Sequence[str], place: int, language: Language
) -> _Consumption[list[Hours]] | None:
    part = _phrase_at(words, place, language, "hours")
    if part is not None:
        return _Consumption([Hours(part.start * 60, part.end * 60)], frozenset(range(place, place + part.length)))
    clock = _clock(words, place, language)
    before = words[place - 1] if place else ""
    starts, length = ([], 1) if clock is None else ([clock.start], clock.length)
    if clock is None and before in language.rules["hour_leads"]:
        starts, length = _bare_hour(tokens, words, place, language)
    if not starts:
        return None
    taken = frozenset(range(place, place + length))
    if before in language.rules["earlier"]:  # "before nine" is said of the morning
        return _Consumption([Hours(0, starts[0])], taken | {place - 1})
    later = before in language.rules["later"]
    found: list[Hours] = []
    for start in starts:
        found.append(Hours(start, DAY_MINUTES if later else start + 1, sure=len(starts) == 1))
    return _Consumption(found, taken | {place - 1} if later else taken)


def _bare_hour(
    tokens: Sequence[Token], words: Sequence[str], place: int, language: Language
) -> tuple[list[int], int]:
    """The minutes that a number alone may mean ("at seven"), and its length with the part of the day after it."""
    value = _number(words[place], language)
    if value is None or value not in range(1, 24):
        return [], 1
    starts = [60 * int(value)] if value > 11 else [60 * int(value), 60 * int(value) + DAY_MINUTES // 2]
    plain = {*language.telling.function_words, *language.rules["common"]}
    for end in range(place + 1, len(words)):
        part = _phrase_at(words, end, language, "hours")  # "at seven in the evening"
        if part is not None:
            inside = filter(lambda start: part.start * 60 <= start < part.end * 60, starts)
            return list(inside) or starts, end + part.length - place
        if words[end] not in plain:  # "at seven shops"; where nouns have capitals, a verb has none
            counts = words[end].isalpha() and bool(tokens[end].shape or "verbs_last" not in language.rules)
            return [] if counts and end == place + 1 else starts, 1
    return starts, 1


def _clock(words: Sequence[str], place: int, language: Language) -> _Phrase | None:
    word = words[place]
    after = words[place + 1] if place + 1 < len(words) else ""
    half = after if after in language.rules["half_day"] else ""
    hour, minute, late, length = 0, 0, "", 1 + bool(half)
    if (found := _HALF_DAY.fullmatch(word)) is not None:
        hour, late, length = int(found[1]), found[2], 1
    elif (found := _CLOCK.fullmatch(word)) is not None and (":" in word or half):
        hour, minute, late = int(found[1]), int(found[2]), found[3] or half
    elif half and (value := _number(word, language)) is not None and value in range(25):
        hour, late = int(value), half
    else:
        return None
    minutes = (hour % 12 + 12 * (late == "pm") if late in ("am", "pm") else hour) * 60 + minute
    return _Phrase(length, minutes, minutes) if minutes <= DAY_MINUTES else None


def _amount(words: Sequence[str], place: int, language: Language) -> _Consumption[Amount] | None:
    value = _number(words[place], language)
    if value is None:
        return None
    taken = {place}
    unit, at = "", place + 1
    if place and words[place - 1] in _SIGNS:
        unit = _SIGNS[words[place - 1]]
    elif at < len(words) and words[at] in _SIGNS:
        unit = _SIGNS[words[at]]
    elif at < len(words) and words[at].isalpha():
        unit = units_of(language).get(words[at]) or language.stem(words[at])
    bound: Bound = "exactly"
    bounds: tuple[tuple[str, Bound], ...] = (
        ("most", "over"), ("least", "under"), ("more", "over"), ("less", "under"),
    )  # fmt: skip
    for name, meant in bounds:
        length = _length_before(words, place, language.rules[name])
        if length:
            taken |= set(range(place - length, place))
            bound = meant
            break
    return _Consumption(Amount(value, unit, bound), frozenset(taken))


def is_ceiling(words: Sequence[str], language: Language) -> bool:
    """Whether the words set a most or a least: "at most 8" forbids more without the word "never"."""
    names = (*language.rules["most"], *language.rules["least"])
    return any(f" {phrase} " in f" {' '.join(words)} " for phrase in names)


def _length_before(words: Sequence[str], place: int, phrases: Sequence[str]) -> int:
    for phrase in sorted(phrases, key=len, reverse=True):
        parts = phrase.split()
        for gap in (0, 1):  # "more than € 100"
            end = place - gap
            stands = end >= len(parts) and list(words[end - len(parts) : end]) == parts
            if stands and (not gap or words[end] in _SIGNS):
                return len(parts) + gap
    return 0


def _number(word: str, language: Language) -> float | None:
    if word.isascii() and _NUMBER.fullmatch(word):
        grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", word)
        plain = word.replace(",", "" if grouped else ".")
        return float(plain) if plain.count(".") < 2 else None
    if word in Language.gather("telling.no_numbers"):
        return None  # more often an article than a number
    known = language.times.numbers.get(word)
    return None if known is None else float(known)


def _phrase_at(words: Sequence[str], place: int, language: Language, name: str) -> _Phrase | None:
    for parts, start, end in _spans(language.code, name):
        if tuple(words[place : place + len(parts)]) == parts:
            return _Phrase(len(parts), start, end)
    return None


@cache
def _spans(code: str, name: str) -> tuple[tuple[tuple[str, ...], int, int], ...]:
    found = []
    for phrase in Language.of(code).rules[name]:
        *parts, numbers = phrase.split()
        start, _, end = numbers.partition("-")
        found.append((tuple(parts), int(start), int(end or start)))
    return tuple(sorted(found, key=lambda each: -len(each[0])))


def units_of(language: Language) -> dict[str, str]:
    """The stem under which each word for a currency is known."""
    return dict(phrase.split() for phrase in language.rules["units"])
