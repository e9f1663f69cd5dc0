"""People who are met again: somebody who speaks in an earlier conversation was there by then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from orchestration import insertion
from orchestration.deps import Deps
from orchestration.episodes import long_date
from schemas.commands import Correct, Remember, WriteReceipt
from schemas.memory import Source
from schemas.temporal import Instant, to_instant
from substrate import reader
from substrate.graph_schema import graph_name

TRIES: Final = 8
"""Others may meet the same person at the same time; each meeting is a change of one record."""


async def known_since(people: Sequence[Remember], deps: Deps, now: Instant) -> list[str]:
    """Let people who exist hold from when they are met here, where that is earlier; what could not be done.

    That they were there is learnt now: the record is corrected, and what was known before stays. Done again,
    nothing changes.
    """
    failed = []
    for person in people:
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
        known = await reader.known_since(deps.connection, graph, person_id)
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
