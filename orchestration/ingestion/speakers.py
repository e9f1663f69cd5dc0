"""The speakers of a conversation: which stored person each is, and since when that person is known.

The id of a person folds accents. Somebody whose name has other accents is another person and gets another id;
case and width make no difference.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.identifiers import accented_name, person_ids
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.parsed import Ingestible
from schemas.commands import Correct, Remember, WriteReceipt
from schemas.memory import Level, Source
from schemas.temporal import Instant, long_date, to_instant
from substrate.graphs.names import graph_name
from substrate.store import reader

TRIES: Final = 8
"""Others may meet the same person at the same time; each meeting is a change of one record."""


MAX_NOTES: Final = 50


class SpeakerIds(NamedTuple):
    """The id of each speaker by name, and notes on names that are spelt otherwise."""

    ids: Mapping[str, str]
    notes: tuple[str, ...] = ()


def identify_speakers(speakers: Sequence[str], known: Mapping[str, Sequence[str]]) -> SpeakerIds:
    """Match speakers with stored people. `known`: every name that a person had, by the person's id. Pure."""
    names_by_id = {person: list(names) for person, names in known.items()}
    ids: dict[str, str] = {}
    notes: list[str] = []
    for speaker in speakers:
        plain, other = person_ids(speaker)
        names = names_by_id.setdefault(plain, [speaker])
        same = accented_name(speaker) in map(accented_name, names)
        ids[speaker] = plain if same else other
        if not same:
            notes.append(
                f"speaker {speaker} is not taken for {names[0]} ({plain}): the accents differ; it is {other}"
            )
        elif not _is_spelt_alike(speaker, names):
            notes.append(f"speaker {speaker} is taken for {names[0]} ({plain}), whose name is written otherwise")
    rest = [f"and {len(notes) - MAX_NOTES} more speakers like these"] if len(notes) > MAX_NOTES else []
    return SpeakerIds(ids, (*notes[:MAX_NOTES], *rest))


def _is_spelt_alike(name: str, others: Iterable[str]) -> bool:
    return unicodedata.normalize("NFC", name) in {unicodedata.normalize("NFC", other) for other in others}


async def met(item: Ingestible, deps: Deps) -> tuple[Ingestible, tuple[str, ...]]:
    """The conversation with its speakers told from those who are only called alike, and notes on them.

    Anything else stays as it is.
    """
    if not isinstance(item, Episode):
        return item, ()
    speakers = speakers_of(item)
    graph = graph_name(Level.N1, item.citizen_id)
    known: dict[str, list[str]] = {}
    if await deps.graphs.for_reading(graph):
        known = await reader.names_of(deps.graph(graph), [person_ids(name)[0] for name in speakers])
    identified = identify_speakers(speakers, known)
    return replace(item, people=identified.ids), identified.notes


async def known_since(persons: Sequence[Remember], deps: Deps, now: Instant) -> list[str]:
    """Let people who exist hold from when they are met here, where that is earlier; what could not be done.

    That they were there is learnt now: the record is corrected, and what was known before stays. Done again,
    nothing changes.
    """
    failed = []
    for person in persons:
        if person.id is not None and person.valid_at is not None:
            failure = await _since(person, person.id, person.valid_at, (deps, now))
            if failure is not None:
                failed.append(
                    f"{person.id} was met on {long_date(person.valid_at)} and holds from later on: {failure}"
                )
    return failed


async def _since(person: Remember, person_id: str, met: datetime, given: tuple[Deps, Instant]) -> str | None:
    deps, now = given
    graph = graph_name(person.level, person.citizen_id)
    for _ in range(TRIES):
        known = await reader.known_since(deps.graph(graph), person_id)
        if known is None or known.since <= to_instant(met):
            return None
        if not known.carried:
            return "it has changed since; correct its first record"
        command = Correct(
            citizen_id=person.citizen_id,
            level=person.level,
            id=person_id,
            valid_at=met,
            expected_version=known.version,
            source=Source.INGESTION,
        ).written_by(person.writer)
        receipt = (await insertion.apply([command], deps, now))[0]
        if receipt.problem != "conflict":
            return _failure(receipt)
    return "others keep changing it"


def _failure(receipt: WriteReceipt) -> str | None:
    return None if receipt.status == "stored" else "; ".join(receipt.faults)


def speakers_of(episode: Episode) -> list[str]:
    """The names of those who speak, in the order in which they first do."""
    return list(dict.fromkeys(turn.speaker for session in episode.sessions for turn in session.turns))
