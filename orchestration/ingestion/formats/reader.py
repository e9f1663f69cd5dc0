"""Reading of what files hold: JSON entries, texts, times. Pure; every fault is one clear line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, NoReturn

from dateutil import parser, tz
from pydantic import TypeAdapter, ValidationError

from orchestration.ingestion.formats.parsed import File
from schemas.base import MAX_TEXT, CitizenId, storable_json
from schemas.errors import InvalidRequest
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, check_length, to_instant

MAX_NAME: Final = 1000
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SOME_DAY = datetime(1972, 1, 1)  # noqa: DTZ001  (dateutil fills a missing zone from it: there must be none)
_OTHER_DAY = datetime(1976, 2, 2)  # noqa: DTZ001
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 10**11
_CITIZEN: Final[TypeAdapter[str]] = TypeAdapter(CitizenId)


@dataclass(frozen=True, slots=True)
class Format:
    """The name of a format and the shape that it expects, for its faults."""

    name: str
    shape: str


def fault(form: Format, file: str, place: str, wrong: str) -> InvalidRequest:
    """The error for a file that is not what its format says: where, what is wrong, what is expected."""
    where = f"{file}, {place}" if place else file
    return InvalidRequest(f"{where}: {wrong}; {form.name} expects {form.shape}", remedy="Nothing was stored.")


@dataclass
class Reader:
    """Reads the values of one file and counts what it assumed on the way."""

    form: Format
    file: str
    removed: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def fail(self, place: str, wrong: str) -> NoReturn:
        """Raise the fault of one place of the file."""
        raise fault(self.form, self.file, place, wrong)

    def text(self, value: Any, place: str, *, limit: int = MAX_TEXT) -> str:
        """A text without control characters. Faults: not a text, or longer than `limit` characters."""
        if not isinstance(value, str):
            self.fail(place, f"is {kind(value)}, not a text")
        plain, removed = _UNSTORABLE.subn("", value)
        self.removed += removed
        if len(plain) > limit:
            self.fail(place, f"has {len(plain):,} characters, more than the {limit:,} that fit one memory")
        return plain

    def name(self, value: Any, place: str) -> str:
        """A text on one line that says something, at most 1,000 characters."""
        plain = " ".join(self.text(value, place, limit=MAX_NAME).split())
        return plain or self.fail(place, "is empty")

    def moment(self, value: Any, place: str) -> datetime:
        """A time, from its usual written forms or from seconds or milliseconds since 1970; see `moment`."""
        try:
            found, zoned = moment(value)
        except (ValueError, OverflowError) as error:
            raise fault(self.form, self.file, place, f"{repr(value)[:60]} is no time ({error})"[:200]) from error
        if not zoned:
            self.counts["times without a zone were taken as UTC"] += 1
        return found

    def extra(self, fields: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Fields that the format does not know, kept as they came."""
        try:
            return storable_json(dict(fields))
        except ValueError as error:
            raise fault(self.form, self.file, place, f"its other fields cannot be kept ({error})") from error

    def notes(self) -> tuple[str, ...]:
        """What was assumed or left out."""
        said = [f"{self.file}: {what} ({count:,})" for what, count in self.counts.items()]
        if self.removed:
            said.append(f"{self.file}: control characters were left out ({self.removed:,})")
        return tuple(said)


def kind(value: Any) -> str:
    """What a JSON value is, for a fault."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def is_citizen_id(text: str) -> bool:
    """Whether the text can name a citizen: letters, digits, `_`, `.` and `-`, at most 64."""
    try:
        _CITIZEN.validate_python(text)
    except ValidationError:
        return False
    return True


def document(form: Format, file: File) -> Any:
    """The JSON value of a file."""
    _not_empty(form, file)
    try:
        return _loads(file.text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise fault(form, file.name, place, f"is not JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise fault(form, file.name, "", f"is not JSON ({error})") from error


def entries(form: Format, file: File, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file with their places: JSON lines, one JSON list, or `{key: [...]}`."""
    _not_empty(form, file)
    found = _lines(form, file) if _is_lines(file.text, key) else _whole(form, file, key)
    empty = True
    for place, value in found:
        empty = False
        if not isinstance(value, dict):
            raise fault(form, file.name, place, f"is {kind(value)}, not an object")
        yield place, value
    if empty:
        raise fault(form, file.name, "", "holds no entry")


def _is_lines(text: str, key: str) -> bool:
    """Whether the first line is an entry by itself."""
    try:
        first = _loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and not isinstance(first.get(key), list)


def _whole(form: Format, file: File, key: str) -> Iterator[tuple[str, Any]]:
    value = document(form, file)
    listed = value.get(key) if isinstance(value, dict) else value
    if not isinstance(listed, list):
        what = f"field {key!r} is {kind(listed)}" if isinstance(value, dict) else f"is {kind(value)}"
        raise fault(form, file.name, "", f"{what}, not a list")
    for number, item in enumerate(listed, start=1):
        yield f"entry {number}", item


def _lines(form: Format, file: File) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(file.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", _loads(line)
        except (ValueError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise fault(form, file.name, f"line {number}", f"is not JSON ({said})") from error


def _not_empty(form: Format, file: File) -> None:
    if not file.text.strip():
        raise fault(form, file.name, "", "is empty")


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def moment(value: Any) -> tuple[datetime, bool]:
    """A written time, or seconds or milliseconds since 1970, in UTC; and whether it named its zone.

    Raises ValueError when it is no time, lacks its day, names an unknown zone or cannot be stored.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"it is {kind(value)}")
    if isinstance(value, str):
        check_length(value)  # dateutil takes quadratic time
    written = _from_number(value) if isinstance(value, (int, float)) else _from_text(value.strip())
    aware = written if written.tzinfo is not None else written.replace(tzinfo=UTC)
    if not BEGINNING_OF_TIME < to_instant(aware) < END_OF_TIME:
        raise ValueError("times must lie between the years 1685 and 2255")
    return aware.astimezone(UTC), written.tzinfo is not None


def _from_number(value: float) -> datetime:
    return _EPOCH + timedelta(seconds=value / 1000 if abs(value) >= _MILLISECONDS_FROM else value)


def _from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        first, second = (parser.parse(text, default=day, tzinfos=_zone) for day in (_SOME_DAY, _OTHER_DAY))
    if first != second:
        raise ValueError("its day, month or year is missing")
    return first


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    if offset is not None:
        return tz.tzoffset(name, offset)
    if name is not None:
        raise ValueError(f"the time zone {name} is not known; write an offset such as +01:00")
    return None
