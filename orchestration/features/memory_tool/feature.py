"""Answers the memory tool of Anthropic's API: a file is a memory, so it is recalled and keeps its history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.memory_tool import queries as store
from orchestration.features.memory_tool import texts
from orchestration.features.memory_tool.texts import ROOT, ToolFault, check_path
from orchestration.insertion import apply_atomically
from schemas.base import Frozen, LongText, Name, Whole
from schemas.collectives import GraphRequest
from schemas.commands import Command, Remember, Retract, Supersede, Writer
from schemas.errors import InvalidRequest, SubstrateError
from schemas.memory import graph_fields
from schemas.operation import May, Method, Need, Operation, RequestParts, group
from schemas.temporal import Instant, Scope
from substrate.graphs.names import graph_name
from substrate.store import reader

PAGES: Final = f"{ROOT}/mirror"
"""Where the pages of the mirror are read."""


class MemoryToolCall(GraphRequest):
    """The input of a call as the model sends it, and whose memory it is for."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: Name = ROOT
    view_range: Annotated[tuple[Whole, Whole] | None, Field(examples=[[1, 10]])] = None
    file_text: LongText | None = None
    old_str: LongText | None = None
    new_str: LongText | None = None
    insert_line: Whole | None = None
    insert_text: LongText | None = None
    old_path: Name | None = None
    new_path: Name | None = None

    def required(self, *names: str) -> tuple[Any, ...]:
        """The values of these fields. Raises InvalidRequest where one is missing."""
        for name in names:
            if getattr(self, name) is None:
                raise InvalidRequest(f"{name}: {self.command} needs it")
        return tuple(getattr(self, name) for name in names)


class MemoryToolAnswer(Frozen):
    """What goes back to the model: the content of the result of the tool, and whether that is an error."""

    content: str
    is_error: bool = False


async def answer(request: MemoryToolCall, deps: Deps, now: Instant, writer: Writer) -> MemoryToolAnswer:
    """Answer a call of the memory tool of Anthropic's API over `/memories`, with the texts of its documentation.

    Each file is a memory of the type File, whose name is its path. The pages of the mirror are read below
    `/memories/mirror`.
    """
    name = graph_name(request.graph_key, request.citizen_id)
    async with deps.conversations.turn(name, ROOT):
        try:
            return MemoryToolAnswer(content=await _Call(request, deps, now, writer).answer())
        except ToolFault as fault:
            return MemoryToolAnswer(content=str(fault), is_error=True)


class _Call:
    """One call, and the files that it finds."""

    def __init__(self, request: MemoryToolCall, deps: Deps, now: Instant, writer: Writer) -> None:
        self.request, self.deps, self.now, self.writer = request, deps, now, writer
        self.fields = {"citizen_id": request.citizen_id or writer.author, **graph_fields(request.graph_key)}
        self.graph = deps.graph(graph_name(request.graph_key, request.citizen_id))
        self.files: dict[str, store.StoredFile] = {}

    async def answer(self) -> str:
        if await self.deps.graphs.for_reading(self.graph.name):
            clock = await reader.read_clock(self.graph, self.now)
            self.files = await store.read_files(self.graph, Scope.at(self.now, max(self.now, clock)))
        answered: str = await getattr(self, f"_{self.request.command}")()
        return answered

    async def _view(self) -> str:
        path, sizes = check_path(self.request.path), {name: file.size for name, file in self.files.items()}
        if f"{path}/".startswith(f"{PAGES}/"):
            asked, page = (self.request.graph_key, self.request.citizen_id), path[len(PAGES) + 1 :]
            found = await self.deps.features.read("pages", *asked, self.deps, self.now, page=page)
            sizes, text = found or ({}, None)
            if text is not None:
                return texts.show_file(path, text, self.request.view_range)
            sizes = {f"{PAGES}/{page}": size for page, size in sizes.items()}
        elif path in self.files:
            return texts.show_file(path, await self._text(path), self.request.view_range)
        if path != ROOT and not any(name.startswith(f"{path}/") for name in sizes):
            raise ToolFault(f"The path {path} does not exist. Please provide a valid path.")
        return texts.list_directory(path, sizes)

    async def _create(self) -> str:
        [text], path = self.request.required("file_text"), self._writable(self.request.path)
        if self._within(path) or any(f"{path}/".startswith(f"{name}/") for name in self.files):
            raise ToolFault(f"Error: File {path} already exists")
        kind = {"node_type": store.NODE_TYPE, "buckets": (store.BUCKET,), "restate": True}
        await self._apply(Remember(**self.fields, **kind, name=path, description=text))
        return f"File created successfully at: {path}"

    async def _str_replace(self) -> str:
        [old] = self.request.required("old_str")
        path = self._file("Error: The path {} does not exist. Please provide a valid path.")
        return await self._edit(path, texts.replace(path, await self._text(path), old, self.request.new_str or ""))

    async def _insert(self) -> str:
        line, added = self.request.required("insert_line", "insert_text")
        path = self._file("Error: The path {} does not exist")
        return await self._edit(path, texts.insert(path, await self._text(path), line, added))

    async def _delete(self) -> str:
        path = self._writable(self.request.path)
        ended = self._within(path)
        if not ended:
            raise ToolFault(f"Error: The path {path} does not exist")
        reason: dict[str, Any] = {"reason": "reality_changed"}
        await self._apply(*[Retract(**self.fields, **reason, id=self.files[name].id) for name in ended])
        return f"Successfully deleted {path}"

    async def _rename(self) -> str:
        old, new = map(self._writable, self.request.required("old_path", "new_path"))
        moved = self._within(old)
        if not moved:
            raise ToolFault(f"Error: The path {old} does not exist")
        above = any(f"{new}/".startswith(f"{name}/") for name in self.files)
        if above or self._within(new) or f"{new}/".startswith(f"{old}/"):
            raise ToolFault(f"Error: The destination {new} already exists")
        renamed = [(self.files[name].id, new + name[len(old) :]) for name in moved]
        await self._apply(*[Supersede(**self.fields, id=each, name=name) for each, name in renamed])
        return f"Successfully renamed {old} to {new}"

    async def _edit(self, path: str, edited: tuple[str, str]) -> str:
        text, answered = edited
        await self._apply(Supersede(**self.fields, id=self.files[path].id, description=text))
        return answered

    async def _text(self, path: str) -> str:
        return await store.read_text(self.graph, self.files[path].id)

    def _within(self, path: str) -> list[str]:
        """The file of this path, or the files of this directory."""
        return [name for name in self.files if f"{name}/".startswith(f"{path}/")]

    def _writable(self, given: str) -> str:
        path = check_path(given)
        if path == ROOT or f"{path}/".startswith(f"{PAGES}/"):
            raise ToolFault(f"Error: The path {path} is read-only")
        return path

    def _file(self, missing: str) -> str:
        path = self._writable(self.request.path)
        if path not in self.files:
            raise ToolFault(missing.format(path))
        return path

    async def _apply(self, *commands: Command) -> None:
        """Raises the error of a command that is refused; then none was applied."""
        answers = await apply_atomically([one.with_writer(self.writer) for one in commands], self.deps, self.now)
        refused: list[SubstrateError] = [one.refusal() for one in answers if one.status == "refused"]
        if refused:
            raise refused[0]


def _needs(asked: RequestParts) -> Iterable[Need]:
    request = asked.request
    action: Literal["read", "write"] = "read" if request.command == "view" else "write"
    yield Need(action, request.citizen_id, request.graph_key)


OPERATIONS: Final = group(
    "memories",
    Operation("memory_tool", "POST /v1/memory_tool", "Answer the memory tool of Anthropic's API",
              May("citizen:ID:write or LEVEL:write; to view :read", _needs), answer, call=Method()),
)  # fmt: skip
FEATURE: Final = Feature("memory_tool", operations=OPERATIONS)
