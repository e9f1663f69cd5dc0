"""Reads what somebody says of themselves: a name, a role, and what others are to them. Pure.

Only the writer's own words count: quoted, cited and pasted text says nothing of the writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from orchestration.appraisal.names import QUOTED, first_names, name_language, name_patterns, own_words, read_names
from orchestration.appraisal.speech import own_text
from substrate.language.languages import DEFAULT_LANGUAGE, Language, NameWords
from substrate.language.text import name_key

MOST_READ: Final = 4000
"""At most this many characters of a text are searched for statements: nobody introduces themselves later."""
LONGEST_ROLE: Final = 60
_OPENED: Final = re.compile(r"(?:\A|\W)['‘\"](?=\w)[^\"]{0,12}\Z")
_INTRODUCED: Final = re.compile(
    r"(?:^|[.!?\n]\s{1,9})(?P<name>[^\W\d_a-z][\w'-]+ [^\W\d_a-z][\w'-]+), "
    r"(?:an? )?(?P<role>[a-z][\w-]*(?: [a-z][\w-]*)?)\b"
)
"""`Gord Halloran, joiner`: a sentence that is a name and a role."""


class Statement(NamedTuple):
    """`kind` is `name`, `role`, or `hint` for a role that follows from what was said; `value` as it was said."""

    kind: str
    value: str


def read_statements(text: str, otherwise: str = DEFAULT_LANGUAGE) -> list[Statement]:
    """What a text says of its writer: names, then roles, each in the order of the text."""
    if not _may_state().search(text[:MOST_READ]):
        return []
    language = Language.of(name_language(text, otherwise))
    own = own_words(own_text(text[:MOST_READ], language))
    own = QUOTED.sub(lambda found: " " * len(found[0]), own)
    found: list[Statement] = []
    for pattern in name_patterns(language.code).own_names:
        for said in pattern.finditer(own):
            name = _own_name(said["name"], language)
            if name is not None and not _is_cited(own, said.start("name")):
                found.append(Statement("name", name))
    found += _roles(own, language)
    for said in _INTRODUCED.finditer(own):
        role = _up_to(_until_end(said["role"], language.names), language.names.occupations, ())
        name = _own_name(said["name"], language)
        if role is not None and name is not None and role.islower():
            found += (Statement("name", name), Statement("role", role))
    return list(dict.fromkeys(found))


@cache
def _may_state() -> re.Pattern[str]:
    """What one of the words is of a text, in any language, that says something of its writer."""
    signs = [language.names.may_state for language in Language.all()]
    return re.compile(rf"{'|'.join(signs)}|,", re.IGNORECASE)


@cache
def _supposed() -> re.Pattern[str]:
    """What stands before a statement that is only supposed or cited, in any language."""
    words = [language.names.supposed for language in Language.all()]
    return re.compile(rf"\b(?:{'|'.join(words)})\W+\Z", re.IGNORECASE)


def states_something(text: str, otherwise: str = DEFAULT_LANGUAGE) -> bool:
    """True when a text says who its writer is."""
    return bool(read_statements(text, otherwise))


def read_relations(text: str, otherwise: str = DEFAULT_LANGUAGE) -> dict[str, str]:
    """What people are to the writer, by the comparable form of their names: `anna` is the `sister`."""
    mentions = read_names(text[:MOST_READ], name_language(text, otherwise))
    return {name_key(mention.name): mention.relation for mention in mentions if mention.relation}


def _own_name(said: str, language: Language) -> str | None:
    """The name without words that are none; None when nothing is left or it is a word of another kind."""
    names, kept = language.names, list[str]()
    for word in said.split():
        key = word.lower()
        if key in names.never or key in names.occupations or key in names.function_words:
            break
        kept.append(word)
    if not kept or kept[0].lower() in names.places or kept[0].lower() in names.relations:
        return None
    if not names.have_capitals and kept[0].lower() not in first_names(language.code) and len(kept) > 1:
        return None
    return " ".join(kept)


def _is_cited(own: str, start: int) -> bool:
    """True soon after an opening quotation mark: somebody else says it. An apostrophe opens nothing."""
    return _OPENED.search(own[max(0, start - 14) : start]) is not None


def _roles(own: str, language: Language) -> Iterator[Statement]:
    for pattern in name_patterns(language.code).own_roles:
        for found in pattern.finditer(own):
            group = str(found.lastgroup)
            role = _role(found[group], group, language.names)
            supposed = _supposed().search(own[max(0, found.start() - 20) : found.start()])
            if role is not None and supposed is None and not _is_cited(own, found.start()):
                yield Statement("hint" if group.startswith("is_") else "role", role)


def _role(said: str, group: str, names: NameWords) -> str | None:
    kept = _until_end(said, names)
    if group.startswith("is_"):
        return group.removeprefix("is_")
    if group == "runs":
        business = _up_to(kept, names.businesses, ())
        return None if business is None else f"{names.runs}{business}"
    if group == "does":
        verb, *what = said.split()
        return " ".join((names.trades[verb.lower()], *what))
    if group == "teaches":
        return "teacher"
    return _up_to(kept, names.occupations, names.occupation_suffixes)


def _until_end(said: str, names: NameWords) -> list[str]:
    kept: list[str] = []
    for word in said[:LONGEST_ROLE].split():
        if word.lower() in names.role_ends:
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
