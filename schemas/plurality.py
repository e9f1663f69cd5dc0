"""Asking for plural candidates: the recent, the older that match, and some by chance (the plural retriever)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from schemas.base import Request, Unit, Whole

Candidates = Annotated[Whole, Field(ge=0, le=100)]
Days = Annotated[float, Field(strict=True, gt=0.0, le=36_500.0, allow_inf_nan=False)]


class Plurality(Request):
    """How many candidates each pool gives, and how the answer is spread over time (004).

    Pool A: the `recent` newest of the last `recent_days`. Pool B: of what is older, the `matching` most important
    that hold the words asked for. Pool C: of what is older, `chance` drawn by lot, the same for the same request.
    At most `per_week` of one ISO week come first in each tier, then it is filled. Recency halves after
    `half_life_days`. A memory counts with at least `importance_floor`, however low it was recorded.
    """

    recent: Candidates = 30
    matching: Candidates = 15
    chance: Candidates = 5
    recent_days: Days = 7.0
    per_week: Annotated[Whole, Field(ge=1, le=100)] = 2
    half_life_days: Days = 30.0
    importance_floor: Unit = 0.3


class Plural(Request):
    """Any way of asking: `plurality` adds candidates that are recent, older or drawn by chance, and spreads the
    answer over weeks; `{}` asks for it as usual.
    """

    plurality: Plurality | None = None
