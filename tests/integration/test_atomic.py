"""A list of commands that is carried out as a whole, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any
from uuid import uuid4

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.transfer.exporter import export
from orchestration.writing import atomic, simulation
from orchestration.writing import version_chain as chain_rows
from orchestration.writing.changes import WriteTimes
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.simulation import PlannedWrite, Simulation
from schemas.commands import ANY_COMMAND, WriteReceipt
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.temporal import END_OF_TIME
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf
from substrate.store import reader, transactions
from substrate.store.changesets import TransactionRows
from substrate.store.transactions import COMMANDS_AT_MOST
from tests.integration.store import NOW, history, moment, relate, remember, send, stored

IDS = ("a", "b", "c", "d")
LINKS = ("a|NEXT|b", "b|NEXT|c", "a|NEXT|a", "own")


def said(citizen: str, **fields: Any) -> Any:
    return ANY_COMMAND.validate_python({"citizen_id": citizen, **fields})


async def whole(deps: Deps, citizen: str) -> list[dict[str, Any]]:
    """All that the graph of a citizen holds, whoever it is, each record with its own trace."""
    if not await deps.graphs.for_reading(GraphOf(Level.N1, citizen).graph):
        return []
    lines = list(await export([GraphOf(Level.N1, citizen)], deps, embeddings=True))[1:-1]
    told = [orjson.loads(line.replace(citizen.encode(), b"somebody")) for line in lines]
    told = [one for one in told if one["kind"] != "tag"]  # one that no memory has any more may stay
    records = [one for one in told if one["kind"] == "record" and "trace" in one]
    traces = {(one["of"], one["properties"]["version"]): one["trace"] for one in records}
    for one in told:
        one.get("properties", {}).pop("fingerprint", None)
        if "shares_trace_of" in one:
            one["trace"] = traces[one["of"], one.pop("shares_trace_of")]
    held = [one["properties"] for one in told if one["kind"] == "record" or one.get("past")]
    ends = [one["invalid_at"] for one in held if one["expired_at"] == END_OF_TIME]
    assert told[0]["meta"].pop("pending_until", 0) >= max(ends, default=0)
    await check_changes(deps.graph(GraphOf(Level.N1, citizen).graph), [one.get("properties", {}) for one in told])
    return told


async def check_changes(graph: Graph, stored: list[dict[str, Any]]) -> None:
    """A graph says until when something in it begins or ends to hold by itself."""
    situation = await reader.read_situation(graph)
    assert situation.state is not None
    assert situation.changes_until is not None
    open_ones = [one for one in stored if one.get("expired_at") == END_OF_TIME]
    times = [time for one in open_ones for time in (one["valid_at"], one["invalid_at"]) if time != END_OF_TIME]
    assert max(situation.changes_until, situation.state.clock) >= max(times, default=0)


def some_commands(chance: Random, start: int, count: int) -> list[dict[str, Any]]:
    """Commands in outline on a few memories and links; some cannot be carried out."""

    def one(place: int) -> dict[str, Any]:
        given_id = {"command_id": f"c{chance.randrange(start, place + 1) if chance.random() < 0.1 else place}"}
        words = " ".join(chance.choices(("river", "lamp", "harbour", "stone"), k=2))
        since = {"valid_at": moment(chance.randrange(1, 60))} if chance.random() < 0.8 else {}
        felt = {"emotion_vector": {chance.choice(("joy", "fear")): 0.5}} if chance.random() < 0.4 else {}
        tagged = {"tags": [chance.choice("xy")]} if chance.random() < 0.3 else {}
        effective = {"effective_at": moment(chance.randrange(1, 150))} if chance.random() < 0.4 else {}
        kind = chance.choice(KINDS)
        if kind == "remember":
            memory = {"id": chance.choice(IDS), "name": words, **since, **felt, **tagged}
            return {"command": kind, **given_id, **memory}
        if kind == "relate":
            ends = {"source_id": chance.choice("ab"), "target_id": chance.choice("abc"), "relation_type": "NEXT"}
            named = {"id": "own"} if chance.random() < 0.3 else {}
            return {"command": kind, **given_id, **ends, **named, **since, **LINK}
        of_link = kind.endswith("link") or kind == "unrelate"
        on = {"id": chance.choice(LINKS if of_link else IDS)}
        revises = "supersede" in kind or "correct" in kind
        changed: dict[str, Any] = {"energy": chance.randrange(11) / 10} if revises else {}
        if changed and not of_link and chance.random() < 0.6:
            changed |= {"description": words, **felt, **tagged}
        timed = effective if kind in FROM_A_MOMENT else {}
        if kind not in ("undo", "undo_link") and chance.random() < 0.3:
            first = chance.randrange(1, 150)
            timed = {"valid_from": moment(first), "valid_to": moment(first + chance.randrange(1, 40))}
        elif "correct" in kind and chance.random() < 0.3:
            timed = {"valid_at": moment(chance.randrange(1, 60))}
        return {"command": kind, **given_id, **on, **changed, **timed}

    return [one(place) for place in range(start, start + count)]


FROM_A_MOMENT = ("supersede", "supersede_link", "retract", "unrelate", "resolve", "resolve_link")
LINK: dict[str, Any] = {
    "energy": 0.7,
    "confidence": 0.9,
    "emotion_vector": {"joy": 0.5},
    "goal": "go",
    "mindstate": "calm",
}
KINDS = (
    *["remember"] * 5, *["relate"] * 4, *["supersede"] * 2, "correct", "resolve", "retract", *["undo"] * 2,
    "supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link",
)  # fmt: skip


OF_ONE_WRITING = {"created_at", "version", "versions", "touched", "command_id", "current_version"}
"""What differs between commands that have one moment and those that have one each."""


OF_THE_END = {"follows", "further"}
"""What could be done now: of a list it is read when all of the list is stored."""


def told(receipts: Sequence[WriteReceipt], citizen: str) -> list[str]:
    apart = OF_ONE_WRITING | OF_THE_END
    return [receipt.model_dump_json(exclude=apart).replace(citizen, "somebody") for receipt in receipts]


def believed(lines: Sequence[dict[str, Any]]) -> list[str]:
    """What is known now: the content of each open record over its valid time, with what it is likened by."""
    held: list[str] = []
    for one in lines:
        said = one.get("properties", {})
        if said.get("expired_at") != END_OF_TIME:
            continue
        kept = {name: value for name, value in said.items() if name not in OF_ONE_WRITING}
        likened = one.get("trace", {}).get("vectors", {}).get("embedding")
        ends = [one.get(end) for end in ("source_id", "target_id")]
        held.append(
            orjson.dumps([kept, likened, ends, sorted(one.get("tags", ()))], option=orjson.OPT_SORT_KEYS).decode()
        )
    return sorted(held)


async def alike(deps: Deps, chance: Random) -> bool:
    """Hold a list against the same commands sent one by one; whether it was applied."""
    one, other = f"t{uuid4().hex}", f"t{uuid4().hex}"
    before = [
        {
            "command": "remember",
            "command_id": f"first {memory}",
            "id": memory,
            "name": memory,
            "valid_at": moment(1),
        }
        for memory in "ab"
    ] + some_commands(chance, 0, chance.randrange(12))
    for place, fields in enumerate(before):
        for citizen in (one, other):
            await send(deps, said(citizen, **fields), now=NOW + place)
    assert await whole(deps, one) == await whole(deps, other)
    start = NOW + chance.choice((-1_000_000, 100, 1_000_000))
    batch: list[dict[str, Any]] = []
    apart: list[WriteReceipt] = []
    for fields in some_commands(chance, 100, chance.randrange(1, 16)):
        [receipt] = await send(deps, said(other, **fields), now=start)
        if receipt.status == "stored" or chance.random() < 0.03:
            batch.append(fields)
            apart.append(receipt)
    unchanged = await whole(deps, one)
    receipts = await atomic.apply([said(one, **fields) for fields in batch], deps, start)
    if any(receipt.status == "refused" for receipt in apart):
        assert await whole(deps, one) == unchanged
        assert {r.status for r in receipts if not r.duplicate} == {"refused"}
        return False
    if loose(unchanged, await whole(deps, other)):
        assert await whole(deps, one) == unchanged
        assert {receipt.problem for receipt in receipts} == {"conflict"}
        return False
    assert believed(await whole(deps, one)) == believed(await whole(deps, other))
    assert told(receipts, one) == told(apart, other)
    return True


def loose(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> bool:
    """Whether a link that holds joins a memory of which there was nothing before, and nothing holds after."""
    held = [one for one in after if one.get("properties", {}).get("expired_at") == END_OF_TIME]
    ends = {one[end] for one in held if one["kind"] == "link" for end in ("source_id", "target_id")}
    memories = [one for one in (*before, *held) if one["kind"] in ("memory", "record")]
    return not ends <= {one["properties"]["id"] for one in memories}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
async def test_a_list_does_what_its_commands_do_one_by_one_or_nothing(deps: Deps, chance: Random) -> None:
    await alike(deps, chance)


async def test_later_commands_build_on_earlier_ones(deps: Deps, fresh_citizen: str) -> None:
    since = {"valid_at": moment(1)}
    receipts = await atomic.apply(
        [
            remember(fresh_citizen, "a", description="the harbour at night", **since),
            remember(fresh_citizen, "b", **since),
            relate(fresh_citizen, "a", "b"),
            said(fresh_citizen, command="supersede", id="a", description="the harbour by day"),
            said(fresh_citizen, command="undo", id="a"),
        ],
        deps,
        NOW,
    )
    assert [(one.status, one.id, one.version) for one in receipts] == [
        ("stored", "a", 1), ("stored", "b", 1), ("stored", "a|NEXT|b", 1), ("stored", "a", 3), ("stored", "a", 1),
    ]  # fmt: skip
    records = await history(deps, fresh_citizen, "a")
    assert [one.description.split()[-1] for one in records] == ["night"]


async def test_a_first_list_may_leave_nothing_but_receipts(deps: Deps, fresh_citizen: str) -> None:
    commands = [remember(fresh_citizen, "m"), said(fresh_citizen, command="retract", id="m")]
    receipts = await atomic.apply(commands, deps, NOW)
    assert [receipt.status for receipt in receipts] == ["stored", "stored"]


async def test_one_refusal_leaves_everything_as_it_was_and_makes_no_graph(deps: Deps, fresh_citizen: str) -> None:
    commands = [
        remember(fresh_citizen, "a", command_id="first"),
        said(fresh_citizen, command="retract", id="nobody"),
        remember(fresh_citizen, "b"),
    ]
    receipts = await atomic.apply(commands, deps, NOW)
    assert [(one.status, one.problem) for one in receipts] == [
        ("refused", "not-applied"), ("refused", "not-found"), ("refused", "not-applied"),
    ]  # fmt: skip
    assert "another command of the atomic list was refused" in receipts[0].faults[0]
    graph = GraphOf(Level.N1, fresh_citizen).graph
    assert graph not in await deps.graphs.existing()
    [again] = await atomic.apply(commands[:1], deps, NOW)
    assert (again.status, again.duplicate) == ("stored", False)


async def test_a_list_sent_again_is_applied_once(deps: Deps, fresh_citizen: str) -> None:
    commands = [
        remember(fresh_citizen, "a", command_id="1", valid_at=moment(1)),
        said(fresh_citizen, command="supersede", command_id="2", id="a", description="changed"),
    ]
    first = await atomic.apply(commands, deps, NOW)
    again = await atomic.apply(commands, deps, NOW + 50)
    assert again == [receipt.model_copy(update={"duplicate": True}) for receipt in first]
    assert len(await history(deps, fresh_citizen, "a")) == 2


async def test_lists_of_several_writers_on_one_memory_are_whole_each(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))

    async def one(number: int) -> list[WriteReceipt]:
        commands = [
            said(fresh_citizen, command="correct", id=memory, description=f"writer {number}") for memory in "ab"
        ]
        if number % 2:
            return await atomic.apply(commands, deps, NOW + number)
        return await send(deps, commands[0], now=NOW + number)

    for receipts in await asyncio.gather(*map(one, range(5))):
        assert [receipt.faults for receipt in receipts if receipt.status == "refused"] == []
    records = await history(deps, fresh_citizen, "a")
    assert [one.version for one in records] == list(range(1, 7))
    assert [one.expired_at for one in records[:-1]] == [one.created_at for one in records[1:]]
    wrote = {memory: [one.description for one in await history(deps, fresh_citizen, memory)] for memory in "ab"}
    assert wrote["b"][1:] == [text for text in wrote["a"][1:] if int(text.split()[1]) % 2]


async def test_a_list_for_two_graphs_or_too_long_is_refused(deps: Deps, fresh_citizen: str) -> None:
    with pytest.raises(InvalidRequest, match="one graph"):
        await atomic.apply([remember(fresh_citizen, "a"), remember("another", "a")], deps, NOW)
    with pytest.raises(InvalidRequest, match=f"at most {COMMANDS_AT_MOST}"):
        await atomic.apply([remember(fresh_citizen)] * (COMMANDS_AT_MOST + 1), deps, NOW)
    assert GraphOf(Level.N1, fresh_citizen).graph not in await deps.graphs.existing()


@pytest.mark.parametrize("place", range(3))
async def test_the_statement_changes_nothing_when_the_state_changed_since_it_was_read(
    deps: Deps, fresh_citizen: str, place: int
) -> None:
    """The compare-and-set itself: a transaction on what is no more."""
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"), relate(fresh_citizen, "a", "b"))
    graph = deps.graph(GraphOf(Level.N1, fresh_citizen).graph)
    commands = [
        said(fresh_citizen, command="correct", id="a", description="changed"),
        relate(fresh_citizen, "b", "a"),
        said(fresh_citizen, command="correct_link", id="a|NEXT|b", energy=0.1),
    ]
    named = [NamedCommand(command, f"c{n}") for n, command in enumerate(commands)]
    simulated = Simulation(await atomic.read_stored(named, graph, deps, NOW), WriteTimes(NOW, NOW + 9))
    planned = [outcome for outcome in map(simulated.simulate, named) if isinstance(outcome, PlannedWrite)]
    changed = TransactionRows(NOW + 9, receipts=[outcome.receipt_row for outcome in planned])
    chains = simulated.chains
    chain_rows.add_rows(chains, dict.fromkeys(chain_rows.texts_to_embed(chains)), changed)
    between = (
        said(fresh_citizen, command="correct", id="b", description="by another"),
        relate(fresh_citizen, "b", "a"),
        said(fresh_citizen, command="resolve_link", id="a|NEXT|b"),
    )[place]
    await stored(deps, between, now=NOW + 5)
    before = await whole(deps, fresh_citizen)
    assert await transactions.write(graph, simulation.expected_state(chains), changed) is None
    assert await whole(deps, fresh_citizen) == before


async def test_a_link_of_a_memory_that_its_own_list_withdraws_is_refused(deps: Deps, fresh_citizen: str) -> None:
    commands = [
        remember(fresh_citizen, "a"),
        relate(fresh_citizen, "a", "a"),
        said(fresh_citizen, command="retract", id="a"),
    ]
    receipts = await atomic.apply(commands, deps, NOW)
    assert {receipt.problem for receipt in receipts} == {"conflict"}
    assert "creates and retracts" in receipts[0].faults[0]
    assert await whole(deps, fresh_citizen) == []


async def alike_apart(deps: Deps, before: Sequence[dict[str, Any]], batch: Sequence[dict[str, Any]]) -> None:
    """Send the commands of a list as one and one by one: the same receipts, and the same is believed."""
    one, other = f"t{uuid4().hex}", f"t{uuid4().hex}"
    for citizen in (one, other):
        await stored(deps, *[said(citizen, **fields) for fields in before])
    receipts = await atomic.apply([said(one, **fields) for fields in batch], deps, NOW + 100)
    assert [receipt.faults for receipt in receipts] == [()] * len(batch)
    apart = [(await send(deps, said(other, **fields), now=NOW + 100))[0] for fields in batch]
    assert told(receipts, one) == told(apart, other)
    assert believed(await whole(deps, one)) == believed(await whole(deps, other))


def numbered(*commands: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**fields, "command_id": f"n{place}"} for place, fields in enumerate(commands)]


@pytest.mark.parametrize("undone_again", [False, True])
async def test_a_list_can_undo_its_own_retraction(deps: Deps, undone_again: bool) -> None:
    link = {"command": "relate", "source_id": "a", "target_id": "d", "relation_type": "NEXT", **LINK}
    of_link = [{"command": command, "id": "a|NEXT|d"} for command in ("unrelate", "undo_link", "undo_link")]
    of_memory = [{"command": command, "id": "d"} for command in ("retract", "undo")]
    here = {"valid_at": moment(5)}
    batch = numbered(
        {"command": "remember", "id": "d", "name": "d", **here},
        {**link, **here},
        *of_link[: 3 if undone_again else 2],
        *of_memory,
    )
    await alike_apart(deps, [{"command": "remember", "id": "a", "name": "a", **here}], batch)


async def test_an_undo_of_its_own_list_tells_what_it_brings_back(deps: Deps) -> None:
    begun = {"command": "remember", "id": "a", "name": "a", "valid_at": moment(1)}
    other = {"command": "supersede", "id": "a", "description": "later", "effective_at": moment(200)}
    stretch = {"valid_from": moment(5), "valid_to": moment(10)}
    batch = numbered(
        {"command": "correct", "id": "a", "energy": 0.1, **stretch},
        {"command": "undo", "id": "a"},
        {"command": "retract", "id": "a", "valid_from": moment(1), "valid_to": moment(200)},
        {"command": "remember", "id": "a", "name": "again", "valid_at": moment(2), "invalid_at": moment(4)},
        {"command": "undo", "id": "a"},
    )
    await alike_apart(deps, [begun, other], batch)


async def test_an_undo_in_a_list_needs_the_trust_of_what_it_brings_back(deps: Deps, fresh_citizen: str) -> None:
    commands = [
        {"command": "retract", "id": "a"},
        {"command": "undo", "id": "a", "source": "ingestion"},
    ]
    before = await stored(deps, remember(fresh_citizen, "a", valid_at=moment(1)))
    receipts = await atomic.apply([said(fresh_citizen, **one) for one in commands], deps, NOW + 100)
    assert [one.problem for one in receipts] == ["not-applied", "not-trusted"]
    assert len(before) == len(await history(deps, fresh_citizen, "a")) == 1


async def test_an_undo_in_a_list_needs_the_trust_of_who_withdrew_what_it_brings_back(
    deps: Deps, fresh_citizen: str
) -> None:
    commands: list[dict[str, Any]] = [
        {"command": "remember", "id": "a", "name": "a", "source": "ingestion"},
        {"command": "retract", "id": "a"},
        {"command": "undo", "id": "a", "source": "ingestion"},
    ]
    receipts = await atomic.apply([said(fresh_citizen, **one) for one in commands], deps, NOW)
    assert [one.problem for one in receipts] == ["not-applied", "not-applied", "not-trusted"]


async def test_a_memory_stored_and_retracted_by_one_list_is_reported_as_retracted(
    deps: Deps, fresh_citizen: str
) -> None:
    commands: list[dict[str, Any]] = [
        {"command": "remember", "id": "a", "name": "a"},
        {"command": "retract", "id": "a"},
        {"command": "correct", "id": "a", "energy": 0.1},
    ]
    receipts = await atomic.apply([said(fresh_citizen, **one) for one in commands], deps, NOW)
    assert [one.problem for one in receipts] == ["not-applied", "not-applied", "conflict"]
    assert "was retracted" in receipts[2].faults[0]


async def test_the_version_of_what_a_list_withdrew_is_that_of_a_record(deps: Deps, fresh_citizen: str) -> None:
    """What was never known counts no more: the number that a history shows is the one to name."""
    await stored(deps, remember(fresh_citizen, "a", valid_at=moment(1)), now=NOW)
    commands: list[dict[str, Any]] = [
        {"command": "correct", "id": "a", "energy": 0.1},
        {"command": "undo", "id": "a"},
        {"command": "retract", "id": "a"},
    ]
    receipts = await atomic.apply([said(fresh_citizen, **one) for one in commands], deps, NOW + 100)
    assert [one.version for one in await history(deps, fresh_citizen, "a")] == [receipts[-1].version] == [1]
    for command in ("correct", "undo"):
        fields: dict[str, Any] = {"command": command, "id": "a", "expected_version": 2}
        changed = {"energy": 0.2} if command == "correct" else {}
        (refused,) = await send(deps, said(fresh_citizen, **fields, **changed), now=NOW + 200)
        assert (refused.problem, refused.current_version) == ("conflict", 1)
    await stored(deps, said(fresh_citizen, command="undo", id="a", expected_version=1), now=NOW + 300)
