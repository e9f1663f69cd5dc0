"""What was computed of the records behind an answer, kept with them in this process for other answers. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class KeptValues:
    """For each memory and link that is shown, the values that follow from its record alone, by name.

    Each is known by its identity: of a copy with other fields nothing is kept. A value is shared by all answers of
    the process and must not be changed.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[int, tuple[object, dict[str, Any]]] = {}  # holds what is shown, so that ids stay its own

    def add(self, shown: object, values: dict[str, Any]) -> None:
        """Keep what is computed of a memory or link in `values`, where its record has it."""
        self._kept[id(shown)] = (shown, values)

    def of[Shown, Value](self, name: str, shown: Shown, make: Callable[[Shown], Value]) -> Value:
        """The value of this name; `make` computes it where it is missing, from the record alone."""
        kept = self._kept.get(id(shown))
        if kept is None:
            return make(shown)
        found: Value | None = kept[1].get(name)
        if found is None:
            found = kept[1][name] = make(shown)
        return found


NOTHING_KEPT: Final = KeptValues()
"""For records of which nothing is kept: everything is computed."""
