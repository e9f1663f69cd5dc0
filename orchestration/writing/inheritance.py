"""Gives links that the service makes the feelings, energy and state of the memories at their ends. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from schemas.base import without_nulls
from schemas.memory import STORED_DEFAULTS, ResolutionState
from substrate.emotions import normal_emotions

type Content = Mapping[str, Any]
"""The content of a memory in stored form; columns may be absent or None."""

LEAST_FINISHED: Final = (
    ResolutionState.BLOCKED.value,
    ResolutionState.IN_PROGRESS.value,
    ResolutionState.RESOLVED.value,
)
"""Of two ends, the state that comes first here is that of the link."""


def inherit(row: Mapping[str, Any], ends: Sequence[Content]) -> dict[str, Any]:
    """The row of a new link with what it takes from its ends; `unset` names these fields.

    Emotions: all of both ends, the higher intensity of each. State: the least finished. Energy: the one farthest
    from the default, because a memory whose words tell none has that. Where no end has a value, the row keeps its
    own.
    """
    inherited = {
        "emotion_vector": _emotions(ends),
        "resolution_state": _state(ends),
        "energy": _energy(ends),
    }
    taken = without_nulls(inherited)
    unset = dict.fromkeys((*(row.get("unset") or "").split(","), *taken))
    return {**row, **taken, "unset": ",".join(filter(None, unset)) or None}


def _emotions(ends: Sequence[Content]) -> str | None:
    strongest: dict[str, float] = {}
    for end in ends:
        for name, intensity in normal_emotions(orjson.loads(end.get("emotion_vector") or "{}")).items():
            strongest[name] = max(intensity, strongest.get(name, 0.0))
    return orjson.dumps(strongest).decode() if strongest else None


def _state(ends: Sequence[Content]) -> str | None:
    states = {end.get("resolution_state") for end in ends}
    return next((state for state in LEAST_FINISHED if state in states), None)


def _energy(ends: Sequence[Content]) -> float | None:
    default = STORED_DEFAULTS["energy"]
    energies = [float(end["energy"]) for end in ends if end.get("energy") is not None]
    farthest = max(energies, key=lambda energy: (abs(energy - default), energy), default=default)
    return None if farthest == default else farthest
