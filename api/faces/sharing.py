"""`substrate share`: copy a memory up a level. `substrate contest`: contest a shared memory, or see what is."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from api.cli import options, support
from api.cli.program import argument, option
from api.client import AsyncSubstrate
from api.mcp.arguments import Arguments
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.sharing import feature as flow
from orchestration.features.sharing.values import (
    ContestedPage,
    ContestedQuery,
    ContestRequest,
    Share,
    Shared,
    Withdraw,
)
from schemas.base import Frozen, Identifier, Name
from schemas.collectives import CollectiveId
from schemas.commands import Writer, WriteReceipt

SHARED_LEVEL: Final = option("--level", "N2 or N3.", "N2")


class ShareCommand(options.StoreCommand, name="share"):
    """Copy a memory with its links to N2 or N3; again, to bring the copy up to date."""

    id: str = argument("ID", "The id of the memory.")
    citizen_id: str = options.CITIZEN
    level: str = SHARED_LEVEL
    collective: str | None = options.COLLECTIVE
    from_level: str = option("--from-level", "Where the memory stands: N1 or N2.", "N1")
    with_links: bool = option("--links/--no-links", "Copy its links to what the citizen shared there too.", True)
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        request = self.request(Share, level=self.level.upper(), from_level=self.from_level.upper())
        done = self.answer(flow.share, request, _writer(request))
        if isinstance(done, WriteReceipt):
            raise done.refusal()
        self.show(done, _show_shared)


class ContestCommand(options.StoreCommand, name="contest"):
    """Contest a shared memory of another, take that back, or list what is contested."""

    id: str | None = argument("[ID]", "The memory; without it, list what is contested.", None)
    citizen_id: str | None = options.ANY_CITIZEN
    level: str = SHARED_LEVEL
    collective: str | None = options.COLLECTIVE
    reason: str | None = option("--reason", "What is wrong with it.")
    withdraw: bool = option("--withdraw", "Take the contest back.", False)
    as_json: bool = options.ANSWER_AS_JSON
    also_called = ("by", "--citizen")

    def run(self) -> None:
        level = self.level.upper()
        if self.id is None:
            query = self.request(ContestedQuery, level=level, by=self.citizen_id)
            self.show(self.answer(flow.list_contested, query), _show_contested)
            return
        request = self.request(Withdraw if self.withdraw else ContestRequest, level=level)
        change = flow.withdraw if self.withdraw else flow.contest
        receipt = self.answer(change, request, _writer(request))
        if receipt.status == "refused":
            raise receipt.refusal()
        verb = "withdrawn" if receipt.command == "retract" else "contested"
        self.show(receipt, lambda receipt, page: page.say(f"{verb}: {receipt.level} {receipt.id}"))


def _writer(request: Share | Withdraw) -> Writer:
    """Who names a citizen writes as this citizen, and is no steward."""
    return Writer(author=request.citizen_id, steward=False)


def _show_shared(shared: Shared, page: support.Sheet) -> None:
    page.say(f"{shared.status}: {shared.graph_key} {shared.id}, version {shared.version}")
    for line in (*(f"link {link}" for link in shared.links), *(f"left {left}" for left in shared.left)):
        page.say(line, "bright_black")
    for each in shared.contested:
        page.say(f"contested by {each.by or 'somebody'}: {each.reason}")


def _show_contested(contested: ContestedPage, page: support.Sheet) -> None:
    for memory in contested.memories:
        by = f", by {memory.author}" if memory.author else ""
        page.say(f"{memory.graph_key} {memory.id}: {memory.name}{by}")
        for each in memory.contested:
            page.say(f"  {each.by or 'somebody'}: {each.reason}", "bright_black")
    if not contested.memories:
        support.remark("nothing is contested")


class ShareArguments(Arguments):
    id: Annotated[Identifier, Field(description="Its memory id.")]
    level: Annotated[Literal["N2", "N3"], Field(description="Which level.")] = "N2"
    collective: Annotated[CollectiveId | None, Field(description="Which of N2.")] = None


class ContestArguments(Arguments):
    id: Annotated[Identifier, Field(description="The shared memory.")]
    reason: Annotated[Name, Field(description="What is wrong.")]
    level: Annotated[Literal["N2", "N3"], Field(description="Where it is.")] = "N2"
    collective: Annotated[CollectiveId | None, Field(description="Which of N2.")] = None


class SharedValues(Frozen):
    id: str
    status: str


class ContestValues(Frozen):
    statement_id: str


@tool("Share a memory", read_only=False, extra=True)
async def call_share(client: AsyncSubstrate, given: ShareArguments) -> ToolAnswer[SharedValues]:
    """Copy a memory to a shared level, where others see it; again, to update the copy."""
    shared = await client.share(**fields_of(given))
    against = [one_line(f"contested by {each.by or 'somebody'}: {each.reason}") for each in shared.contested]
    text = "\n".join((f"{shared.status} as {shared.id}, {len(shared.links)} links", *against))
    return ToolAnswer(fence(text), SharedValues(id=shared.id, status=shared.status))


@tool("Contest a memory", read_only=False, extra=True)
async def call_contest(client: AsyncSubstrate, given: ContestArguments) -> ToolAnswer[ContestValues]:
    """Say that another's shared memory is wrong."""
    receipt = await client.contest(**fields_of(given))
    return ToolAnswer(f"contested as {receipt.id}", ContestValues(statement_id=str(receipt.id)))


TOOLS: Final = (call_share, call_contest)
