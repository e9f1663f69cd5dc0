"""Reads what somebody says of themselves: a name, a role, and what others are to them. Pure.

Only the writer's own words count: quoted, cited and pasted text says nothing of the writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.languages import CODES, language
from orchestration.appraisal.name_data import NameData, language_of, name_data
from orchestration.appraisal.names import read_names
from orchestration.appraisal.own_words import QUOTED, own_words
from orchestration.appraisal.speech import own_text
from substrate.text import name_key

MOST_READ: Final = 4000
"""Only so many characters of a text are searched for statements: nobody introduces themselves later."""
LONGEST_ROLE: Final = 60
_SUPPOSED: Final = re.compile(
    r"\b(?:whether|if|like|unless|wish|pretend|imagine|thinks?|says?|said|told|when|ob|wenn|dass|als ob)\W+\Z",
    re.IGNORECASE,
)
_OPENED: Final = re.compile(r"(?:\A|\W)['‘\"](?=\w)[^\"]{0,12}\Z")
_MAY_STATE: Final = re.compile(
    r"\bi['’]?m\b|\bi\b|\bmy\b|\bour\b|\bcalls? me\b|\bthis is\b|\bhere\b|\bbeen an?\b|\bas an?\b"
    r"|\bich\b|\bmich\b|\bmein|\bunser|\bhier\b|\bals\b|\bcheers\b|\bthanks\b|\bregards\b|,",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """`kind` is `name`, `role`, or `hint` for a role that follows from what was said; `value` as it was said."""

    kind: str
    value: str


def read_statements(text: str, otherwise: str = CODES[0]) -> list[Statement]:
    """What a text says of its writer: names, then roles, each in the order of the text."""
    if not _MAY_STATE.search(text[:MOST_READ]):
        return []
    code = language_of(text, otherwise)
    data = name_data(code)
    own = own_words(own_text(text[:MOST_READ], language(code)))
    own = QUOTED.sub(lambda found: " " * len(found[0]), own)
    return list(dict.fromkeys((*_names(own, data), *_roles(own, data), *_introduced(own, data))))


def states_something(text: str, otherwise: str = CODES[0]) -> bool:
    """True when a text says who its writer is."""
    return bool(read_statements(text, otherwise))


def read_relations(text: str, otherwise: str = CODES[0]) -> dict[str, str]:
    """What people are to the writer, by the comparable form of their names: `anna` is the `sister`."""
    mentions = read_names(text[:MOST_READ], language_of(text, otherwise))
    return {name_key(mention.name): mention.relation for mention in mentions if mention.relation}


def _names(own: str, data: NameData) -> Iterator[Statement]:
    for pattern in data.name_statements:
        for found in pattern.finditer(own):
            name = _own_name(found["name"], data)
            if name is not None and not _is_cited(own, found.start("name")):
                yield Statement("name", name)


def _own_name(said: str, data: NameData) -> str | None:
    """The name without words that are none; None when nothing is left or it is a word of another kind."""
    kept = []
    for word in said.split():
        key = word.lower()
        if key in data.words["never"] or key in data.words["occupations"] or key in data.words["function_words"]:
            break
        kept.append(word)
    if not kept or kept[0].lower() in data.words["places"] or kept[0].lower() in data.words["relations"]:
        return None
    if data.nouns_have_capitals and kept[0].lower() not in data.words["first_names"] and len(kept) > 1:
        return None
    return " ".join(kept)


def _is_cited(own: str, start: int) -> bool:
    """True soon after an opening quotation mark: somebody else says it. An apostrophe opens nothing."""
    return _OPENED.search(own[max(0, start - 14) : start]) is not None


def _roles(own: str, data: NameData) -> Iterator[Statement]:
    for pattern in data.role_statements:
        for found in pattern.finditer(own):
            group = str(found.lastgroup)
            role = _role(found[group], group, data)
            supposed = _SUPPOSED.search(own[max(0, found.start() - 20) : found.start()])
            if role is not None and supposed is None and not _is_cited(own, found.start()):
                yield Statement("hint" if group.startswith("is_") else "role", role)


def _role(said: str, group: str, data: NameData) -> str | None:
    kept = _until_end(said, data)
    if group.startswith("is_"):
        return group.removeprefix("is_")
    if group == "runs":
        business = _up_to(kept, data.words["businesses"], ())
        return None if business is None else f"{data.runs}{business}"
    if group == "does":
        verb, *what = said.split()
        return " ".join((data.trades[verb.lower()], *what))
    if group == "teaches":
        return "teacher"
    return _up_to(kept, data.words["occupations"], data.choices["occupation_suffixes"])


def _until_end(said: str, data: NameData) -> list[str]:
    kept: list[str] = []
    for word in said[:LONGEST_ROLE].split():
        if word.lower() in data.words["role_ends"]:
            break
        kept.append(word)
    return kept


def _up_to(said: list[str], lasts: frozenset[str], endings: Sequence[str]) -> str | None:
    """The words up to the last one that ends a role; None when there is none."""
    suffixes = tuple(endings)
    for place in range(len(said) - 1, -1, -1):
        word = said[place].lower()
        parts = {word, word.rsplit("-", 1)[-1]}
        if parts & lasts or (suffixes and word.endswith(suffixes)):
            return " ".join(said[: place + 1])
    return None


def _introduced(own: str, data: NameData) -> Iterator[Statement]:
    """`Gord Halloran, joiner`: a sentence that is a name and a role."""
    for found in _INTRODUCED.finditer(own):
        role = _up_to(_until_end(found["role"], data), data.words["occupations"], ())
        name = _own_name(found["name"], data)
        if role is not None and name is not None and role.islower():
            yield Statement("name", name)
            yield Statement("role", role)


_INTRODUCED: Final = re.compile(
    r"(?:^|[.!?\n]\s{1,9})(?P<name>[^\W\d_a-z][\w'-]+ [^\W\d_a-z][\w'-]+), "
    r"(?:an? )?(?P<role>[a-z][\w-]*(?: [a-z][\w-]*)?)\b"
)
