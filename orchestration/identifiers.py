"""Ids made from what a thing is: of people, of links, and of any text. Pure."""

from __future__ import annotations

import unicodedata
from hashlib import blake2b
from typing import Final

from substrate.store.rows import LinkName
from substrate.text import name_key

MAX_IDENTIFIER: Final = 200
_DIGEST_BYTES: Final = 10


def identifier(text: str) -> str:
    """A valid id close to `text`: characters that no id may hold are replaced, and a digest keeps it unique."""
    plain = "".join("_" if char in "|\n\r\t" or not char.isprintable() else char for char in text)
    if plain == text and len(text) <= MAX_IDENTIFIER and text == text.strip() != "":
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{plain[: MAX_IDENTIFIER - 2 * _DIGEST_BYTES - 1].strip()}~{digest}"


def person_id(name: str) -> str:
    """The id of a person: the same in every episode of a citizen. Accents, case and width make no difference."""
    key = name_key(name).replace(" ", "_")
    return identifier(f"person:{key}" if key else f"person:{name}")


def person_ids(name: str) -> tuple[str, str]:
    """The id of a person of this name, and the id where the first belongs to a name with other accents."""
    plain = person_id(name)
    digest = blake2b(accented_name(name).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return plain, identifier(f"{plain}~{digest}")


def accented_name(name: str) -> str:
    """A name with its accents, without differences of case, width and spaces: equal for one person's names."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def natural_id(source_id: str, relation_type: str, target_id: str) -> str:
    """The id of a link that was given none; such a link is found through its ends."""
    return f"{source_id}|{relation_type}|{target_id}"


def handle(link_id: str) -> int:
    """The number, below 2**53, under which a link with an id of its own is indexed."""
    return int.from_bytes(blake2b(link_id.encode(), digest_size=8).digest()) >> 11


def link_name(link_id: str) -> LinkName:
    """How to find the link with this id: by its ends if the id is `natural_id`, else by its handle."""
    parts = link_id.split("|")
    if len(parts) == 3:
        return LinkName(link_id, (parts[0], parts[2]), None)
    return LinkName(link_id, None, handle(link_id))
