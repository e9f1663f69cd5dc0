"""The words by which a language names people, places and things, from its file in `languages/`. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from orchestration.appraisal.languages import CODES

MOST_READ: Final = 2000
"""Only so many characters of a text decide its language."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_LISTS: Final = (
    "function_words", "never", "first_names", "ambiguous_names", "relations", "people_nouns", "titles",
    "person_verbs", "person_leads", "place_leads", "place_suffixes", "places", "organisation_suffixes",
    "occupations", "businesses", "role_ends",
)  # fmt: skip
_CHOICES: Final = (
    "called", "my", "project_cues", "product_cues", "leading_the", "occupation_suffixes",
)  # fmt: skip
# Without its bound, which is above the longest name, a word without end takes the square of its length.
_CAPITALISED: Final = r"[^\W\d_a-zß-öø-ÿ][\w'’-]{0,100}\w"
_NAME: Final = rf"(?<!\w){_CAPITALISED}(?: {_CAPITALISED}){{0,2}}(?!\w)"
_ROLE: Final = r"[^\W\d_][\w-]*(?: (?:of )?[^\W\d_][\w-]*){0,4}"
_NOUN: Final = r"[^\W\d_a-zß-öø-ÿ][\w-]+"


@dataclass(frozen=True, slots=True)
class NameData:
    """The words of a language. `words`: named sets. `choices`: named alternatives. `cues`: compiled patterns.
    `runs`: what stands before a business in the role of its owner. `trades`: what one does for a living, as one
    says it of oneself and as it is said of somebody: `build`, `builds`.

    `nouns_have_capitals`: a capital is no sign of a name.
    """

    code: str
    runs: str
    trades: Mapping[str, str]
    nouns_have_capitals: bool
    words: Mapping[str, frozenset[str]]
    choices: Mapping[str, Sequence[str]]
    cues: Mapping[str, re.Pattern[str]]
    alias_statements: Sequence[re.Pattern[str]]
    name_statements: Sequence[re.Pattern[str]]
    role_statements: Sequence[re.Pattern[str]]


@cache
def name_data(code: str) -> NameData:
    """The words of the language with this code. Raises FileNotFoundError for one without a file."""
    path = resources.files("orchestration.appraisal").joinpath("languages", f"names_{code}.toml")
    table = tomllib.loads(path.read_text("utf-8"))
    words = {name: frozenset(table[name].split()) for name in _LISTS}
    if code != CODES[0]:
        words["first_names"] |= name_data(CODES[0]).words["first_names"]
    trades, workplaces = table["trades"], sorted(words["organisation_suffixes"] | words["businesses"])
    any_trade, any_workplace = "|".join(trades), "|".join(map(re.escape, workplaces))
    roles = (
        text.replace("TRADE", any_trade).replace("WORKPLACE", any_workplace) for text in table["role_statements"]
    )
    return NameData(
        code,
        runs=table["runs"],
        trades=trades,
        nouns_have_capitals=code == "de",
        words=words,
        choices={name: tuple(table[name].split("|")) for name in _CHOICES},
        cues={
            "place": re.compile(rf"\b(?:{table['place_cues'].strip()}) (?:the )?$", re.IGNORECASE),
            "organisation": re.compile(rf"\b(?:{table['organisation_cues']}) (?:the )?$", re.IGNORECASE),
            "from_work": re.compile(rf" (?:from|von|aus) (?:{table['from_work']})\b", re.IGNORECASE),
            "title": re.compile(rf"\b(?:{table['title_cues']}):? $", re.IGNORECASE),
        },
        alias_statements=_patterns(table["alias_statements"]),
        name_statements=_patterns(table["name_statements"]),
        role_statements=_patterns(roles),
    )


def _patterns(texts: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """The patterns with NAME, ROLE and NOUN filled in; all but the names are read whatever the case."""
    filled = (text.strip().replace("NAME", _NAME).replace("ROLE", _ROLE).replace("NOUN", _NOUN) for text in texts)
    return tuple(re.compile(_any_case(text)) for text in filled)


def _any_case(pattern: str) -> str:
    """The pattern, read whatever the case outside its groups."""
    head, mark, rest = pattern.partition("(?P<")
    bare = re.sub(r"\\.|\[[^\]]*\]", "", head)
    return f"(?i:{head}){mark}{rest}" if bare.count("(") == bare.count(")") else pattern


def language_of(text: str, otherwise: str = CODES[0]) -> str:
    """The code of the language whose frequent words a text has most of; `otherwise` when it has none."""
    found = _WORD.findall(text[:MOST_READ].lower())
    counts = {code: sum(map(name_data(code).words["function_words"].__contains__, found)) for code in CODES}
    best = max(CODES, key=lambda code: counts[code])
    return best if counts[best] > 0 else otherwise
