"""`substrate share`: copy a memory up a level. `substrate contest`: contest a shared memory, or see what is."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer
from pydantic import Field
from rich.console import Console
from rich.text import Text

from api.cli import bind, options, support
from api.client import AsyncSubstrate
from api.mcp.arguments import (
    Arguments,
    CitizenArgument,
)
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.sharing import flow as contests
from orchestration.features.sharing import flow as sharing
from orchestration.features.sharing.flow import list_contested
from orchestration.features.sharing.values import (
    ContestedPage,
    ContestedQuery,
    ContestRequest,
    Share,
    Shared,
    Withdraw,
)
from schemas.base import (
    Frozen,
    Identifier,
    Name,
)
from schemas.collectives import CollectiveId
from schemas.commands import Writer, WriteReceipt
from schemas.settings import Settings

app = typer.Typer(add_completion=False)
SharedLevel = Annotated[str, typer.Option("--level", help="N2 or N3.")]


class _Share(bind.Options):
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of the memory.")]
    citizen_id: options.Citizen
    level: SharedLevel = "N2"
    collective: options.Collective = None
    from_level: Annotated[str, typer.Option(help="Where the memory stands: N1 or N2.")] = "N1"
    with_links: Annotated[
        bool, typer.Option("--links/--no-links", help="Copy its links to what the citizen shared there too.")
    ] = True
    as_json: options.AnswerAsJson = False


@bind.command(app, _Share)
def share(given: _Share) -> None:
    """Copy a memory with its links to N2 or N3; again, to bring the copy up to date."""
    request = given.request(Share, level=given.level.upper(), from_level=given.from_level.upper())
    answer = support.run(_share(support.read_settings(given.ctx), request))
    support.print_answer(answer, _show_shared, as_json=given.as_json)


class _Contest(bind.Options):
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The memory; without it, list what is contested.")
    ] = None
    citizen_id: options.AnyCitizen = None
    level: SharedLevel = "N2"
    collective: options.Collective = None
    reason: Annotated[str | None, typer.Option(help="What is wrong with it.")] = None
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the contest back.")] = False
    as_json: options.AnswerAsJson = False

    @classmethod
    def labels(cls) -> dict[str, str]:
        """With that of whoever contests, where what is contested is listed."""
        return {**super().labels(), "by": "--citizen"}


@bind.command(app, _Contest)
def contest(given: _Contest) -> None:
    """Contest a shared memory of another, take that back, or list what is contested."""
    settings, level = support.read_settings(given.ctx), given.level.upper()
    if given.id is None:
        query = given.request(ContestedQuery, level=level, by=given.citizen_id)
        answer = support.in_store(settings, lambda deps, now: list_contested(query, deps, now))
        support.print_answer(answer, _show_contested, as_json=given.as_json)
        return
    request = given.request(Withdraw if given.withdraw else ContestRequest, level=level)
    support.print_answer(support.run(_contest(settings, request)), _show_receipt, as_json=given.as_json)


def _writer(citizen_id: str) -> Writer:
    """Who names a citizen writes as this citizen, and is no steward."""
    return Writer(author=citizen_id, steward=False)


async def _share(settings: Settings, request: Share) -> Shared:
    async with support.open_store(settings) as runtime:
        now = await runtime.moment()
        done = await sharing.share(request, _writer(request.citizen_id), runtime.deps, now)
    if isinstance(done, WriteReceipt):
        raise done.refusal()
    return done


async def _contest(settings: Settings, request: Withdraw) -> WriteReceipt:
    async with support.open_store(settings) as runtime:
        writer, now = _writer(request.citizen_id), await runtime.moment()
        if isinstance(request, ContestRequest):
            receipt = await contests.contest(request, writer, runtime.deps, now)
        else:
            receipt = await contests.withdraw(request, writer, runtime.deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    return receipt


def _show_shared(shared: Shared, console: Console) -> None:
    console.print(
        Text(f"{shared.status}: {shared.graph_key} {shared.id}, version {shared.version}"), soft_wrap=True
    )
    for line in (*(f"link {link}" for link in shared.links), *(f"left {left}" for left in shared.left)):
        console.print(Text(line, "bright_black"), soft_wrap=True)
    for each in shared.contested:
        console.print(Text(f"contested by {each.by or 'somebody'}: {each.reason}"), soft_wrap=True)


def _show_receipt(receipt: WriteReceipt, console: Console) -> None:
    verb = "withdrawn" if receipt.command == "retract" else "contested"
    console.print(Text(f"{verb}: {receipt.level} {receipt.id}"), soft_wrap=True)


def _show_contested(page: ContestedPage, console: Console) -> None:
    for memory in page.memories:
        by = f", by {memory.author}" if memory.author else ""
        console.print(Text(f"{memory.graph_key} {memory.id}: {memory.name}{by}"), soft_wrap=True)
        for each in memory.contested:
            console.print(Text(f"  {each.by or 'somebody'}: {each.reason}", "bright_black"), soft_wrap=True)
    if not page.memories:
        support.messages().print(Text("nothing is contested", "bright_black"))


class ShareArguments(Arguments):
    citizen_id: CitizenArgument
    id: Annotated[Identifier, Field(description="Its memory id.")]
    level: Annotated[Literal["N2", "N3"], Field(description="Which level.")] = "N2"
    collective: Annotated[CollectiveId | None, Field(description="Which of N2.")] = None


class ContestArguments(Arguments):
    citizen_id: CitizenArgument
    id: Annotated[Identifier, Field(description="The shared memory.")]
    reason: Annotated[Name, Field(description="What is wrong.")]
    level: Annotated[Literal["N2", "N3"], Field(description="Where it is.")] = "N2"
    collective: Annotated[CollectiveId | None, Field(description="Which of N2.")] = None


class SharedValues(Frozen):
    id: str
    status: str

    @classmethod
    def of(cls, shared: Shared) -> SharedValues:
        return cls(id=shared.id, status=shared.status)


class ContestValues(Frozen):
    statement_id: str

    @classmethod
    def of(cls, receipt: WriteReceipt) -> ContestValues:
        return cls(statement_id=str(receipt.id))


@tool("Share a memory", read_only=False, extra=True)
async def call_share(client: AsyncSubstrate, given: ShareArguments) -> ToolAnswer[SharedValues]:
    """Copy a memory to a shared level, where others see it; again, to update the copy."""
    shared = await client.share(**fields_of(given))
    against = [one_line(f"contested by {each.by or 'somebody'}: {each.reason}") for each in shared.contested]
    text = "\n".join((f"{shared.status} as {shared.id}, {len(shared.links)} links", *against))
    return ToolAnswer(fence(text), SharedValues.of(shared))


@tool("Contest a memory", read_only=False, extra=True)
async def call_contest(client: AsyncSubstrate, given: ContestArguments) -> ToolAnswer[ContestValues]:
    """Say that another's shared memory is wrong."""
    receipt = await client.contest(**fields_of(given))
    return ToolAnswer(f"contested as {receipt.id}", ContestValues.of(receipt))


TOOLS: Final = (call_share, call_contest)
