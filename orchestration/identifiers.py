"""Ids derived from content: of people, of links, and of any text. Pure."""

from __future__ import annotations

import unicodedata
from hashlib import blake2b
from typing import Final

from substrate.language.text import name_key
from substrate.store.rows import LinkName

MAX_IDENTIFIER: Final = 200
PERSON: Final = "person:"
"""With what the id of a person begins."""
_DIGEST_BYTES: Final = 10
JUDGEMENT: Final = "revaluation-"
"""The beginning of the id of a command that judges the importance of a memory anew."""


def identifier(text: str) -> str:
    """Return a valid id close to `text`: invalid characters are replaced, and a digest keeps the id unique."""
    if text.isprintable() and "|" not in text and len(text) <= MAX_IDENTIFIER and text == text.strip() != "":
        return text
    plain = "".join("_" if char == "|" or not char.isprintable() else char for char in text)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{plain[: MAX_IDENTIFIER - 2 * _DIGEST_BYTES - 1].strip()}~{digest}"


def ingestion_id(name: str) -> str:
    """Return the id of the command that ingests the conversation or file of this name, without revealing it.

    It stays where the name must not: in logs, and in records of people whom other conversations name too.
    """
    return f"ingest:{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=_DIGEST_BYTES).hexdigest()}"


def person_id(name: str) -> str:
    """Return the id of a person, the same in every episode. Accents, case and width make no difference."""
    key = name_key(name).replace(" ", "_")
    return identifier(f"{PERSON}{key or name}")


def person_ids(name: str) -> tuple[str, str]:
    """Return the id of a person, and the id to use when a person with other accents has the first one."""
    plain = person_id(name)
    digest = blake2b(accented_name(name).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return plain, identifier(f"{plain}~{digest}")


def accented_name(name: str) -> str:
    """Return a name with its accents, but without differences of case, width and spaces, to compare names."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def natural_id(source_id: str, relation_type: str, target_id: str) -> str:
    """Return the id of a link that was stored without one; such a link is found through its ends."""
    return f"{source_id}|{relation_type}|{target_id}"


def handle(link_id: str) -> int:
    """Return the number, below 2**53, by which a link with its own id is indexed."""
    return int.from_bytes(blake2b(link_id.encode(), digest_size=8).digest()) >> 11


def link_name(link_id: str) -> LinkName:
    """Return the name by which a link is found: its ends if its id is a `natural_id`, else its handle."""
    parts = link_id.split("|")
    if len(parts) == 3:
        return LinkName(link_id, (parts[0], parts[2]), None)
    return LinkName(link_id, None, handle(link_id))


def copy_id(graph: str, record_id: str) -> str:
    """The id of the copy of a memory, or of a link with an id of its own, of the graph with this name."""
    return f"s_{blake2b(f'{graph}\n{record_id}'.encode(), digest_size=10).hexdigest()}"


def is_judgement(command_id: str | None) -> bool:
    """Whether the id of a command is that of a judgement."""
    return command_id is not None and command_id.startswith(JUDGEMENT)
