"""Memories and links: write, list, read, revise and erase them, and read their history; commands of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, Final

from fastapi import Body, Response
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from api.dependencies import Now
from api.problems import invalid_request
from api.request_parsing.erasures import erase_and_report
from api.request_parsing.etags import NOT_MODIFIED, IfNoneMatch, etag_response
from api.request_parsing.reading import (
    LINKS,
    MEMORIES,
    HistoryRequest,
    LinkIdInPath,
    LinkListRequest,
    MemoryListRequest,
    MomentRequest,
    RecordAddress,
    add_notes,
)
from api.request_parsing.writes import (
    LINK_RESPONSES,
    MEMORY_RESPONSES,
    ListWrite,
    SingleWrite,
    WriteContext,
    one_or_many,
    write_one,
    write_one_or_many,
)
from orchestration.dependencies import Deps
from orchestration.validation import validate_consciousness_link
from schemas.commands import (
    CHANGES,
    AnyCommand,
    Command,
    EraseMemory,
    ErasureReport,
    Relate,
    Remember,
    Subject,
    WriteReceipt,
)
from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    Level,
    ValidationResult,
    describe_unreadable,
)
from schemas.operation import (
    ANY_KEY,
    COMMANDS,
    ERASES,
    MemoryIdInPath,
    Method,
    Operation,
    graph_may,
    group,
    record_may,
)
from schemas.responses import LinkHistory, LinkPage, MemoryHistory, MemoryPage

_IN_PATH: Final = ("id", "level", "command")


@dataclass(frozen=True)
class RevisionBody:
    """Marks a body as a command without the fields in the path: documented here, parsed later."""

    kind: type[Command]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        command = handler.resolve_ref_schema(handler(self.kind.__pydantic_core_schema__))
        fields = {name: field for name, field in command["properties"].items() if name not in _IN_PATH}
        required = [name for name in command.get("required", ()) if name not in _IN_PATH]
        return {**command, "title": f"{self.kind.__name__}Body", "properties": fields, "required": required}


async def remember(body: Annotated[Any, one_or_many(Remember), Body()], writing: ListWrite) -> Response:
    """Store one memory, or a list of up to 1000. In a list each memory is stored or refused on its own."""
    return await write_one_or_many(body, Remember, writing)


async def relate(body: Annotated[Any, one_or_many(Relate), Body()], writing: ListWrite) -> Response:
    """Store one link, or a list of up to 1000; the metadata of each is checked in three tiers."""
    return await write_one_or_many(body, Relate, writing)


async def carry_out(body: Annotated[Any, one_or_many(AnyCommand), Body()], writing: ListWrite) -> Response:
    """Apply one command, or a list of up to 1000, in order; `command` names the kind of each."""
    return await write_one_or_many(body, None, writing)


async def list_memories(query: MemoryListRequest, deps: Deps, now: Now) -> MemoryPage:
    """The memories of a graph, now or at a moment, a page at a time. `Substrate-Notes` lists what was assumed."""
    page, memories = await MEMORIES.show_page(query, deps, now)
    return MemoryPage(memories=memories, next=page.next, notes=page.notes, degraded=describe_unreadable(memories))


async def list_links(query: LinkListRequest, deps: Deps, now: Now) -> LinkPage:
    """The links of a graph, now or at a moment, a page at a time: all that hold then, even if their ends do not.

    `Substrate-Notes` lists what was assumed.
    """
    page, links = await LINKS.show_page(query, deps, now)
    return LinkPage(links=links, next=page.next, degraded=describe_unreadable(links))


async def memory_history(
    level: Level, memory_id: MemoryIdInPath, query: HistoryRequest, *, deps: Deps, now: Now
) -> MemoryHistory:
    """All records of a memory, a page at a time: content, valid time, transaction time, and what closed each.

    `Substrate-Notes` lists what was assumed.
    """
    return await MEMORIES.read_history(RecordAddress(level, memory_id), query, deps, now)


async def link_history(
    level: Level, link_id: LinkIdInPath, query: HistoryRequest, *, deps: Deps, now: Now
) -> LinkHistory:
    """All records of a link, a page at a time: content, valid time, transaction time, and what closed each.

    `Substrate-Notes` lists what was assumed.
    """
    return await LINKS.read_history(RecordAddress(level, link_id), query, deps, now)


async def read_memory(
    level: Level,
    memory_id: MemoryIdInPath,
    query: MomentRequest,
    *,
    deps: Deps,
    now: Now,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """A memory as it is now, or as it was at a moment. `Substrate-Notes` lists what was assumed."""
    memory, decay = await MEMORIES.read(RecordAddress(level, memory_id), query, deps, now)
    response = etag_response(memory, decay, query.citizen_id, if_none_match)
    add_notes(response, query, memory)
    return response


async def read_link(
    level: Level, link_id: LinkIdInPath, query: MomentRequest, *, deps: Deps, now: Now
) -> ConsciousnessRelationship:
    """A link as it is now, or as it was at a moment. `Substrate-Notes` lists what was assumed."""
    stored, decay = await LINKS.read(RecordAddress(level, link_id), query, deps, now)
    [link] = decay.show([stored])
    return link


async def erase_memory(
    level: Level,
    memory_id: MemoryIdInPath,
    body: Annotated[Any, RevisionBody(EraseMemory), Body()],
    writing: SingleWrite,
) -> ErasureReport:
    """Remove the memory for good, from the past and from the files of the store too. This cannot be undone."""
    return await erase_and_report(_command_at(level, memory_id, body), EraseMemory, writing)


def _command_at(level: Level, record_id: str, body: Any) -> dict[str, Any]:
    """The raw command: the fields of the body, with id and level of the path.

    Raises InvalidRequest for a body that is not an object, or has a field that is in the path.
    """
    if not isinstance(body, dict):
        raise invalid_request(["body: is not an object"])
    repeated = [f"{name}: is in the path already; leave it out" for name in _IN_PATH if name in body]
    if repeated:
        raise invalid_request(repeated)
    return {**body, "id": record_id, "level": level}


async def validate_link(link: Annotated[dict[str, Any], Body()]) -> ValidationResult:
    """Errors, warnings and completeness of a link's metadata; nothing is stored. Unknown fields are allowed."""
    return validate_consciousness_link(link)


def _revisions(noun: Subject, changed: str, corrected: str) -> Iterator[Operation]:
    """The operations that revise a memory or a link. `changed`, `corrected`: what becomes of it in both ways."""
    texts = {
        "supersede": (f"Change a {noun}: the world changed", f"The world changed: {changed}.", ""),
        "correct": (f"Correct a {noun}: we were wrong", f"We were wrong: {corrected}.", ""),
        "retract": (
            f"Take a {noun} back",
            f"The {noun} does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`, by "
            "default for good. With none of the three, the record that holds now never held.",
            f"The {noun} no longer holds from `effective_at` on; without `effective_at` it never held.",
        ),
        "resolve": (
            f"Set the state of a {noun}'s work",
            f"Set the resolution state of the {noun}: `resolved`, unless another one is named.",
            f"Set the resolution state of a {noun}: resolved, unless another state is named.",
        ),
        "undo": (
            f"Undo the last change of a {noun}",
            "Revert the last change by new records; the mistake stays visible in the past.",
            "",
        ),
    }
    for action, (summary, says, of_client) in texts.items():
        kind = CHANGES[action, noun]
        name = kind.model_fields["command"].get_default()
        yield _revision(noun, action, kind, summary=summary, says=says, call=Method(name, of_client))


def _revision(
    noun: Subject, action: str, kind: type[Command], *, summary: str, says: str, call: Method
) -> Operation:
    """The operation that revises a record: the fields of the command but those in the path."""
    plural, id_in_path = ("memories", MemoryIdInPath) if noun == "memory" else ("links", LinkIdInPath)

    async def revise(*, level: Level, body: Any, writing: WriteContext, **named: str) -> WriteReceipt:
        return await write_one(_command_at(level, named[f"{noun}_id"], body), kind, writing)

    body = Annotated[Any, RevisionBody(kind), Body()]
    taken = {"level": Level, f"{noun}_id": id_in_path, "body": body, "writing": SingleWrite}
    parameters = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=taken[name]) for name in taken]
    revise.__signature__ = Signature(parameters, return_annotation=WriteReceipt)  # type: ignore[attr-defined]
    revise.__doc__ = says
    place = f"POST /v1/{plural}/{{level}}/{{{noun}_id:path}}/{action}"
    return Operation(f"{action}_{noun}", place, summary, COMMANDS, revise, call=call._replace(takes=kind))


READS: Final = record_may("read")
OPERATIONS: Final = (
    *group(
        "memories",
    Operation("remember", "POST /v1/memories", "Store memories", COMMANDS, remember,
              gives=WriteReceipt, status=201, responses=MEMORY_RESPONSES,
              call=Method(says="Store one memory.", takes=Remember)),
    Operation("list_memories", "GET /v1/memories", "List memories", graph_may("read"), list_memories, notes=True,
              call=Method(says="One page of a graph, now or at a moment; `cursor` is the `next` of the page "
                               "before.")),
    Operation("get_memory_history", "GET /v1/memories/{level}/{memory_id:path}/history",
              "Read all records of a memory", READS, memory_history, notes=True,
              call=Method("history", "All records of the memory in the order they became known; with `limit` or "
                          "`cursor` one page.", pages="records")),
    Operation("get_memory", "GET /v1/memories/{level}/{memory_id:path}", "Read a memory", READS, read_memory,
              gives=ConsciousnessNode, responses=NOT_MODIFIED,
              call=Method("get", "The memory as it is now, or at `as_of_time` as known at `known_at`.")),
    *_revisions("memory", "the old content ends at `effective_at`, the new begins there",
                "the corrected content holds over the same valid time"),
    Operation("erase_memory", "POST /v1/memories/{level}/{memory_id:path}/erase", "Erase a memory for good",
              ERASES, erase_memory,
              call=Method(says="Remove the memory for good, from the past too. This cannot be undone.",
                          takes=EraseMemory)),
    ),
    *group(
        "links",
    Operation("relate", "POST /v1/links", "Link memories", COMMANDS, relate,
              gives=WriteReceipt, status=201, responses=LINK_RESPONSES,
              call=Method(says="Store one link between two memories.", takes=Relate)),
    Operation("list_links", "GET /v1/links", "List links", graph_may("read"), list_links, notes=True,
              call=Method(says="One page of a graph, now or at a moment; `cursor` is the `next` of the page "
                               "before.")),
    Operation("get_link_history", "GET /v1/links/{level}/{link_id:path}/history", "Read all records of a link",
              READS, link_history, notes=True,
              call=Method("link_history", "All records of the link in the order they became known; with `limit` "
                          "or `cursor` one page.", pages="records")),
    Operation("get_link", "GET /v1/links/{level}/{link_id:path}", "Read a link", READS, read_link, notes=True,
              call=Method(says="The link as it is now, or at `as_of_time` as known at `known_at`.")),
    *_revisions("link", "the old metadata end at `effective_at`, the new begin there",
                "the corrected metadata hold over the same valid time"),
    ),
    *group(
        "commands",
    Operation("apply_commands", "POST /v1/commands", "Apply commands of any kind", COMMANDS, carry_out,
              gives=WriteReceipt, status=201, responses=MEMORY_RESPONSES, call=Method("apply", by_hand=True)),
    ),
)  # fmt: skip
VALIDATION: Final = group(
    "validation",
    Operation("validate_link", "POST /v1/validation/link", "Check a link without storing it",
              ANY_KEY, validate_link, call=Method(by_hand=True)),
)  # fmt: skip
