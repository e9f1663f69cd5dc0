"""A command from a class of its options: an option that sets a field of a request has the name of the field.

So each option stands once: what it is called for faults, and how its text is read, follow from its declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, get_type_hints

import typer
from typer.models import ArgumentInfo, ParameterInfo

from api.cli import options, support

READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "known_at": support.parse_known_at,
    "query_levels": options.upper,
    "filters": options.parse_filters,
    "plurality": lambda wanted: {} if wanted else None,
}
"""How the options of these fields are read, whatever their declarations say."""
EXAMPLES: Final = {"NAME=X": "joy=0.7", "CHANNEL=X": "nodes=0.5"}
"""An option of numbers by names, for error texts."""


class Options:
    """The options of a call of a command. Of a class that extends it, each attribute with a hint is an option."""

    def __init__(self, ctx: typer.Context, values: Mapping[str, Any]) -> None:
        self.ctx = ctx
        vars(self).update(values)

    def fields(self) -> dict[str, Any]:
        """The values of what was given, by the names of the fields. Raises InvalidRequest for another form."""
        fields = {}
        for name, declared in declarations(type(self)).items():
            value = _read(name, declared, vars(self)[name])
            if value is not None and not (value is False and getattr(type(self), name, None) is False):
                fields[name] = value
        if "level" in fields:
            fields.update(options.graph(fields["level"], fields.get("collective")))
        return fields

    def request[T](self, make: type[T], **more: Any) -> T:
        """The request of what was given, and of `more`. Raises InvalidRequest, which names the options."""
        known: Mapping[str, Any] = getattr(make, "model_fields", {})
        fields = {name: value for name, value in {**self.fields(), **more}.items() if name in known}
        return self.validate(make, fields)

    def validate[T](self, make: Callable[..., T], fields: Mapping[str, Any]) -> T:
        """`make` of the fields that are not None. Raises InvalidRequest, which names the options."""
        known: Mapping[str, Any] = getattr(make, "model_fields", {})
        labels = {name: label for name, label in self.labels().items() if name in known or name in fields}
        return support.validate(make, support.drop_unset(fields), labels)

    @classmethod
    def labels(cls) -> dict[str, str]:
        """What a user calls each field."""
        return {name: _label(name, declared) for name, declared in declarations(cls).items()}


def declarations(kind: type[Options]) -> dict[str, ParameterInfo]:
    """The declaration of each option of a class, by its name; those that it inherits come first."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def command[O: Options](
    app: typer.Typer, kind: type[O], name: str | None = None
) -> Callable[[Callable[[O], None]], Callable[[O], None]]:
    """Decorates the function that runs a command: it takes the options, and its docstring is the help."""

    def decorate(run: Callable[[O], None]) -> Callable[[O], None]:
        def call(ctx: typer.Context, **values: Any) -> None:
            run(kind(ctx, values))

        parameters = [
            inspect.Parameter(
                option,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(kind, option, inspect.Parameter.empty),
                annotation=hint,
            )
            for option, hint in get_type_hints(kind, include_extras=True).items()
        ]
        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        call.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
        call.__annotations__ = {}
        app.command(name or run.__name__, help=inspect.getdoc(run))(call)
        return run

    return decorate


def _label(name: str, declared: ParameterInfo) -> str:
    """What a user calls an option in the documents: its first long name, or the argument's in capitals."""
    if isinstance(declared, ArgumentInfo):
        return str(declared.metavar or name.upper()).strip("[]")
    long_names = (text for text in _names(declared) if text.startswith("--"))
    return next(long_names, f"--{name.replace('_', '-')}")


def _names(declared: ParameterInfo) -> tuple[str, ...]:
    first = declared.default if isinstance(declared.default, str) else ""
    return (first, *(declared.param_decls or ()))


def _read(name: str, declared: ParameterInfo, value: Any) -> Any:
    """The value of an option as its field takes it; None where it was not given."""
    if value is None or value == []:
        return None
    if name in READERS:
        return READERS[name](value)
    if declared.metavar == "TIME":
        return support.parse_time_option(_label(name, declared), value)
    if declared.metavar in EXAMPLES:
        return support.parse_numbers(_label(name, declared), value, EXAMPLES[declared.metavar]) or None
    return value


class OfGraph(Options):
    """Whose memory, and which of its graphs."""

    citizen_id: options.AnyCitizen = None
    level: options.Level = "N1"
    collective: options.Collective = None


class OfRecord(OfGraph):
    """Which memory or link."""

    id: options.MemoryOrLink
    link: options.OfLink = False


class OfContent(Options):
    """The content of a memory."""

    energy: options.Energy = None
    confidence: options.Confidence = None
    emotion_vector: options.Emotion = None
    goal: options.Goal = None
    resolution_state: options.State = None
    importance: options.Importance = None
    rule: options.Rule = None
    severity: options.Severity = None
    tags: options.Tag = None
