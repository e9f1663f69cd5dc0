"""The values of the Python clients, written from those of the service: their fields, and what they can do.

What the service checks is left out, so that they need no more than pydantic. The functions and methods that come
along are copied as they stand, with all that they name.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from types import FunctionType, ModuleType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAliasType, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from schemas.base import Frozen, Request, Sparse

HEAD: Final = '''\
"""The values that the clients take and give. Written by `scripts/client.py`."""
# ruff: noqa

from __future__ import annotations

{imports}
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from pydantic import ConfigDict, Field, RootModel

from substrate_client.errors import SubstrateError, refusal_error
from substrate_client.values import AnswerPart, RequestPart
'''
OURS: Final = ("schemas", "orchestration", "substrate")
BASES: Final[Mapping[type, str]] = {
    Frozen: "AnswerPart",
    Sparse: "AnswerPart",
    Request: "RequestPart",
    BaseModel: "AnswerPart",
}
WIDTH: Final = 100


class Writer:
    """Collects what is written, each name once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.homes: dict[str, str] = {}
        self.imports: set[str] = set()

    def add(self, value: Any) -> str:
        """The name of a value, which is written before what is added after it."""
        name = str(value.__name__)
        if BASES.get(value):
            return BASES[value]
        home = self.homes.setdefault(name, value.__module__)
        if home != value.__module__:
            raise ValueError(f"{home} and {value.__module__} both have a {name}")
        if name not in self.texts:
            self.texts[name] = ""
            text = self._text(value)
            self.texts[name] = text
            self.texts[name] = self.texts.pop(name)
        return name

    def _text(self, value: Any) -> str:
        if isinstance(value, TypeAliasType):
            return f"{value.__name__}: TypeAlias = {self.kind(value.__value__)!s}"
        if isinstance(value, FunctionType):
            return self._copied(inspect.getsource(value), sys.modules[value.__module__])
        if issubclass(value, Enum):
            self.imports.add("from enum import Enum")
            members = "\n".join(f"    {one.name} = {one.value!r}" for one in value)
            return f"class {value.__name__}(str, Enum):\n{_doc(value)}{members}\n\n    __str__ = str.__str__"
        return self._model(value) if issubclass(value, BaseModel) else self._plain(value)

    def _plain(self, kind: type) -> str:
        return self._copied(inspect.getsource(kind), sys.modules[kind.__module__])

    # --- models ----------------------------------------------------------------------------------------------

    def _model(self, model: type[BaseModel]) -> str:
        if issubclass(model, RootModel):
            root = self.field_kind(model.model_fields["root"])
            return (
                f"class {model.__name__}(RootModel[Any]):\n{_doc(model)}"
                f"    model_config = ConfigDict(defer_build=True)\n\n    root: {root}"
            )
        bases = [self.add(base) for base in model.__bases__ if base is not object]
        lines = [f"class {model.__name__}({', '.join(dict.fromkeys(bases))}):\n{_doc(model)}"]
        for name in vars(model).get("__annotations__", {}):
            if (field := model.model_fields.get(name)) is not None:
                lines.append(self._field(name, field))
        lines += [
            textwrap.indent(self._copied(inspect.getsource(made), sys.modules[model.__module__]), "    ")
            for made in _methods(model)
        ]
        return "\n".join(lines if len(lines) > 1 else [*lines, "    pass"])

    def _field(self, name: str, field: FieldInfo) -> str:
        kinds = self.field_kind(field)
        default = "" if field.is_required() else f" = {self._default(field)}"
        if default == " = None":
            kinds += " | None" * ("None" not in kinds.split(" | "))
        said = f'\n    """{_wrapped(field.description)}"""' if field.description else ""
        return f"    {name}: {kinds}{default}{said}"

    def field_kind(self, field: FieldInfo) -> str:
        """The type of a field; of a union that is told apart by a field of it, with the name of that."""
        kind = self.kind(field.annotation)
        return f"Annotated[{kind}, Field(discriminator={field.discriminator!r})]" if field.discriminator else kind

    def _default(self, field: FieldInfo) -> str:
        value = field.get_default(call_default_factory=True)
        if isinstance(value, BaseModel):
            if value != type(value).model_construct():
                raise ValueError(f"the default {value!r} cannot be written")
            return f"Field(default_factory=lambda: {self.add(type(value))}())"
        if isinstance(value, Enum):
            return f"{self.add(type(value))}.{value.name}"
        if isinstance(value, dict) and not value:
            return "Field(default_factory=dict)"
        if isinstance(value, tuple):
            return f"({''.join(f'{self._plain_value(each)}, ' for each in value)})"
        if field.default_factory is not None:
            return "None"  # the service makes one
        return self._plain_value(value)

    def _plain_value(self, value: Any) -> str:
        if isinstance(value, Enum):
            return f"{self.add(type(value))}.{value.name}"
        if value is None or isinstance(value, (bool, int, float, str)):
            return repr(value)
        raise ValueError(f"the default {value!r} cannot be written")

    # --- types -----------------------------------------------------------------------------------------------

    def kind(self, kind: Any) -> str:
        """A type as it is written."""
        return " | ".join(dict.fromkeys(self._kinds(kind)))

    def _kinds(self, kind: Any) -> Iterator[str]:  # noqa: C901  (one branch for each kind of type)
        if isinstance(kind, TypeAliasType):
            yield from [self.add(kind)] if get_origin(kind.__value__) is Literal else self._kinds(kind.__value__)
            return
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            told = [each.discriminator for each in parts[1:] if isinstance(each, FieldInfo) and each.discriminator]
            inner = self.kind(parts[0])
            yield f"Annotated[{inner}, Field(discriminator={told[0]!r})]" if told else inner
        elif origin in (Union, UnionType):
            for part in parts:
                yield from self._kinds(part)
        elif origin is Literal:
            yield f"Literal[{', '.join(map(self._literal, parts))}]"
        elif origin in (tuple, list, frozenset, Sequence):
            several = origin is not tuple or parts[-1:] == (...,)
            inner = self.kind(parts[0]) if several else ", ".join(map(self.kind, parts))
            yield f"tuple[{inner}, ...]" if several else f"tuple[{inner}]"
        elif origin in (dict, Mapping):
            yield f"dict[{self.kind(parts[0])}, {self.kind(parts[1])}]"
        elif kind in (None, NoneType):
            yield "None"
        elif kind is Any:
            yield "Any"
        elif issubclass(kind, datetime):
            self.imports.add("from datetime import datetime")
            yield "datetime"
        elif kind.__module__ == "builtins":
            yield str(kind.__name__)
        else:
            yield self.add(kind)

    def _literal(self, value: Any) -> str:
        return f"{self.add(type(value))}.{value.name}" if isinstance(value, Enum) else repr(value)

    # --- what is copied --------------------------------------------------------------------------------------

    def _copied(self, source: str, module: ModuleType) -> str:
        """The source, after everything of ours that it names was added."""
        source = textwrap.dedent(source)
        for name in _names(source):
            if name in vars(module):
                self._need(name, module)
        return source.rstrip()

    def _need(self, name: str, module: ModuleType) -> None:
        value, home = vars(module)[name], _imported(module).get(name)
        if home is not None and home.partition(".")[0] not in OURS:
            if home.partition(".")[0] in sys.stdlib_module_names and home not in ("typing", "__future__"):
                self.imports.add(f"from {home} import {name}")
            return
        if home == "schemas.errors" or value in _KNOWN:
            return
        if isinstance(value, (type, FunctionType)):
            self.add(value)
        elif name not in self.texts:
            owner = module if home is None else sys.modules[home]
            self.texts[name] = ""
            text = self._statement(name, owner)
            del self.texts[name]
            self.texts[name] = text

    def _statement(self, name: str, module: ModuleType) -> str:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.TypeAlias) and node.name.id == name:
                return f"{name}: TypeAlias = {self.kind(vars(module)[name].__value__)}"
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
                return self._copied(ast.unparse(node), module)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                if get_origin(vars(module)[name]) in (Annotated, Union, UnionType):
                    return f"{name}: TypeAlias = {self.kind(vars(module)[name])}"
                return self._copied(ast.unparse(node), module)
        raise ValueError(f"{module.__name__} has no {name}")

    def text(self) -> str:
        """The module."""
        imports = "\n".join(sorted(self.imports))
        return HEAD.format(imports=imports) + "\n\n" + "\n\n\n".join(self.texts.values()) + "\n"


_KNOWN: Final = (Frozen, Sparse, Request, BaseModel)


def _names(source: str) -> list[str]:
    named = (node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return list(dict.fromkeys(named))


@cache
def _imported(module: ModuleType) -> Mapping[str, str]:
    """The module from which each name was imported."""
    return {
        alias.name: str(node.module)
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _methods(model: type[BaseModel]) -> Iterator[Any]:
    """The methods and properties of an answer; those of a request are for who reads it."""
    if issubclass(model, Request):
        return
    for name, made in vars(model).items():
        if isinstance(made, property) and made.fget is not None:
            yield made.fget
        elif isinstance(made, FunctionType) and made.__module__ == model.__module__ and not name.startswith("__"):
            yield made


def _doc(kind: type) -> str:
    said = inspect.cleandoc(kind.__doc__ or "")
    return (
        textwrap.indent(f'"""{said}' + ('\n"""' if "\n" in said else '"""'), "    ").replace("    \n", "\n")
        + "\n\n"
    )


def _wrapped(text: str) -> str:
    return "\n    ".join(textwrap.wrap(text, WIDTH))


def module(kinds: Iterable[Any]) -> str:
    """The text of the module with these values, and with all that they name."""
    writer = Writer()
    for kind in sorted(kinds, key=lambda each: str(each.__name__)):
        writer.add(kind)
    return writer.text()
