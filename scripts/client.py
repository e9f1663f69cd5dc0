"""Write from the operations the methods of the Python clients, the fields that they take, and their values.

.venv/bin/python -m scripts.client
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from itertools import chain
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAliasType, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypeIs

from api.routes.operations import OPERATIONS
from schemas.base import Request
from schemas.field_names import FieldNames
from schemas.intention import AsOf
from schemas.memory import Level, ValidationResult
from schemas.operation import Operation
from schemas.responses import EpisodeReport, HeardReport, IngestReport, ReceiptList
from scripts import client_models as models

ROOT: Final = Path(__file__).parents[1]
CALLS: Final = ROOT / "clients/python/substrate_client/_calls.py"
VALUES: Final = CALLS.with_name("models.py")
OWN_VALUES: Final = ROOT / "api/client/models.py"
BY_HAND: Final = (EpisodeReport, HeardReport, IngestReport, Level, ReceiptList, ValidationResult)
"""What the methods need that are written by hand."""
MIXED_IN: Final[tuple[type[Request], ...]] = (AsOf,)
"""What many requests have without being one."""
HEAD: Final = '''\
"""The calls of the clients, and the fields that they take by name. Written by `scripts/client.py`."""
# mypy: disable-error-code="no-any-return"
# ruff: noqa: E501, I001
# fmt: off

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from typing_extensions import Unpack

from substrate_client.transport import Sender, SyncSender, block_on
from substrate_client.transport import collect_command, collect_fields, pop_level, with_form

Time: TypeAlias = "datetime | str"
"""A moment: a `datetime`, or a text such as `2025-07-20T14:30:00Z`."""
Json: TypeAlias = Mapping[str, Any]

if TYPE_CHECKING:
'''
OWN_HEAD: Final = '''\
"""The values that the clients inside the service take and give. Written by `scripts/client.py`."""
# ruff: noqa: E501, I001
# fmt: off

'''


class Imports:
    """The names that the written module takes from others."""

    def __init__(self) -> None:
        self.names: dict[str, set[str]] = defaultdict(set)
        self.choices: dict[str, str] = {}

    def need(self, value: Any) -> str:
        """The name of a value."""
        self.names[value.__module__].add(value.__name__)
        return str(value.__name__)

    def choice(self, kind: type[Enum]) -> str:
        """The name of an enum or its values as plain text."""
        values = ", ".join(repr(one.value) for one in kind)
        self.choices[f"Any{kind.__name__}"] = f"{self.need(kind)} | Literal[{values}]"
        return f"Any{kind.__name__}"

    def all_names(self) -> list[str]:
        """The names without their modules. Raises ValueError for one that two modules have."""
        counts = Counter(chain.from_iterable(self.names.values()))
        if twice := [name for name, count in counts.items() if count > 1]:
            raise ValueError(f"several values are called {', '.join(twice)}")
        return sorted(counts)

    def values(self) -> list[Any]:
        """The values themselves."""
        return [getattr(sys.modules[module], name) for module, names in self.names.items() for name in names]

    def text(self) -> str:
        """The statements of import; what imports them has the names too."""
        modules = sorted(self.names.items())
        return "\n".join(
            f"from {module} import {', '.join(f'{name} as {name}' for name in sorted(names))}"
            for module, names in modules
        )


def type_text(kind: Any, imports: Imports) -> str:
    """The type of a field as a caller may give it: a time also as text, a value also as a map of its fields."""
    return " | ".join(dict.fromkeys(_alternatives(kind, imports)))


def _alternatives(kind: Any, imports: Imports) -> Iterator[str]:  # noqa: C901  (one branch for each kind of type)
    if isinstance(kind, TypeAliasType):
        is_choice = get_origin(kind.__value__) is Literal
        yield from [imports.need(kind)] if is_choice else _alternatives(kind.__value__, imports)
        return
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _alternatives(parts[0], imports)
        yield from _short_forms(kind) if _is_model(parts[0]) else ()
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _alternatives(part, imports)
    elif origin is Literal:
        yield from (imports.need(type(part)) for part in parts if isinstance(part, Enum))
        values = [part.value if isinstance(part, Enum) else part for part in parts]
        yield f"Literal[{', '.join(map(repr, values))}]"
    elif origin in (tuple, list, frozenset, Sequence):
        yield f"Sequence[{type_text(parts[0], imports)}]"
    elif origin in (dict, Mapping):
        key, value = (type_text(part, imports) for part in parts)
        yield "Json" if (key, value) == ("str", "Any") else f"Mapping[{key}, {value}]"
    elif kind in (None, NoneType):
        yield "None"
    elif kind is Any:
        yield "Any"
    elif issubclass(kind, datetime):
        yield "Time"
    elif issubclass(kind, Enum):
        yield imports.choice(kind)
    elif _is_model(kind):
        yield from (imports.need(kind), "Json", *_short_forms(kind))
    else:
        yield str(kind.__name__)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _short_forms(kind: Any) -> Iterable[str]:
    """The plain values by which a model may be given."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    for plain in ("Tom", 0.5):
        try:
            adapter.validate_python(plain)
        except ValidationError as error:
            if any(fault["type"] == "model_type" for fault in error.errors()):
                continue
        yield type(plain).__name__


class Fields:
    """The `TypedDict`s of the requests, each once."""

    def __init__(self, imports: Imports, models: Collection[type[Request]]) -> None:
        self.imports, self.models = imports, models
        self.names: dict[type[Request], str] = {}
        self.entries: dict[str, dict[str, str]] = {}
        self.texts: list[str] = []

    def of(self, model: type[Request]) -> str:
        """The name of the fields of a request under all their names; they extend those of its bases."""
        if model in self.names:
            return self.names[model]
        name = f"{model.__name__}Fields"
        entries = {
            field: type_text(info.annotation, self.imports)
            for field, info in model.model_fields.items()
            if field != "command"
        }
        names = FieldNames.of(model.model_fields, model.other_names)
        for alias, field in names.aliases.items():
            if alias.isidentifier() and alias not in ("from", "to"):
                entries[alias] = entries[field]
        own, bases = dict(entries), []
        for base in (*self._bases(model), *(self.of(each) for each in MIXED_IN if each is not model)):
            inherited = self.entries[base]
            rest = own if base in map(self.names.get, MIXED_IN) else entries
            if inherited.items() <= rest.items():
                bases.append(base)
                own = {field: kind for field, kind in own.items() if field not in inherited}
        if not own and len(bases) == 1:
            self.names[model] = bases[0]
            return bases[0]
        self.names[model], self.entries[name] = name, entries
        lines = [f"    {field}: {kind}" for field, kind in own.items()] or ["    pass"]
        self.texts.append("\n".join((f"class {name}({', '.join(bases or ['TypedDict'])}, total=False):", *lines)))
        return name

    def on_level(self, model: type[Request]) -> str:
        """The name of the fields of a request about one record, with the level of that."""
        base, name = self.of(model), f"{model.__name__}OnLevelFields"
        if name not in self.entries:
            level = type_text(Level, self.imports)
            self.entries[name] = {**self.entries[base], "level": level}
            self.texts.append(f"class {name}({base}, total=False):\n    level: {level}")
        return name

    def _bases(self, model: type[Request]) -> Iterator[str]:
        """The fields of its bases; of a base of one request alone those of the bases of that."""
        for base in model.__bases__:
            if not _is_request(base) or not base.model_fields:
                continue
            if base in self.models or sum(issubclass(each, base) for each in self.models) > 1:
                yield self.of(base)
            else:
                yield from self._bases(base)


class Method:
    """The method of one operation, or of two: of one thing by its id, and of all without it."""

    def __init__(self, operation: Operation, fields: Fields, whole: Operation | None = None) -> None:
        called, self.model = operation.call, request_of(operation)
        self.operation, self.whole, self.fields = operation, whole, fields
        self.taken = frozenset(called.takes.model_fields) if called.takes else frozenset()
        self.path = re.findall(r"{(\w+)", operation.path)
        described = inspect.signature(operation.run, eval_str=True)
        self.gives = operation.gives or described.return_annotation
        self.on_level = "level" in self.path and described.parameters["level"].annotation is Level
        self.parameters, self.body = self._parameters(), self._body()

    def _parameters(self) -> list[str]:
        given = [name for name in self.path if name != "level" and not self._is_taken(name)]
        texts = [f"{name}: str" for name in given]
        if self.whole is not None:
            texts[-1] += " | None = None"
        if "level" in self.path and not self.on_level:
            texts.append('level: Literal["N2", "N3"] = "N2"')
        model, called = self.model, self.operation.call
        if model is None:
            return texts
        if called.positional:
            kind = type_text(model.model_fields[called.positional].annotation, self.fields.imports)
            return [*texts, f"{called.positional}: {kind}"]
        if called.takes or not self.is_query:
            texts += [f"request: {self.fields.imports.need(model)} | None = None", "/"]
        needs_level = self.on_level and not called.takes
        fields = self.fields.on_level(model) if needs_level else self.fields.of(model)
        return [*texts, f"**given: Unpack[{fields}]"]

    def _is_taken(self, name: str) -> bool:
        """Whether a value in the path is a field of what the method takes; the id of a record is its `id`."""
        return name in self.taken or (self.on_level and "id" in self.taken)

    def _in_path(self, name: str) -> str:
        """The expression of a value in the path."""
        if name == "level" and self.on_level:
            return "pop_level(body)"
        if not self._is_taken(name):
            return name
        return f"body.pop('{name if name in self.taken else 'id'}', None)"

    @property
    def is_query(self) -> bool:
        """Whether the fields are sent in the query."""
        return self.operation.method in ("GET", "DELETE")

    def _body(self) -> str:
        """The expression of what is sent."""
        model, called = self.model, self.operation.call
        if model is None:
            return ""
        if called.positional:
            return f'{{"{called.positional}": list({called.positional})}}'
        value = "request" if called.takes or not self.is_query else "None"
        names = model.model_fields.keys()
        if called.new_id or "command_id" in names:
            key = f', "{called.new_id}"' if called.new_id else ""
            return f"collect_command({value}, given{key})"
        collected = "given" if value == "None" and not self.on_level else f"collect_fields({value}, given)"
        return f"with_form({collected})" if names >= {"form", "parts"} else collected

    def text(self) -> str:
        """The method of the async client."""
        operation, called, imports = self.operation, self.operation.call, self.fields.imports
        gives, returned, body, lines = f'"{imports.need(self.gives)}"', self.gives.__name__, self.body, []
        values = list(map(self._in_path, self.path))
        if body and (values != self.path or isinstance(called.once, str)) and "level" not in values:
            lines, body = [f"body = {body}"], "body"
        sent = [gives, f'"{re.sub("{.*?}", "{}", operation.address)}"', *values]
        if body:
            sent.append(f"{'params' if self.is_query else 'body'}={body}")
        if called.pages:
            sent.append(f'pages="{called.pages}"')
        if self.whole is not None:
            whole = [gives, f'"{re.sub("{.*?}", "{}", self.whole.address)}"', *values[:-1]]
            lines += [f"if {values[-1]} is None:", f"    return await self._call({', '.join(whole)})"]
        if called.once:
            once = f'not body.get("{called.once}")' if isinstance(called.once, str) else "False"
            sent.append(f"repeatable={once}")
        if called.reads is not None:
            sent.append(f'reads="{imports.need(called.reads)}"')
            kind = inspect.signature(called.reads, eval_str=True).return_annotation
            returned = imports.need(kind)
        lines.append(f"return await self._call({', '.join(sent)})")
        head = f"async def {method_name(operation)}({', '.join(('self', *self.parameters))}) -> {returned}:"
        says = called.says or operation.description.partition("\n\n")[0]
        says = re.sub(r"\n(?=.)", "\n        ", says) + ("\n        " if "\n" in says else "")
        return "\n        ".join((f"    {head}", f'"""{says}"""', *lines))


def _is_request(kind: Any) -> TypeIs[type[Request]]:
    return isinstance(kind, type) and issubclass(kind, Request)


def request_of(operation: Operation) -> type[Request] | None:
    """What the method takes: the request of the operation, or a value in its place."""
    parameters = inspect.signature(operation.run, eval_str=True).parameters.values()
    kinds = [each.annotation for each in parameters if _is_request(each.annotation)]
    return operation.call.takes or next(iter(kinds), None)


def method_name(operation: Operation) -> str:
    """The method of the clients that calls it."""
    return operation.call.name or operation.name


def texts(operations: Iterable[Operation]) -> dict[Path, str]:
    """The text of each module that is written from these operations, formatted."""
    imports = Imports()
    for kind in BY_HAND:
        imports.need(kind)
    named: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.sent is None and not operation.call.by_hand:
            named[method_name(operation)].append(operation)
    requests = [request_of(same[0]) for same in named.values() if not same[0].call.positional]
    fields = Fields(imports, frozenset(filter(None, requests)))
    methods = [Method(same[0], fields, *same[1:]).text() for same in named.values()]
    blocking = [f"    {name} = block_on(Calls.{name})" for name in named]
    choices = "".join(f'    {name}: TypeAlias = "{kind}"\n' for name, kind in imports.choices.items())
    parts = [
        HEAD + f"    from substrate_client.models import {', '.join(imports.all_names())}\n\n" + choices,
        "\n\n".join(fields.texts),
        'class Calls(Sender):\n    """A method for each operation."""\n\n' + "\n\n".join(methods) + "\n# fmt: on",
        'class SyncCalls(SyncSender):\n    """The same methods; each waits for its answer."""\n\n'
        + "\n".join(blocking),
    ]
    written = {
        CALLS: "\n\n".join(parts),
        VALUES: models.module(imports.values()),
        OWN_VALUES: OWN_HEAD + imports.text() + "\n",
    }
    return {file: _formatted(text, file) for file, text in written.items()}


def _formatted(text: str, file: Path) -> str:
    for words in (["check", "--quiet", "--fix-only", "--select", "F401"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(file), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for written, text in texts(OPERATIONS).items():
        written.write_text(text, "utf-8")
