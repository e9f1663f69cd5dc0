"""What a text says, or does not: junk, essays instead of emotions, the content of duplicates. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from orchestration.appraisal.text_signals import read_emotions
from orchestration.writing.records import SPOKEN_TYPES
from substrate.text import normal_text, words

LONGEST_EMOTION: Final = 40
MOST_WORDS: Final = 4
TRIVIAL_WORDS: Final = 6
"""A turn with fewer words is said again without being a duplicate: `Yes, of course.`"""
NAMED_TYPES: Final = frozenset(
    (
        "Person",
        "Concept",
        "Entity",
        "Place",
        "Organization",
        "Project",
        "Topic",
        "Tool",
        "Tag",
        "Session",
        "Document",
    )
)
"""Types whose memories are things: a name is all that one of them need say."""
PLACEHOLDERS: Final = frozenset(("none", "null", "undefined", "nan", "n/a", "nil", "[object object]", "{}", "[]"))
EMPTY: Final = "it says nothing: no text, or a placeholder such as None"
EMPTY_BESIDE_NAME: Final = "its description is a placeholder such as None"
ONE_WORD: Final = "it is one word, with no description, that nothing explains"


class Said(NamedTuple):
    """The texts of a memory by which junk is told."""

    name: str
    description: str
    speaker: str | None
    node_type: str


def _blank(text: str) -> bool:
    return not any(char.isprintable() and not char.isspace() for char in text)


def placeholder(text: str) -> bool:
    """Whether the text is what a program writes when it has nothing to write."""
    return text.strip().lower() in PLACEHOLDERS


def junk(said: Said, *, linked: bool) -> str | None:
    """Why the memory says nothing; None when it says something (002, known problem 3)."""
    if said.speaker or said.node_type in SPOKEN_TYPES:
        spoken = said.description if said.speaker else said.description or said.name
        return EMPTY if _blank(spoken) or placeholder(spoken) else None
    nameless = _blank(said.name) or placeholder(said.name)
    if _blank(said.description) or (nameless and placeholder(said.description)):
        return EMPTY if nameless else _one_word(said, linked=linked)
    return EMPTY_BESIDE_NAME if placeholder(said.description) else None


def _one_word(said: Said, *, linked: bool) -> str | None:
    named = said.node_type in NAMED_TYPES or (linked and said.node_type != "Memory")
    return None if named or len(words(said.name)) != 1 else ONE_WORD


class Shortened(NamedTuple):
    """An emotion map with short names, the essays that it held, and what to say of it."""

    emotions: dict[str, float]
    essays: tuple[str, ...]
    message: str


def is_essay(name: str) -> bool:
    """Whether the name of an emotion is a text: over 40 characters or over 4 words."""
    return len(name) > LONGEST_EMOTION or len(name.split()) > MOST_WORDS


def shortened_emotions(felt: Any) -> Shortened | None:
    """The map with the emotions that its essays name in their place; None when it has no essay."""
    if not isinstance(felt, Mapping):
        return None
    essays = tuple(name for name in felt if is_essay(name))
    if not essays:
        return None
    short = {name: float(intensity) for name, intensity in felt.items() if name not in essays}
    for essay in essays:
        for name in read_emotions(essay):
            short[name] = max(short.get(name, 0.0), float(felt[essay]))
    named = f"it names {', '.join(sorted(short))}" if short else "no emotion is named in it"
    return Shortened(short, essays, f"an emotion is a text of {len(essays[0])} characters; {named}")


def joined(said: str | None, essays: Sequence[str], most: int) -> str:
    """What was said already, and the essays behind it: nothing that was written is lost."""
    return "; ".join((*([said] if said else ()), *essays))[:most]


def content_key(said: Said) -> str | None:
    """The normal form of a memory's content; None when it is too little to tell duplicates by.

    Where only a name says it, the type counts too: a person and a tool may be called the same.
    """
    text = _plain(said.description)
    spoken = bool(said.speaker) or said.node_type in SPOKEN_TYPES
    if spoken and len(text.split()) < TRIVIAL_WORDS:
        return None
    kind = "" if text else said.node_type
    return f"{_plain(said.name)}\n{text}\n{_plain(said.speaker or '')}\n{kind}"


def _plain(text: str) -> str:
    return " ".join((text.lower() if text.isascii() else normal_text(text)).split())


def digest(key: str) -> int:
    """A content in 63 bits."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) >> 1


def command_id(why: str, identity: str, version: int) -> str:
    """The id of a repairing command: the same repair of the same record is applied once."""
    seen = blake2b(f"{identity}\n{version}".encode(), digest_size=8).hexdigest()
    return f"repair-{why}-{seen}"


def long_digest(key: str) -> bytes:
    """A content in 128 bits: equal digests are equal contents."""
    return blake2b(key.encode(), digest_size=16).digest()
