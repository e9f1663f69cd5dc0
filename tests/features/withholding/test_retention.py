"""The jobs of retention retract or erase what the policies of a graph do not keep, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.features.withholding import feature as retention
from orchestration.features.withholding.feature import (
    ErasureJob,
    RetentionJob,
    list_policies,
    remove_policy,
    set_policy,
    show_policy,
)
from orchestration.features.withholding.values import SetPolicy
from orchestration.upkeep.job import Job, JobContext, Page
from schemas.commands import Undo, UndoLink, WriteReceipt
from schemas.errors import Conflict, NotFound
from schemas.memory import Level
from tests.integration.store import carried, day, links, relate, remember, stored

NOW = day(200)


def policy(citizen: str, **fields: Any) -> SetPolicy:
    return SetPolicy.model_validate({"citizen_id": citizen, **fields})


async def run(job: Job, deps: Deps, citizen: str, *, dry: bool = False) -> tuple[list[Page], list[WriteReceipt]]:
    """All pages of a run, and the receipts of their commands. Each page is done twice, as after a crash."""
    context = JobContext(deps, Level.N1, citizen, "run", NOW)
    pages, receipts = [await job.plan(context, None)], []
    while True:
        page = pages[-1]
        if not dry:
            ids = [f"run-{len(pages)}-{number}" for number in range(len(page.commands))]
            commands = [c.model_copy(update={"command_id": i}) for c, i in zip(page.commands, ids, strict=True)]
            for _ in range(2):
                done = await insertion.apply(commands, deps, NOW)
                await job.keep(context, page)
            receipts += done
        if page.next is None:
            return pages, receipts
        pages.append(await job.plan(context, page.next))


async def told(deps: Deps, citizen: str) -> None:
    """Ten memories of a tool and two of the citizen, a day apart, each linked with the one before."""
    news = [remember(citizen, f"n{i}", source="tool", description=f"News {i}") for i in range(10)]
    for number, memory in enumerate([*news, remember(citizen, "c1"), remember(citizen, "c2")]):
        await stored(deps, memory, now=day(100 + number))
    await stored(deps, relate(citizen, "n0", "n1"), relate(citizen, "n9", "c1"), now=day(120))


async def left(deps: Deps, citizen: str) -> list[str]:
    memories = [await carried(deps, citizen, name) for name in (*(f"n{i}" for i in range(10)), "c1", "c2")]
    return [each.node_id for each in memories if each is not None and each.expired_at is None]


async def test_what_a_policy_does_not_keep_is_retracted_with_its_links_and_undone_as_a_whole(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    before = await left(deps, fresh_citizen)
    reach = await set_policy("news", policy(fresh_citizen, source="tool", keep_newest=5), deps, NOW)
    assert (reach.reached, reach.total, reach.stored) == (5, 12, True)
    pages, _ = await run(RetentionJob(), deps, fresh_citizen, dry=True)
    assert [line.split()[1] for line in pages[0].shown] == [f"n{i}" for i in range(5)]
    assert await left(deps, fresh_citizen) == before
    _, receipts = await run(RetentionJob(), deps, fresh_citizen)
    assert {receipt.status for receipt in receipts} == {"stored"}
    assert await left(deps, fresh_citizen) == ["n5", "n6", "n7", "n8", "n9", "c1", "c2"]
    assert [link.source_id for link in await links(deps, fresh_citizen)] == ["n9"]
    assert (await run(RetentionJob(), deps, fresh_citizen))[1] == []
    for receipt in reversed(receipts):
        kind = Undo if receipt.command == "retract" else UndoLink
        undo = kind(citizen_id=fresh_citizen, id=str(receipt.id), undoes=receipt.command_id)
        await stored(deps, undo, now=NOW)
    assert await left(deps, fresh_citizen) == before
    assert len(await links(deps, fresh_citizen)) == 2


async def test_what_the_source_of_a_policy_may_not_change_is_refused_and_keeps_its_links(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    await set_policy("all", policy(fresh_citizen, keep_days=1, by="ingestion", confirm=12), deps, NOW)
    _, receipts = await run(RetentionJob(), deps, fresh_citizen)
    assert {receipt.problem for receipt in receipts} == {"not-trusted"}
    assert len(receipts) == 12
    assert len(await links(deps, fresh_citizen)) == 2


async def test_a_policy_that_reaches_most_of_a_graph_asks_for_its_count_and_later_too(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen)
    whole = policy(fresh_citizen, keep_days=1)
    counted = await set_policy("all", whole.model_copy(update={"dry_run": True}), deps, NOW)
    assert (counted.reached, counted.stored, counted.asks) == (12, False, True)
    with pytest.raises(Conflict, match="12 of 12"):
        await set_policy("all", whole, deps, NOW)
    with pytest.raises(Conflict):
        await set_policy("all", whole.model_copy(update={"confirm": 3}), deps, NOW)
    assert (await list_policies(whole, deps)).policies == ()
    await set_policy("all", whole, deps, day(101))
    pages, receipts = await run(RetentionJob(), deps, fresh_citizen)
    assert receipts == []
    assert "asks for confirmation" in pages[0].shown[0]
    assert pages[0].notes == pages[0].shown
    assert (await show_policy("all", whole, deps, NOW)).asks
    await set_policy("all", whole.model_copy(update={"confirm": 12}), deps, NOW)
    await run(RetentionJob(), deps, fresh_citizen)
    assert await left(deps, fresh_citizen) == []


async def test_an_erasing_policy_is_another_job_and_leaves_nothing(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen)
    erasing = policy(fresh_citizen, source="tool", keep_newest=6, action="erase")
    await set_policy("gone", erasing, deps, NOW)
    assert (await run(RetentionJob(), deps, fresh_citizen))[1] == []
    assert len(await left(deps, fresh_citizen)) == 12
    await run(ErasureJob(), deps, fresh_citizen)
    assert await carried(deps, fresh_citizen, "n3") is None
    assert await left(deps, fresh_citizen) == ["n4", "n5", "n6", "n7", "n8", "n9", "c1", "c2"]


async def test_a_run_goes_through_several_pages_and_policies_and_takes_up_again_between_them(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MEMORIES_A_PAGE", 3)
    await told(deps, fresh_citizen)
    await set_policy("first", policy(fresh_citizen, source="tool", keep_newest=8), deps, NOW)
    await set_policy("second", policy(fresh_citizen, source="tool", keep_newest=6), deps, NOW)
    pages, _ = await run(RetentionJob(), deps, fresh_citizen)
    assert len(pages) > 4
    assert await left(deps, fresh_citizen) == ["n4", "n5", "n6", "n7", "n8", "n9", "c1", "c2"]


async def test_unknown_policies_graphs_and_tags_are_told(deps: Deps, fresh_citizen: str) -> None:
    with pytest.raises(NotFound):
        await set_policy("p", policy(fresh_citizen, keep_days=1), deps, NOW)
    await stored(deps, remember(fresh_citizen, "m"))
    reach = await set_policy("p", policy(fresh_citizen, keep_days=1, tag="unknown"), deps, NOW)
    assert (reach.reached, reach.stored) == (0, True)
    assert (await remove_policy("p", policy(fresh_citizen, keep_days=1), deps)).name == "p"
    with pytest.raises(NotFound):
        await remove_policy("p", policy(fresh_citizen, keep_days=1), deps)
