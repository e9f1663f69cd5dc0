"""How a question is read in each language: the patterns of its asking and of its phrases of time. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from substrate.language.languages import NIGHT, AskedLanguage, Language
from substrate.language.text import word_language

TO_COME: Final = frozenset(("tomorrow", "day_after_tomorrow", "next_weekday", "next_weekend", "next_unit", "today",
                           "weekday", "weekend", "date"))  # fmt: skip
"""The kinds of phrases that a plan may name too."""
_YEAR: Final = r"(?:1[6-9]|2[0-2])\d\d"
_NUMBERED: Final = {"day": r"\d{1,2}", "monthnumber": r"\d{1,2}", "year": _YEAR}
_PLACE: Final = re.compile(r"\{(\w+)\}")
_NUMERALS: Final = r"\d{1,3}"
_WORD: Final = re.compile(r"\w+")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{5,}")
_NAMED_TIMES: Final = ("weekday", "month", "unit", "part")
_DIGIT: Final = re.compile(r"\d")
_CUES: Final = ("month", "weekday", "season", "night", "part", "unit")
"""Lists of words; a form with a word of one of them needs it. The rarest in texts come first."""
_NOT_NEEDED: Final = re.compile(r"\(\?<?[!=][^()]*\)|\(\?:(?:[^()]|\([^()]*\))*\)\?|\['’\]\?s")
"""Of a form: what stands before or after, groups that may be absent, and the end of a genitive."""
_GROUP: Final = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_WHOLE_WORD: Final = re.compile(r"(?<![\w\\])[^\W\d_]+(?![\w?*+\[])")
_WRITTEN_TOGETHER: Final = re.compile(r"\{(\w+)\}([^{}]*)\?\{(\w+)\}")
_ALIKE: Final = str.maketrans("ſıİ", "sii")
"""Letters that a pattern without regard to case takes for others, which are not their small letters."""
_BLANKS: Final = re.compile(r"\s+")


class Feast(NamedTuple):
    """A feast: the pattern of its name, and the rule of its days as the file gives it."""

    pattern: re.Pattern[str]
    rule: str


class TimePhrase(NamedTuple):
    """A phrase of time in a text, from `start` to `end`.

    `values`: what its words stand for, by the names of the file: a month from 1, a weekday from 0 for Monday, a
    season, unit, portion or part by its place in the file. `feast`: the rule of the feast it names. `bare`: it is
    one word that is also another word, such as "may".
    """

    kind: str
    start: int
    end: int
    values: Mapping[str, int]
    feast: str = ""
    bare: bool = False


@dataclass(frozen=True, slots=True)
class QuestionLanguage:
    """The patterns of a language. `phrases` finds phrases of time, and `kinds` names the kind of each alternative;
    `planned` and `planned_kinds` do so for the times that a plan names. A phrase has one of `cues` or a digit,
    a time of a plan one of `time_words` or a digit.

    `places`: what each word of a time stands for, by the name of its list. `other_words`: months that are other
    words too. `general`: words of a question that tell of no subject. `relations`, `seeking`, `events`:
    patterns by their names in the file. `sides`: "before" and "after" of `events` without what may stand before
    them, which is found ten times as fast.
    """

    code: str
    phrases: re.Pattern[str]
    kinds: Sequence[str]
    cues: frozenset[str]
    planned: re.Pattern[str]
    planned_kinds: Sequence[str]
    time_words: frozenset[str]
    places: Mapping[str, Mapping[str, int]]
    feasts: Sequence[Feast]
    other_words: frozenset[str]
    general: frozenset[str]
    relations: Mapping[str, re.Pattern[str]]
    seeking: Mapping[str, re.Pattern[str]]
    events: Mapping[str, re.Pattern[str]]
    sides: Mapping[str, re.Pattern[str]]

    def find_phrases(self, text: str) -> list[TimePhrase]:
        """The phrases of time in a text, in order, none of them within another."""
        return self._find(text, self.phrases, self.kinds, self.cues)

    def find_planned(self, text: str) -> list[TimePhrase]:
        """The phrases of times to come and of times that come back, in order, none of them within another."""
        return self._find(text, self.planned, self.planned_kinds, self.time_words)

    def _find(
        self, text: str, pattern: re.Pattern[str], kinds: Sequence[str], cues: frozenset[str]
    ) -> list[TimePhrase]:
        # In small letters, each at its place: a pattern that ignores case takes half as long again.
        said = (text if text.isascii() else text.translate(_ALIKE)).lower()
        # Most texts name no time, and the patterns take a millisecond for three long sentences.
        if cues.isdisjoint(_WORD.findall(said)) and _DIGIT.search(said) is None:
            return []
        return [self._phrase(match, kinds) for match in pattern.finditer(said)]

    def _phrase(self, match: re.Match[str], kinds: Sequence[str]) -> TimePhrase:
        kind, bare, feast = kinds[int((match.lastgroup or "k0")[1:])], match[0].lower() in self.other_words, ""
        values: dict[str, int] = {}
        for group, word in match.groupdict().items():
            name = group.rpartition("_")[0]
            if not word or not name:
                continue
            key = " ".join(word.lower().split())
            if name == "feast":
                feast = next((each.rule for each in self.feasts if each.pattern.fullmatch(word.lower())), "")
            else:
                values[name] = self.places[name][key] if name in self.places and not key.isdigit() else int(key)
        return TimePhrase(kind, *match.span(), values, feast, bare)


def read_codes() -> list[str]:
    """The codes of the languages in which texts are read, the default first: a question may be in any of them."""
    return [language.code for language in Language.all()]


def languages() -> tuple[QuestionLanguage, ...]:
    """How each of them is read."""
    return tuple(map(_language, read_codes()))


def asking_patterns(text: str) -> list[Mapping[str, re.Pattern[str]]]:
    """The patterns of asking by which a question is read, of each language by their names in its file.

    Those of a language that is only asked in count for a question in that language alone.
    """
    return list(map(_asking, dict.fromkeys((*read_codes(), word_language(text)))))


def single_blanks(text: str) -> str:
    """The text, stripped, with one blank for each run of white space, or one line break where the run has any.

    Patterns begin with optional words and blanks, and would try each end of a long run from each of its places.
    """
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text.strip())


@cache
def _asking(code: str) -> Mapping[str, re.Pattern[str]]:
    return _compile(AskedLanguage.of(code).asking)


@cache
def _language(code: str) -> QuestionLanguage:
    times = Language.of(code).times
    places: dict[str, Mapping[str, int]] = {**times.words, "number": times.numbers}
    places["month"] = {word: place + 1 for word, place in times.words["month"].items()}
    night = [word for word, place in places["part"].items() if place == NIGHT]
    choices = {name: _choice(map(_escaped, known)) for name, known in places.items()}
    choices["number"] = f"{_NUMERALS}|{choices['number']}"
    choices["feast"] = "|".join(times.feasts)
    choices["night"], choices["oneunit"] = _choice(night), choices["unit"]
    places["night"] = dict.fromkeys(night, NIGHT)
    forms = [(kind, form) for kind, forms in times.phrases.items() for form in forms]
    planned = [(kind, form) for kind, forms in times.planned.items() for form in forms]
    planned += [(kind, form) for kind, form in forms if kind in TO_COME]
    time_words = _LONG_WORD.findall(f"{planned}")
    for name in _NAMED_TIMES:
        for word in places[name]:
            time_words += [word, f"{word}s"]
    return QuestionLanguage(
        code,
        phrases=_alternatives(forms, choices),
        kinds=[kind for kind, _ in forms],
        cues=_cues([form for _, form in forms], times.feasts, places),
        planned=_alternatives(planned, choices),
        planned_kinds=[kind for kind, _ in planned],
        time_words=frozenset(time_words),
        places=places,
        feasts=[Feast(_pattern(name), rule) for name, rule in times.feasts.items()],
        other_words=times.month_too,
        general=times.general,
        relations=_relations(times.relations),
        seeking=_compile(times.seeking),
        events={name: _pattern(_fill(form, choices, 0)) for name, form in times.event.items()},
        sides={side: _pattern(times.event[side].partition(")? ?")[2]) for side in ("before", "after")},
    )


def _alternatives(forms: Sequence[tuple[str, str]], choices: Mapping[str, str]) -> re.Pattern[str]:
    """One pattern for forms, each of which is a group that is named after its place; for small letters."""
    filled = [f"(?P<k{place}>{_fill(form, choices, place)})" for place, (_, form) in enumerate(forms)]
    return re.compile(_spaced(rf"(?<!\w)(?:{'|'.join(filled)})(?!\w)"))


def _cues(forms: Iterable[str], feasts: Iterable[str], places: Mapping[str, Mapping[str, int]]) -> frozenset[str]:
    """Words of which each match of a form has one, as a word of its own, unless it has a digit."""
    named = "|".join(feasts)
    cues: set[str] = set()
    for form in forms:
        written = form.replace("{feast}", named)
        needed = _NOT_NEEDED.sub(" ", written)
        if lists := [name for name in _CUES if f"{{{name}}}" in needed]:
            cues.update(places[lists[0]])
        elif not any(f"{{{name}}}" in needed for name in _NUMBERED):
            choices = map(_WHOLE_WORD.findall, _GROUP.sub(" ", needed).split("|"))
            cues.update(max(words, key=len) for words in choices if cues.isdisjoint(words))
        for first, between, second in _WRITTEN_TOGETHER.findall(written):
            before = (*places.get(first, ()), *_WHOLE_WORD.findall(between))
            cues.update(map("".join, product(before, places.get(second, ()))))
    return frozenset((*cues, *(f"{cue}s" for cue in cues)))


def _escaped(word: str) -> str:
    """A word as a pattern; one of several words keeps its blanks, for which any white space may stand."""
    return re.escape(word).replace("\\ ", " ")


def _choice(words: Any) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _fill(form: str, choices: Mapping[str, str], place: int) -> str:
    """The regular expression of a form, whose groups are named after the words they hold and its `place`."""

    def group(match: re.Match[str]) -> str:
        name = match[1]
        return f"(?P<{name}_{place}>{_NUMBERED.get(name) or choices[name]})"

    return _PLACE.sub(group, form)


def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(_spaced(form), re.IGNORECASE)


def _spaced(form: str) -> str:
    """The form with any white space for a space, but for one in a look behind, whose length is fixed."""
    parts = re.split(r"(\(\?<![^)]*\))", form)
    spaced = [
        part if part.startswith("(?<!") else part.replace(" ?", r"\s*").replace(" ", r"\s+") for part in parts
    ]
    return "".join(spaced)


def _compile(forms: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: _pattern(form) for name, form in forms.items()}


def _relations(forms: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    """Patterns of what stands right before a phrase; `and` of what alone stands between two."""
    articles = "|".join(Language.gather("times.articles"))
    before = {name: _pattern(rf"(?<!\w)(?:{form})(?: (?:{articles}))?\s*$") for name, form in forms.items()}
    return {**before, "and": _pattern(rf"\s*(?:{forms['and']})(?: (?:{articles}))?\s*$")}
