"""What a question says: its times, its words, and what it may see."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from schemas.temporal import END_OF_TIME, to_datetime, to_instant
from substrate.store.filters import UNFILTERED
from tests.oracle.held import Window, ever, moment, present
from tests.oracle.histories import NAMES, Act, Forget, Instant, Question
from tests.oracle.telling import Telling


class Asking(Telling):
    """Questions in outline become those that the engine is asked."""

    async def written(self, act: Act | None) -> None:
        """What is written while an answer is read page by page; nothing is forgotten: that is gone at once."""
        if act is not None and not isinstance(act, Forget):
            await self.live(act)

    def names(self, question: Question) -> list[str]:
        other = [] if question.other is None else [NAMES[question.other]]
        return list(dict.fromkeys([NAMES[question.who], *other]))

    def instant(self, instant: Instant) -> int:
        known = self.oracle.instants()
        return known[instant.place % len(known)] + instant.beside

    def known(self, question: Question) -> int | None:
        """The moment of knowing that the question names, if any; one to come may stand for all that is known."""
        known = None if question.known is None else self.instant(question.known)
        ahead = known is not None and known > self.oracle.clock
        return END_OF_TIME - 1 if ahead and question.widely else known

    def times(self, question: Question) -> dict[str, datetime]:
        """The times that the question names."""
        valid = self.instant(question.valid)
        known = None if question.known is None else self.instant(question.known)
        if question.mode == "point_in_time":
            known = self.known(question)
            if question.known_alone and known is not None:
                return {"known_at": to_datetime(known)}
            beside = {} if known is None else {"known_at": to_datetime(known)}
            return {"as_of_time": to_datetime(valid), **beside}
        if question.mode == "evolution":
            start, end = (valid, known) if known is None or valid < known else (known, valid)
            ranged = {"time_range_start": start, "time_range_end": None if end == start else end}
            return {name: to_datetime(at) for name, at in ranged.items() if at is not None}
        return {}

    def window(self, question: Question) -> Window:
        """The same as the oracle takes it."""
        times = {name: to_instant(at) for name, at in self.times(question).items()}
        if question.mode == "current":
            return present(self.now)
        if question.mode == "point_in_time":
            valid = times.get("as_of_time", self.now)
            return moment(valid, times.get("known_at", valid))
        return ever(times.get("time_range_start"), times.get("time_range_end"))

    def values(self, question: Question) -> dict[str, Any]:
        window = self.window(question)
        felt = {
            "min_energy": question.min_energy,
            "min_confidence": 0.0,
            "required_emotions": [],
            "emotions_needed": 0,
        }
        return {**window._asdict(), **felt, **UNFILTERED}

    def words_of(self, question: Question) -> str:
        return f"{question} at {self.window(question)}"
