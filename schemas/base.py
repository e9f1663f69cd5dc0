"""What all values share: frozen models, and the reading of requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Annotated, Any, Self

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from schemas.bounds import DEEPEST, AtMost, few_fields, is_deeper

MAX_TEXT = 100_000
"""Characters of one text field; a memory is a thought, not a file."""

_ALLOWED_CONTROLS = "\n\r\t"


def _clean(text: str) -> str:
    for char in text:
        if (char < " " and char not in _ALLOWED_CONTROLS) or char == "\x7f" or "\ud800" <= char <= "\udfff":
            raise ValueError(f"contains a control character or lone surrogate ({char!r}); remove it")
    return text


def one_line(text: str) -> str:
    """The text, which can be an id. Raises ValueError."""
    _clean(text)
    if text != text.strip() or not text or any(char in "\n\r\t|" for char in text):
        raise ValueError("an id is one line without '|', with no space at its ends")
    return text


def _visible(text: str) -> str:
    if not text.strip(" \n\r\t"):
        raise ValueError("says nothing; give it a visible character")
    return text


def storable_json(values: dict[str, Any]) -> dict[str, Any]:
    """The map, which can be kept as it came. Raises ValueError for one too deep, too long, or no JSON."""
    if is_deeper(values, DEEPEST):
        raise ValueError(f"is nested deeper than {DEEPEST} lists and maps; send what lies deeper as a text")
    try:
        text = orjson.dumps(values)
    except TypeError as error:
        raise ValueError(f"cannot be kept as JSON: {error}") from error
    if len(text) > MAX_TEXT:
        raise ValueError(f"takes {len(text)} bytes as JSON, at most {MAX_TEXT} are kept")
    if orjson.loads(text) != values:
        raise ValueError("holds something that JSON cannot carry unchanged, such as NaN")
    return values


JsonMap = Annotated[dict[str, Any], AfterValidator(storable_json)]
"""Fields that are kept as they came."""

_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"


SAYING = rf"^[^{_CONTROL}]*[^{_CONTROL}\s][^{_CONTROL}]*$"
"""The pattern of a text with at least one visible character."""


def _pattern(text: str) -> Any:
    """What the JSON Schema says of a text; the validators say it in words."""
    return Field(json_schema_extra={"pattern": text})


Text = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_clean), _pattern(rf"^[^{_CONTROL}]*$")]
ShortText = Annotated[str, Field(max_length=1000), AfterValidator(_clean), _pattern(rf"^[^{_CONTROL}]*$")]
Name = Annotated[
    str,
    Field(max_length=1000),
    AfterValidator(_clean),
    AfterValidator(_visible),
    _pattern(SAYING),
]
Identifier = Annotated[
    str,
    Field(min_length=1, max_length=200),
    AfterValidator(one_line),
    _pattern(rf"^[^{_CONTROL}\s|]([^{_CONTROL}\n\r\t|]*[^{_CONTROL}\s|])?$"),
]
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
CitizenId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Unit = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


def typed_map(schema: dict[str, Any]) -> None:
    """Make the JSON Schema of a map one that generators can type: they leave out `patternProperties`."""
    [(pattern, value)] = schema.pop("patternProperties").items()
    schema["additionalProperties"] = value
    schema["propertyNames"] = {**schema.get("propertyNames", {}), "pattern": pattern}


Emotions = Annotated[dict[ShortText, Unit], AtMost(64), Field(json_schema_extra=typed_map)]


class Frozen(BaseModel):
    """A value: never changed once made."""

    model_config = ConfigDict(frozen=True, use_enum_values=False, json_schema_serialization_defaults_required=True)

    @classmethod
    def unchecked(cls, values: dict[str, Any]) -> Self:
        """The value with these fields exactly as they are, and the defaults of the others.

        Every field without a default must be given. For what we made or stored ourselves, of which a stream
        holds a thousand; what comes in from outside is validated. It is `model_construct` for fields without
        aliases, at a tenth of its time.
        """
        blank, names = _blank(cls)
        return _made(cls, {**blank, **values}, names)

    @classmethod
    def defaults(cls) -> Mapping[str, Any]:
        """The default of each field, in their order; None where there is none."""
        return _blank(cls)[0]

    @classmethod
    def of_columns(cls, count: int, columns: Mapping[str, Iterable[Any]]) -> list[Self]:
        """So many values, `unchecked`, from the columns of their fields; a field without a column has its default.

        Filled column by column: a copy of the defaults keeps its table of names, which is most of the time of a
        dictionary.
        """
        blank, names = _blank(cls)
        filled = [blank.copy() for _ in range(count)]
        for name, column in columns.items():
            for fields, value in zip(filled, column, strict=False):
                fields[name] = value
        return [_made(cls, fields, names) for fields in filled]


def columns_of(values: Sequence[Frozen], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The columns of two or more fields of many values."""
    if not values:
        return dict.fromkeys(names, ())
    rows = map(itemgetter(*names), map(vars, values))
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def _made[T: BaseModel](cls: type[T], fields: dict[str, Any], names: set[str]) -> T:
    made = cls.__new__(cls)
    _set_fields(made, fields)
    _set_names(made, names)
    _set_extra(made, None)
    _set_private(made, None)
    return made


_set_fields, _set_names, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)
"""What `object.__setattr__` would look up by name each time."""


def json_bytes(value: BaseModel) -> bytes:
    """What `model_dump_json` says, at a third of its time; for values without serializers of their own."""
    return orjson.dumps(value, default=vars, option=orjson.OPT_UTC_Z)


@cache
def _blank(model: type[BaseModel]) -> tuple[dict[str, Any], set[str]]:
    """The fields in their order, as far as they have defaults, and their names."""
    fields = model.model_fields.items()
    blank = {
        name: None if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in fields
    }
    return blank, set(blank)


class Request(Frozen):
    """A value that comes in from outside: unknown fields are refused, times without a zone are taken as UTC.

    `notes` says what was assumed, so that the answer can repeat it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    _notes: tuple[str, ...] = PrivateAttr(default=())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while reading the request."""
        return self._notes

    def noting(self, note: str) -> Self:
        """The same request with one more note."""
        noted = self.model_copy()
        noted._notes = (*self._notes, note)
        return noted

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, raw: Any) -> Any:
        return few_fields(raw)

    @model_validator(mode="after")
    def _assume_utc(self) -> Self:
        for name in type(self).model_fields:
            value: Any = getattr(self, name)
            if isinstance(value, datetime) and value.tzinfo is None:
                self.__dict__[name] = value.replace(tzinfo=UTC)
                self._notes = (*self._notes, f"{name} had no time zone and was taken as UTC")
        return self
