"""Base models, shared field types, and limits on what a request may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Final, Self
from unicodedata import normalize

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, PydanticKnownError, core_schema

from schemas.field_names import ALIASES, FieldNames, Names, Reading

MAX_TEXT = 100_000
"""The most characters of a text field."""
MAX_LONG_TEXT: Final = 6_000_000
"""The most characters of the text of one memory, also in NFKC, where one sign may become several."""
MOST_WRITTEN_OUT: Final = 18

MOST_FIELDS: Final = 200
"""The most fields of one object in a request, including unknown ones: six times the largest model."""
DEEPEST: Final = 32
"""The deepest nesting of lists and maps in JSON that is stored unchanged."""


def without_nulls[K, V](values: Mapping[K, V | None]) -> dict[K, V]:
    """What has a value: in a query, in a command and in its fields what a map does not have is null."""
    return {name: value for name, value in values.items() if value is not None}


def each_once[T](values: tuple[T, ...]) -> tuple[T, ...]:
    """The values without repeats, in the order given."""
    return tuple(dict.fromkeys(values))


@dataclass(frozen=True, slots=True)
class AtMost:
    """Limits a list or map to `most` elements, checked before any element is validated.

    Validation collects every fault, so it costs most on a long list in which every element is wrong.
    """

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        inner: Any = handler(source)
        kind = {"tuple": "Tuple", "list": "List", "dict": "Dictionary"}[inner["type"]]
        inner["max_length"] = self.most

        def bounded(raw: Any) -> Any:
            if isinstance(raw, list | tuple | dict) and len(raw) > self.most:
                lengths = {"field_type": kind, "max_length": self.most, "actual_length": len(raw)}
                raise PydanticKnownError("too_long", lengths)
            return raw

        return core_schema.no_info_before_validator_function(bounded, inner)


def is_deeper(value: Any, most: int) -> bool:
    """True when lists and maps nest more than `most` deep; the value itself counts as one."""
    layer = _containers((value,))
    for _ in range(most):
        if not layer:
            return False
        elements = (container.values() if isinstance(container, dict) else container for container in layer)
        layer = _containers(chain.from_iterable(elements))
    return bool(layer)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list | tuple)]


_REFUSED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def _check_characters(text: str) -> str:
    refused = _REFUSED.search(text)
    if refused:
        raise ValueError(f"contains a control character or lone surrogate ({refused[0]!r}); remove it")
    if MOST_WRITTEN_OUT * len(text) > MAX_LONG_TEXT and len(normalize("NFKC", text)) > MAX_LONG_TEXT:
        raise ValueError(f"has more than {MAX_LONG_TEXT:,} characters when signs such as ﷺ are written out")
    return text


def check_identifier(text: str) -> str:
    """The text, if it can be an id. Raises ValueError otherwise."""
    _check_characters(text)
    if text != text.strip() or not text or any(sign in text for sign in "\n\r\t|"):
        raise ValueError("an id is one line without '|', with no space at its ends")
    return text


def _check_visible(text: str) -> str:
    if not text.strip(" \n\r\t"):
        raise ValueError("is blank; give it a visible character")
    return text


def check_storable_json(values: dict[str, Any]) -> dict[str, Any]:
    """The map, if it can be stored unchanged. Raises ValueError for one too deep, too long, or not JSON."""
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


JsonMap = Annotated[dict[str, Any], AfterValidator(check_storable_json)]
"""A map that is stored unchanged."""

_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"


VISIBLE_TEXT_PATTERN = rf"^[^{_CONTROL}]*[^{_CONTROL}\s][^{_CONTROL}]*$"
"""The pattern of a text with at least one visible character."""


def _schema_pattern(text: str) -> Any:
    return Field(json_schema_extra={"pattern": text})


_CHARACTERS: Final = (AfterValidator(_check_characters), _schema_pattern(rf"^[^{_CONTROL}]*$"))
Text = Annotated[str, Field(max_length=MAX_TEXT), *_CHARACTERS]
LongText = Annotated[str, Field(max_length=MAX_LONG_TEXT), *_CHARACTERS]
"""The text of a memory; a long one is searched in passages."""
ShortText = Annotated[str, Field(max_length=1000), *_CHARACTERS]
Name = Annotated[
    str,
    Field(max_length=1000),
    AfterValidator(_check_characters),
    AfterValidator(_check_visible),
    _schema_pattern(VISIBLE_TEXT_PATTERN),
]
Identifier = Annotated[
    str,
    Field(min_length=1, max_length=200),
    AfterValidator(check_identifier),
    _schema_pattern(rf"^[^{_CONTROL}\s|]([^{_CONTROL}\n\r\t|]*[^{_CONTROL}\s|])?$"),
]
RelationType = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
CitizenId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Unit = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


def rewrite_map_schema(schema: dict[str, Any]) -> None:
    """Rewrite the JSON Schema of a map in place: client generators ignore `patternProperties`."""
    [(pattern, value)] = schema.pop("patternProperties").items()
    schema["additionalProperties"] = value
    schema["propertyNames"] = {**schema.get("propertyNames", {}), "pattern": pattern}


Emotions = Annotated[dict[ShortText, Unit], AtMost(64), Field(json_schema_extra=rewrite_map_schema)]


class Frozen(BaseModel):
    """An immutable model. Its validator is built at its first use: a call of the command line needs few."""

    model_config = ConfigDict(
        frozen=True,
        use_enum_values=False,
        json_schema_serialization_defaults_required=True,
        defer_build=True,
    )

    @classmethod
    def unchecked(cls, values: dict[str, Any]) -> Self:
        """Construct without validation, for values that were made or stored here; defaults fill the rest.

        Every field without a default must be given; fields must have no aliases.
        """
        blank, names = _read_defaults(cls)
        return _construct(cls, {**blank, **values}, names)

    @classmethod
    def defaults(cls) -> Mapping[str, Any]:
        """The default of each field, in field order; None where there is none."""
        return _read_defaults(cls)[0]

    @classmethod
    def of_fields(cls, fields: dict[str, Any]) -> Self:
        """Construct without validation from every field, in field order; the value keeps the dictionary itself."""
        return _construct(cls, fields, _read_defaults(cls)[1])


class Sparse(Frozen):
    """A value of which a stream leaves out each optional field that has its default."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)


def to_columns(values: Sequence[Frozen], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The values of each named field as a column; `names` needs two or more."""
    if not values:
        return dict.fromkeys(names, ())
    rows = map(itemgetter(*names), map(vars, values))
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def _construct[T: BaseModel](model: type[T], fields: dict[str, Any], names: set[str]) -> T:
    value = model.__new__(model)
    # The last steps of `model_construct`. For the thousand values of a stream they take 0.6 ms, `__setstate__`
    # takes 0.8 ms, and `model_construct` itself 8 ms.
    object.__setattr__(value, "__dict__", fields)
    object.__setattr__(value, "__pydantic_fields_set__", names)
    object.__setattr__(value, "__pydantic_extra__", None)
    object.__setattr__(value, "__pydantic_private__", None)
    return value


def json_bytes(value: BaseModel) -> bytes:
    """Dump to the JSON of `model_dump_json`, in a third of its time; for models without custom serializers."""
    return orjson.dumps(value, default=vars, option=orjson.OPT_UTC_Z)


@cache
def _read_defaults(model: type[BaseModel]) -> tuple[dict[str, Any], set[str]]:
    """The default of each field in field order, None where there is none; and the names of all fields."""
    defaults = {
        name: None if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
    }
    return defaults, set(defaults)


@cache
def _field_names(kind: type[Request]) -> FieldNames:
    return FieldNames.of(kind.model_fields.keys(), kind.other_names)


class Request(Frozen):
    """Input from outside: unknown fields are refused, times without a zone are taken as UTC.

    `other_names`: what fields may also be called. With `keeps_unknown` unknown fields go into `extra`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    other_names: ClassVar[Names] = ALIASES
    keeps_unknown: ClassVar[bool] = False

    _notes: tuple[str, ...] = PrivateAttr(default=())

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions made while reading the request; the answer repeats them."""
        return self._notes

    def with_note(self, note: str) -> Self:
        noted = self.model_copy()
        noted._notes = (*self._notes, note)
        return noted

    @model_validator(mode="wrap")
    @classmethod
    def _read_fields(cls, raw: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Counts the fields, then reads them under any of their names."""
        if not isinstance(raw, dict):
            return handler(raw)
        if len(raw) > MOST_FIELDS:
            counts = {"count": len(raw), "most": MOST_FIELDS}
            raise PydanticCustomError("too_many_fields", "has {count} fields, at most {most} are read", counts)
        names = _field_names(cls)
        fields = names.rename(raw)
        try:
            return handler(names.move_to_extra(fields) if cls.keeps_unknown else fields)
        except ValidationError as error:
            raise Reading(names, raw, cls.keeps_unknown).reword(error) from None

    @classmethod
    def under_own_names(cls, raw: dict[str, Any]) -> dict[str, Any]:
        """The raw fields with each under its own name, so that equal requests look equal."""
        return _field_names(cls).rename(raw)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        if cls.other_names is ALIASES:
            fields = handler.resolve_ref_schema(described)["properties"]
            for alias, name in _field_names(cls).aliases.items():
                field = fields[name]
                if "x-alias" not in field:
                    words = f"Also `{alias}`."
                    field["description"] = f"{field['description']} {words}" if "description" in field else words
                    field["x-alias"] = alias
        return described

    @model_validator(mode="after")
    def _assume_utc(self) -> Self:
        for name, value in vars(self).items():
            if isinstance(value, datetime) and value.tzinfo is None:
                self.__dict__[name] = value.replace(tzinfo=UTC)
                self._notes = (*self._notes, f"{name} had no time zone and was taken as UTC")
        return self
