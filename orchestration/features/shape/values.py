"""Three perspectives on one question, which share no memory (004)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from schemas.base import AtMost, CitizenId, Frozen, Identifier, Name, Whole
from schemas.intention import ALL_LEVELS, Filtered, QueryText, check_not_blank
from schemas.memory import Level
from schemas.temporal import AskedMoment, KnownMoment
from schemas.wave_signal import Resonance


class Look(Filtered):
    """A question to be looked at by meaning, by shape and by feeling.

    `id`: the memory whose shape is sought; without it that which is nearest in meaning and has a shape. `emotion`:
    the feeling sought; without it that of the words of the question, else that of this memory. `each`: how many
    memories of each perspective, at most.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"citizen_id": "ada", "query_text": "Why did we turn back?", "each": 3}]}
    )

    citizen_id: CitizenId
    query_text: QueryText
    id: Identifier | None = None
    emotion: Annotated[Name, AfterValidator(check_not_blank)] | None = None
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    query_levels: Annotated[tuple[Level, ...], Field(min_length=1), AtMost(16)] = ALL_LEVELS
    each: Annotated[Whole, Field(ge=1, le=20)] = 3


class Perspectives(Frozen):
    """What each perspective shows, best first; no memory stands in two of them.

    `probe`: the memory whose shape was sought. `emotion`: the feeling that was sought. `notes` say why a
    perspective shows nothing.
    """

    citizen_id: str
    probe: str | None = None
    emotion: str | None = None
    by_meaning: tuple[Resonance, ...] = ()
    by_shape: tuple[Resonance, ...] = ()
    by_feeling: tuple[Resonance, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
