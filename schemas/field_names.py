"""What the fields of a request may be called: other names, and names that are nearly those of fields. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, get_args

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ErrorType

type Names = Mapping[str, tuple[str, ...]]
"""For each other name the fields that it may stand for: the first that the request has."""

ALIASES: Final[Names] = {
    "text": ("description",),
    "query": ("query_text",),
    "emotions": ("emotion_vector", "current_emotions"),
    "energy": ("current_energy",),
    "goal": ("current_goal",),
    "mode": ("query_mode",),
    "relation": ("relation_type",),
}
"""The short names of fields, on every door."""
NAMES_OF_REST: Final[Names] = {name: (short,) for short, names in ALIASES.items() for name in names}
"""The names that REST has for fields which the tools of a model call by their short names."""
MEANT: Final[Mapping[str, str]] = {
    "valid_from": "valid_at",
    "effective_at": "valid_at",
    "valid_to": "invalid_at",
    "valid_until": "invalid_at",
    "alias": "aliases",
}
"""Names that a new record does not have, and the fields that are meant by them."""
OTHER_WORDS: Final = frozenset(("sources", "speakers", "results", "steps", "invalid", "commands"))
"""Words that are near to a field and mean something else."""

_LONGEST: Final = 64
"""Characters; a longer name is no misspelt field."""
_SHORT, _LONG = 4, 8
_KNOWN_TYPES: Final = frozenset(get_args(ErrorType))


class FieldNames(NamedTuple):
    """The names of the fields of one kind of request, and by its other name the field that it stands for."""

    fields: frozenset[str]
    aliases: Mapping[str, str]

    @classmethod
    def of(cls, fields: Collection[str], other_names: Names) -> FieldNames:
        """The names of these fields; a field's own name is never that of another one."""
        aliases: dict[str, str] = {}
        for alias, targets in other_names.items():
            target = next((name for name in targets if name in fields), None)
            if target is not None and alias not in fields:
                aliases[alias] = target
        return cls(frozenset(fields), aliases)

    def rename(self, raw: Mapping[Any, Any]) -> dict[Any, Any]:
        """The fields under their own names. What is given a second time keeps its other name, to be refused."""
        renamed: dict[Any, Any] = {}
        for name, value in raw.items():
            field = self.aliases.get(name, name)
            renamed[name if field != name and (field in raw or field in renamed) else field] = value
        return renamed

    def move_to_extra(self, fields: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """The fields with unknown ones moved into `extra` unchanged (003, 6), but for those that are misspelt."""
        if not isinstance(fields.get("extra", {}), dict):
            return fields
        unknown = {name: value for name, value in fields.items() if not self._refuses(name)}
        if not unknown:
            return fields
        rest = {name: value for name, value in fields.items() if name not in unknown}
        return {**rest, "extra": {**unknown, **fields.get("extra", {})}}

    def _refuses(self, name: Any) -> bool:
        """True for a name that is not for `extra`: it is known, or a misspelling."""
        known = name in self.fields or name in self.aliases
        return known or (isinstance(name, str) and self.propose(name) is not None)

    def propose(self, name: str) -> str | None:
        """The field that an unknown name is probably meant for."""
        meant = {name: field for name, field in MEANT.items() if name not in self.fields and field in self.fields}
        near = nearest(name, tuple(sorted({*self.fields, *self.aliases, *meant})))
        return None if near is None else meant.get(near, near)

    def explain(self, name: str, *, kept: bool) -> str | None:
        """Why a name is refused that is unknown, or was given twice; `kept`: unknown ones are kept as a rule."""
        if name in self.aliases:
            return f"is another name of {self.aliases[name]}, which is given too; leave one of them out"
        field = self.propose(name)
        if field is None:
            return None
        refused = "is no field" if kept else "Extra inputs are not permitted"
        remedy = " Under this name it can be kept in `extra`." if kept else ""
        return f"{refused}: did you mean `{field}`?{remedy}"


def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """The name among `known` of which `name` is a misspelling, if it is one.

    Case, `_` and `-` do not count. Else names must begin alike and be within an optimal string alignment distance
    (Damerau-Levenshtein without repeated edits) of 2 from eight letters on, of 1 from four. Of four letters none
    may be replaced, because `role` is no `rule`.
    """
    return None if len(name) > _LONGEST else _nearest(name, known)


@lru_cache(maxsize=4096)
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    word = _letters(name)
    if word in OTHER_WORDS:
        return None
    near = [(distance, field) for field in known if (distance := _distance(word, _letters(field))) is not None]
    return min(near)[1] if near else None


def _letters(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _distance(word: str, field: str) -> int | None:
    """The distance between a name and that of a field; None when it is too great."""
    if word == field:
        return 0
    if len(field) < _SHORT or word[:1] != field[:1]:
        return None
    from rapidfuzz.distance import OSA  # noqa: PLC0415  (most requests misspell no field)

    distance = OSA.distance(word, field, score_cutoff=2)
    if len(field) == _SHORT and len(word) == len(field) and sorted(word) != sorted(field):
        return None
    return distance if distance <= (2 if len(field) >= _LONG else 1) else None


class Reading(NamedTuple):
    """One request as it is read: its names, the fields given, and whether unknown fields are kept."""

    names: FieldNames
    given: Mapping[Any, Any]
    kept: bool

    def reword(self, error: ValidationError) -> ValidationError:
        """The error with each fault under the name that was given, and with the field that was probably meant.

        A list is not called too short when it has elements with faults: pydantic counts those without.
        """
        sent = {field: alias for alias, field in self.names.aliases.items() if alias in self.given}
        faults = error.errors(include_url=False)
        lines = [
            self._line(fault, sent)
            for fault in faults
            if fault["type"] != "too_short" or len(fault["input"]) < fault["ctx"]["min_length"]
        ]
        return ValidationError.from_exception_data(error.title, lines)

    def _line(self, fault: Any, sent: Mapping[str, str]) -> InitErrorDetails:
        location, kind = fault["loc"], fault["type"]
        first = location[0] if location else ""
        if kind == "extra_forbidden" and len(location) == 1:
            words = self.names.explain(str(first), kept=self.kept)
            if words is not None:
                return _details(PydanticCustomError("unknown_field", "{words}", {"words": words}), fault, location)
        if first in sent and first not in self.given:
            location = (sent[first], *location[1:])
        if kind == "tuple_type":
            return _details("list_type", fault, location)  # JSON has no tuples
        if kind in _KNOWN_TYPES:
            return _details(kind, fault, location)
        return _details(PydanticCustomError(kind, "{words}", {"words": fault["msg"]}), fault, location)


def _details(kind: Any, fault: Any, location: tuple[Any, ...]) -> InitErrorDetails:
    return InitErrorDetails(type=kind, loc=location, input=fault["input"], ctx=fault.get("ctx", {}))
