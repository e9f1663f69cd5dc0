"""Whether a speaker is somebody who is known: by the name as it is written, accents included. Pure.

The id of a person folds accents, so that it is plain. Whoever is called alike but written with other accents is
another person, and has another id; case and width make none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from substrate.text import name_key

MOST_NOTES: Final = 50

_MAX_IDENTIFIER = 200
_DIGEST = 10


class Met(NamedTuple):
    """Who the speakers of a conversation are: an id for each name, and notes on names written otherwise."""

    ids: Mapping[str, str]
    notes: tuple[str, ...] = ()


def identifier(text: str) -> str:
    """A valid id close to `text`: what an id may not hold is replaced, and a digest keeps it unique."""
    plain = "".join("_" if char in "|\n\r\t" or not char.isprintable() else char for char in text)
    if plain == text and len(text) <= _MAX_IDENTIFIER and text == text.strip() != "":
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()
    return f"{plain[: _MAX_IDENTIFIER - 2 * _DIGEST - 1].strip()}~{digest}"


def person_id(speaker: str) -> str:
    """The id of the person who speaks: the same in every episode of a citizen."""
    key = name_key(speaker).replace(" ", "_")
    return identifier(f"person:{key}" if key else f"person:{speaker}")


def written(name: str) -> str:
    """A name in the form in which two that are equal are one person's: whatever its case and width."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def ids_of(name: str) -> tuple[str, str]:
    """The id that a person of this name has, and the one where that is somebody's who is written otherwise."""
    plain = person_id(name)
    digest = blake2b(written(name).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return plain, identifier(f"{plain}~{digest}")


def told_apart(speakers: Sequence[str], known: Mapping[str, Sequence[str]]) -> Met:
    """Who the speakers are. `known` has, by the id of each person there is, every name that it had."""
    names = {person: list(had) for person, had in known.items()}
    ids: dict[str, str] = {}
    notes: list[str] = []
    for speaker in speakers:
        plain, other = ids_of(speaker)
        had = names.setdefault(plain, [speaker])
        same = written(speaker) in map(written, had)
        ids[speaker] = plain if same else other
        if not same:
            notes.append(
                f"speaker {speaker} is not taken for {had[0]} ({plain}): the accents differ; it is {other}"
            )
        elif not _spelt(speaker, had):
            notes.append(f"speaker {speaker} is taken for {had[0]} ({plain}), whose name is written otherwise")
    more = [f"and {len(notes) - MOST_NOTES} more speakers like these"] if len(notes) > MOST_NOTES else []
    return Met(ids, (*notes[:MOST_NOTES], *more))


def _spelt(name: str, others: Iterable[str]) -> bool:
    return unicodedata.normalize("NFC", name) in {unicodedata.normalize("NFC", other) for other in others}
