"""What follows from a resolution is named, done at once by a cascade, and taken back as a whole."""

from __future__ import annotations

import random
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from schemas.commands import ANY_COMMAND, Writer, WriteReceipt
from schemas.memory import Level, Source
from schemas.temporal import BEGINNING_OF_TIME, Instant
from substrate.graphs.names import graph_name
from substrate.store import erasure, transactions
from substrate.store.changesets import RecordSelection
from tests.integration.store import day, moment, relate, remember, send, stored

WAITS = {"BLOCKED_BY": (0, 1), "DEPENDS_ON": (0, 1), "BLOCKS": (1, 0)}
"""By type, which end of a link waits, and for which."""
TYPES = ("RESOLVED_BY", *WAITS, "CAUSED_BY")


def command(citizen: str, kind: str, record_id: str, **fields: Any) -> Any:
    return ANY_COMMAND.validate_python({"command": kind, "citizen_id": citizen, "id": record_id, **fields})


async def work(deps: Deps, citizen: str, states: dict[str, str | None], *links: tuple[str, str, str]) -> list[str]:
    """Memories in these states and open links between them, since day 1. Returns the ids of the links."""
    memories = [remember(citizen, i, resolution_state=s, valid_at=moment(1)) for i, s in states.items()]
    await stored(deps, *memories, now=day(1))
    related = [relate(citizen, a, b, relation_type=kind, valid_at=moment(1)) for a, kind, b in links]
    return [str(receipt.id) for receipt in await stored(deps, *related, now=day(1))] if related else []


async def records(deps: Deps, citizen: str, *ids: str) -> dict[str, list[Any]]:
    """Every record of these memories and links."""
    graph = deps.graph(graph_name(Level.N1, citizen))
    everything = RecordSelection(BEGINNING_OF_TIME, every=True)
    memories = await transactions.read_memories(graph, {i: everything for i in ids if "|" not in i})
    links = await transactions.read_links(graph, [link_name(i) for i in ids if "|" in i])
    return {name: list(held.records) for name, held in {**memories, **links}.items()}


async def believed(deps: Deps, citizen: str, *ids: str, known: Instant) -> dict[str, list[Any]]:
    """The states of each memory and link over valid time, as known at a moment; equal neighbours are joined."""
    told: dict[str, list[Any]] = {}
    for name, held in (await records(deps, citizen, *ids)).items():
        lines: list[Any] = []
        for one in sorted(held, key=lambda record: record.valid.start):
            if not one.known.contains(known):
                continue
            state = one.content.get("resolution_state")
            if lines and lines[-1][1] == one.valid.start and lines[-1][2] == state:
                lines[-1] = (lines[-1][0], one.valid.end, state)
            else:
                lines.append((one.valid.start, one.valid.end, state))
        told[name] = lines
    return told


type Links = list[tuple[str, str, str]]


def expected(states: dict[str, str | None], links: Links, solved: str) -> tuple[dict[str, str | None], set[str]]:
    """The states after a memory is resolved with all that follows, and the links resolved with it."""
    over = {solved}
    for _ in states:
        solved_by = [(a, b) for a, kind, b in links if kind == "RESOLVED_BY"]
        over |= {a for a, b in solved_by if b in over and states[a] is not None}
    done = {(a, kind, b) for a, kind, b in links if over & {a, b}}
    waits = [
        (link, link[2 * WAITS[link[1]][0]], link[2 * WAITS[link[1]][1]]) for link in links if link[1] in WAITS
    ]
    held = {waiting for link, waiting, awaited in waits if link not in done and states[awaited] != "resolved"}
    freed = {waiting for _, waiting, awaited in waits if awaited in over} - held - over
    after = {
        name: "in_progress" if name in freed and state == "blocked" else state for name, state in states.items()
    }
    return {**after, **dict.fromkeys(over, "resolved")}, {"|".join(link) for link in done}


@pytest.mark.parametrize("seed", range(10))
async def test_a_cascade_does_what_follows_and_its_undo_brings_all_of_it_back(
    deps: Deps, fresh_citizen: str, seed: int
) -> None:
    """The laws of time hold: what was known before stays known as of then, whatever is done and undone."""
    chance = random.Random(seed)
    states = {name: chance.choice(["blocked", "blocked", "in_progress", "resolved", None]) for name in "abcdef"}
    states["a"] = "in_progress"
    ends = [chance.sample("abcdef", 2) for _ in range(9)]
    drawn = sorted({(one, chance.choice(TYPES), other) for one, other in ends})
    ids = [*states, *await work(deps, fresh_citizen, states, *drawn)]
    before = await believed(deps, fresh_citizen, *ids, known=day(4))
    resolve = command(fresh_citizen, "resolve", "a", cascade=True, effective_at=moment(3), command_id="done")
    [receipt] = await stored(deps, resolve, now=day(5))
    after = await believed(deps, fresh_citizen, *ids, known=day(6))
    wanted, over = expected(states, drawn, "a")
    assert {name: after[name][-1][2] for name in states} == wanted
    assert {name for name in ids if "|" in name and after[name][-1][2] == "resolved"} == over
    assert {each.id for each in receipt.follows if each.outcome == "done"} == {
        name for name in ids if after[name] != before[name] and name != "a"
    }
    for name in ids:
        assert [line for line in after[name] if line[1] <= day(3)] == [
            (start, min(end, day(3)), state)
            for start, end, state in before[name]
            if start < day(3) and after[name] != before[name]
        ]
    [again] = await stored(deps, resolve, now=day(7))
    assert again.duplicate
    assert [(e.id, e.resolution_state) for e in again.follows if e.outcome == "done"] == [
        (e.id, e.resolution_state) for e in receipt.follows if e.outcome == "done"
    ]
    part = chance.choice([name for name in ids if after[name] != before[name]])
    kind = "undo_link" if "|" in part else "undo"
    await stored(deps, command(fresh_citizen, kind, part), now=day(8))
    assert await believed(deps, fresh_citizen, *ids, known=day(9)) == before
    await stored(deps, command(fresh_citizen, kind, part), now=day(10))
    assert await believed(deps, fresh_citizen, *ids, known=day(11)) == after
    assert await believed(deps, fresh_citizen, *ids, known=day(4)) == before
    assert await believed(deps, fresh_citizen, *ids, known=day(6)) == after


def outcomes(receipt: WriteReceipt) -> dict[str, str]:
    return {each.id: each.outcome for each in receipt.follows}


async def test_a_resolution_without_a_cascade_names_what_could_follow_and_changes_nothing_else(
    deps: Deps, fresh_citizen: str
) -> None:
    states = {"problem": "blocked", "solution": None, "later": "blocked"}
    links = (("problem", "RESOLVED_BY", "solution"), ("later", "BLOCKED_BY", "problem"))
    ids = [*states, *await work(deps, fresh_citizen, states, *links)]
    [receipt] = await stored(deps, command(fresh_citizen, "resolve_link", ids[3]), now=day(5))
    assert outcomes(receipt) == {"problem": "could", "later": "could", ids[4]: "could"}
    known = await believed(deps, fresh_citizen, *ids, known=day(6))
    assert [known[name][-1][2] for name in ids] == ["blocked", None, "blocked", "resolved", "in_progress"]


async def test_a_hub_is_resolved_in_bounded_steps_until_nothing_is_left(deps: Deps, fresh_citizen: str) -> None:
    waiting: dict[str, str | None] = {f"w{n}": "blocked" for n in range(120)}
    await work(deps, fresh_citizen, {"hub": "blocked", **waiting}, *((w, "BLOCKED_BY", "hub") for w in waiting))
    cascade = command(fresh_citizen, "resolve", "hub", cascade=True)
    left = []
    for number in range(3):
        [receipt] = await stored(deps, cascade, now=day(5 + number))
        assert len(receipt.follows) <= 100
        left.append(receipt.further)
    assert left == sorted(left, reverse=True)
    assert left[0] >= 120 - 49
    assert left[-1] == 0
    known = await believed(deps, fresh_citizen, *waiting, known=day(9))
    assert {known[name][-1][2] for name in waiting} == {"in_progress"}
    [refused] = await send(deps, cascade, now=day(10))
    assert refused.problem == "conflict"


async def test_what_trust_refuses_is_named_and_left(deps: Deps, fresh_citizen: str) -> None:
    await work(deps, fresh_citizen, {"given": "blocked"})
    tool = {"source": "tool", "valid_at": moment(1)}
    await stored(deps, remember(fresh_citizen, "blocker", resolution_state="in_progress", **tool), now=day(1))
    link = relate(fresh_citizen, "given", "blocker", relation_type="BLOCKED_BY", valid_at=moment(1))
    await stored(deps, link.with_source(Source.TOOL), now=day(1))
    [receipt] = await stored(
        deps, command(fresh_citizen, "resolve", "blocker", cascade=True, source="tool"), now=day(5)
    )
    assert outcomes(receipt) == {"given|BLOCKED_BY|blocker": "done", "given": "left"}
    [left] = [each for each in receipt.follows if each.outcome == "left"]
    assert left.reason is not None
    assert "source tool may not change a record of source citizen" in left.reason


async def test_on_a_shared_level_a_cascade_leaves_what_another_citizen_wrote(deps: Deps) -> None:
    def shared(kind: str, author: str, **fields: Any) -> Any:
        whole = {"command": kind, "level": "N2", "citizen_id": author, **fields}
        return ANY_COMMAND.validate_python(whole).with_writer(Writer(None, author, Source.SYSTEM))

    work_of = [("shared.p", "ada"), ("shared.x", "felix"), ("shared.y", "ada")]
    await stored(
        deps,
        *(
            shared("remember", who, id=i, name=i, resolution_state="blocked", valid_at=moment(1))
            for i, who in work_of
        ),
        now=day(1),
    )
    for waiting in ("shared.x", "shared.y"):
        whole = relate("ada", waiting, "shared.p", relation_type="BLOCKED_BY", valid_at=moment(1))
        link = whole.model_copy(update={"level": Level.N2}).with_writer(Writer(None, "ada", Source.SYSTEM))
        await stored(deps, link, now=day(1))
    [receipt] = await stored(deps, shared("resolve", "ada", id="shared.p", cascade=True), now=day(5))
    assert outcomes(receipt)["shared.x"] == "left"
    assert outcomes(receipt)["shared.y"] == "done"


async def test_what_was_erased_is_left_out_of_an_undo(deps: Deps, fresh_citizen: str) -> None:
    states: dict[str, str | None] = dict.fromkeys(("p", "x", "y"), "blocked")
    await work(deps, fresh_citizen, states, ("x", "BLOCKED_BY", "p"), ("y", "BLOCKED_BY", "p"))
    await stored(deps, command(fresh_citizen, "resolve", "p", cascade=True), now=day(5))
    await erasure.erase_memories(deps.graph(graph_name(Level.N1, fresh_citizen)), ["x"], deps.features.kept)
    await stored(deps, command(fresh_citizen, "undo", "p"), now=day(6))
    known = await believed(deps, fresh_citizen, "p", "x", "y", known=day(7))
    assert {name: lines[-1][2] for name, lines in known.items()} == {"p": "blocked", "y": "blocked"}


async def test_a_stretch_of_the_past_changes_only_what_was_open_then(deps: Deps, fresh_citizen: str) -> None:
    """What began later, and what was solved later, is not touched outside of the stretch."""
    ids = await work(deps, fresh_citizen, {"p": "blocked", "x": "blocked"}, ("x", "BLOCKED_BY", "p"))
    await stored(deps, command(fresh_citizen, "resolve", "x", effective_at=moment(20)), now=day(21))
    stretch = {"valid_from": moment(10), "valid_to": moment(30)}
    [receipt] = await stored(deps, command(fresh_citizen, "resolve", "p", cascade=True, **stretch), now=day(40))
    assert outcomes(receipt) == {"x": "done", ids[0]: "done"}
    known = await believed(deps, fresh_citizen, "p", "x", *ids, known=day(41))
    end = known["p"][-1][1]
    assert known["p"] == [
        (day(1), day(10), "blocked"),
        (day(10), day(30), "resolved"),
        (day(30), end, "blocked"),
    ]
    assert known["x"] == [
        (day(1), day(10), "blocked"),
        (day(10), day(20), "in_progress"),
        (day(20), end, "resolved"),
    ]
    assert [line[2] for line in known[ids[0]]] == ["in_progress", "resolved", "in_progress"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"expected_version": 7}, "conflict"),
        ({"effective_at": moment(-5)}, "invalid-request"),
        ({"id": "nobody"}, "not-found"),
    ],
)
async def test_a_refused_cascade_changes_nothing(
    deps: Deps, fresh_citizen: str, fields: dict[str, Any], problem: str
) -> None:
    ids = await work(deps, fresh_citizen, {"p": "blocked", "x": "blocked"}, ("x", "BLOCKED_BY", "p"))
    before = await records(deps, fresh_citizen, "p", "x", *ids)
    whole = {"id": "p", "cascade": True, **fields}
    [receipt] = await send(deps, command(fresh_citizen, "resolve", whole.pop("id"), **whole), now=day(5))
    assert receipt.problem == problem
    assert await records(deps, fresh_citizen, "p", "x", *ids) == before
