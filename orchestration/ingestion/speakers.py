"""Matches the speakers of a conversation with stored people, and corrects since when those are known.

The id of a person ignores accents. A speaker whose name has other accents than the stored one is another person
and gets another id. Case and width make no difference.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.identifiers import accented_name, person_ids
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.reader import Ingestible
from schemas.commands import Correct, Remember
from schemas.memory import Source, graph_fields
from schemas.temporal import Instant, long_date, to_instant
from substrate.graphs.names import graph_name
from substrate.store import reader

TRIES: Final = 8
"""Attempts to correct a record, because other ingestions may correct it at the same time."""
MAX_NOTES: Final = 50


class SpeakerIds(NamedTuple):
    """The id of each speaker by name, and notes on names with another spelling."""

    ids: Mapping[str, str]
    notes: tuple[str, ...] = ()


def identify_speakers(speakers: Sequence[str], known: Mapping[str, Sequence[str]]) -> SpeakerIds:
    """Match speakers with stored people. `known` has every name that a person had, by the person's id. Pure."""
    names_by_id = {person: list(names) for person, names in known.items()}
    composed = partial(unicodedata.normalize, "NFC")
    ids: dict[str, str] = {}
    notes: list[str] = []
    for speaker in speakers:
        plain, other = person_ids(speaker)
        names = names_by_id.setdefault(plain, [speaker])
        same = accented_name(speaker) in map(accented_name, names)
        ids[speaker] = plain if same else other
        if not same:
            notes.append(f"speaker {speaker} is not {names[0]} ({plain}), because the accents differ, but {other}")
        elif composed(speaker) not in map(composed, names):
            notes.append(f"speaker {speaker} is taken for {names[0]} ({plain}), although the spelling differs")
    rest = [f"and {len(notes) - MAX_NOTES} more speakers like these"] if len(notes) > MAX_NOTES else []
    return SpeakerIds(ids, (*notes[:MAX_NOTES], *rest))


async def resolve_speakers(item: Ingestible, deps: Deps) -> tuple[Ingestible, tuple[str, ...]]:
    """Give the speakers of an episode the ids of stored people; other items stay. Returns notes on them too."""
    if not isinstance(item, Episode):
        return item, ()
    speakers = list(dict.fromkeys(turn.speaker for session in item.sessions for turn in session.turns))
    graph = item.graph_name
    known: dict[str, list[str]] = {}
    if await deps.graphs.for_reading(graph):
        known = await reader.read_names(deps.graph(graph), [person_ids(name)[0] for name in speakers])
    identified = identify_speakers(speakers, known)
    return replace(item, people=identified.ids), identified.notes


async def backdate_persons(persons: Sequence[Remember], deps: Deps, now: Instant) -> list[str]:
    """Correct the start of each stored person to the time at which they speak here, if that is earlier.

    That is nobody's statement, so whoever feeds a shared graph may: the rule of trust keeps what a citizen said.
    Returns a warning for each person whose record could not be corrected. The old records stay in the history; a
    second call changes nothing.
    """
    warnings = []
    for person in persons:
        if person.id is not None and person.valid_at is not None:
            failure = await _backdate(person, person.id, person.valid_at, deps=deps, now=now)
            if failure is not None:
                warnings.append(
                    f"{person.id} spoke on {long_date(person.valid_at)} but is stored from a later time: {failure}"
                )
    return warnings


async def _backdate(person: Remember, person_id: str, start: datetime, *, deps: Deps, now: Instant) -> str | None:
    """Return None, or the reason of the failure."""
    graph = graph_name(person.graph_key, person.citizen_id)
    for _ in range(TRIES):
        known = await reader.known_since(deps.graph(graph), person_id)
        if known is None or known.since <= to_instant(start):
            return None
        if not known.carried:
            return "it has changed since; correct its first record"
        command = Correct(
            citizen_id=person.citizen_id,
            **graph_fields(person.graph_key),
            id=person_id,
            valid_at=start,
            expected_version=known.version,
            source=Source.INGESTION,
        ).with_writer(person.writer._replace(steward=True))
        receipt = (await insertion.apply([command], deps, now))[0]
        if receipt.problem != "conflict":
            return None if receipt.status == "stored" else "; ".join(receipt.faults)
    return "other writers changed it at each attempt"
