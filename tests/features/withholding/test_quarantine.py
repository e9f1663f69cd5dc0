"""A quarantine hides what came from a source and what follows from it, at once and reversibly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.feedback import queries as feedback
from orchestration.features.identity.learning import learning_moments
from orchestration.features.withholding.quarantine import (
    quarantine,
    read_quarantine,
    release,
    retract,
)
from orchestration.features.withholding.values import Quarantine, QuarantineChange, QuarantineRequest
from schemas.commands import Correct, Retract, Supersede, Writer
from schemas.errors import Conflict
from schemas.memory import Level, Source
from schemas.temporal import to_datetime
from substrate.graphs.names import graph_name
from tests.integration.store import ask, carried, day, found, links, moment, relate, remember, send, stored
from tests.integration.test_thread_closing import OPEN, SOLVED, states

LATER = day(120)
"""After all that a test writes."""
FALSE = "The canal house was sold to a stranger in Delft."
TRUE = "The canal house belongs to the family."


def request(citizen: str, **fields: Any) -> QuarantineRequest:
    return QuarantineRequest.model_validate({"citizen_id": citizen, **fields})


async def hide(deps: Deps, citizen: str, now: int = LATER, **fields: Any) -> Quarantine:
    return await quarantine(request(citizen, **({"source": "tool"} | fields)), deps, now)


async def let_go(deps: Deps, citizen: str, hidden: Quarantine, now: int = LATER + 5_000_000) -> Quarantine:
    assert hidden.id is not None
    return await release(hidden.id, QuarantineChange(citizen_id=citizen), deps, now)


async def poisoned(deps: Deps, citizen: str) -> None:
    """Two memories of the citizen, one changed by a tool, and a false one of the tool that is linked with them."""
    own = {"source": "ingestion", "node_type": "Fact"}
    await stored(
        deps,
        remember(citizen, "house", description=TRUE, **own),
        remember(citizen, "garden", description="Roses grow in the garden of the canal house."),
        remember(citizen, "lie", description=FALSE, source="tool"),
        relate(citizen, "house", "garden", relation_type="HAS"),
        relate(citizen, "lie", "house", relation_type="ABOUT").with_source(Source.TOOL),
        now=day(100),
    )
    change = Supersede(citizen_id=citizen, id="house", description=FALSE, source="tool")
    await stored(deps, change, now=day(101))


async def present(deps: Deps, citizen: str) -> Any:
    """What is believed now of the memories and links."""
    memories = [await carried(deps, citizen, name) for name in ("house", "garden", "lie")]
    texts = [
        (m.node_id, m.description, m.source, m.valid_at, m.invalid_at) for m in memories if m and not m.expired_at
    ]
    held = [(e.link_id, e.valid_at, e.invalid_at) for e in await links(deps, citizen) if e.expired_at is None]
    return texts, sorted(held)


async def shows(deps: Deps, citizen: str, **when: Any) -> list[str]:
    stream = await ask(deps, citizen, "Who owns the canal house?", now=LATER + 10_000_000, **when)
    return sorted(memory.description for memory in found(stream))


async def test_what_a_source_wrote_is_hidden_and_what_it_changed_says_again_what_it_said(
    deps: Deps, fresh_citizen: str
) -> None:
    await poisoned(deps, fresh_citizen)
    before = await present(deps, fresh_citizen)
    planned = await hide(deps, fresh_citizen, dry_run=True)
    assert await present(deps, fresh_citizen) == before
    hidden = await hide(deps, fresh_citizen)
    assert (hidden.status, hidden.memories, hidden.links, hidden.taken_back) == ("hidden", 1, 1, 1)
    assert planned.things == hidden.things
    assert FALSE not in await shows(deps, fresh_citizen)
    assert TRUE in await shows(deps, fresh_citizen)
    for mode in ("evolution", "full_history"):
        assert FALSE not in await shows(deps, fresh_citizen, temporal_mode=mode)
    then = {"temporal_mode": "point_in_time", "as_of_time": to_datetime(LATER), "known_at": hidden.known_before}
    assert FALSE in await shows(deps, fresh_citizen, **then)
    released = await let_go(deps, fresh_citizen, hidden)
    assert (released.status, released.not_released) == ("released", 0)
    assert await present(deps, fresh_citizen) == before
    again = await let_go(deps, fresh_citizen, hidden, LATER + 9_000_000)
    assert again == released


async def test_a_changed_belief_that_a_quarantine_took_back_is_no_learning_moment(
    deps: Deps, fresh_citizen: str
) -> None:
    await poisoned(deps, fresh_citizen)
    before = await learning_moments(fresh_citizen, deps, LATER)
    assert [each.corrected_belief for each in before.dissonances] == [FALSE]
    hidden = await hide(deps, fresh_citizen)
    assert (await learning_moments(fresh_citizen, deps, LATER + 4_000_000)).dissonances == ()
    await let_go(deps, fresh_citizen, hidden)
    after = await learning_moments(fresh_citizen, deps, LATER + 9_000_000)
    assert [each.corrected_belief for each in after.dissonances] == [FALSE]


async def test_what_the_citizen_changed_since_stays_and_is_counted(deps: Deps, fresh_citizen: str) -> None:
    await poisoned(deps, fresh_citizen)
    mended = Correct(citizen_id=fresh_citizen, id="lie", description="The house was never sold.")
    await stored(deps, mended, now=day(102))
    hidden = await hide(deps, fresh_citizen)
    assert (hidden.kept, hidden.memories) == (1, 0)
    lie = await carried(deps, fresh_citizen, "lie")
    assert lie is not None
    assert lie.expired_at is None
    assert lie.description == "The house was never sold."
    own = Correct(citizen_id=fresh_citizen, id="house", description="It is ours.")
    await stored(deps, own, now=LATER + 2_000_000)
    released = await let_go(deps, fresh_citizen, hidden)
    assert released.not_released == 1
    house = await carried(deps, fresh_citizen, "house")
    assert house is not None
    assert house.description == "It is ours."


async def test_several_changes_by_one_key_are_taken_back_together_and_brought_back_together(
    deps: Deps, fresh_citizen: str
) -> None:
    stolen = Writer(key_id="stolen")
    await stored(deps, remember(fresh_citizen, "house", description=TRUE), now=day(100))
    for number, text in enumerate(("It burned down.", FALSE)):
        change = Supersede(citizen_id=fresh_citizen, id="house", description=text).with_writer(stolen)
        await stored(deps, change, now=day(101 + number))
    closing = Retract(citizen_id=fresh_citizen, id="house").with_writer(stolen)
    await stored(deps, closing, now=day(103))
    before = await present(deps, fresh_citizen)
    hidden = await hide(deps, fresh_citizen, source=None, key_id="stolen")
    assert hidden.taken_back == 1
    house = await carried(deps, fresh_citizen, "house")
    assert house is not None
    assert (house.description, house.expired_at) == (TRUE, None)
    await let_go(deps, fresh_citizen, hidden)
    assert await present(deps, fresh_citizen) == before


async def test_what_follows_from_hidden_memories_is_hidden_with_them(deps: Deps, fresh_citizen: str) -> None:
    named = replace(deps, names=True)
    citizen = fresh_citizen
    good = {"source": "ingestion", "episode_id": "good", "speaker": "Ada"}
    bad = {"source": "ingestion", "episode_id": "bad", "speaker": "Mallory"}
    texts = [
        remember(citizen, "g1", description="Tom Baker came by. Tom Baker brought bread.", **good),
        remember(citizen, "problem", description="The printer does not print, it is broken.", **good),
    ]
    await stored(named, *texts, now=day(100))
    lies = [
        remember(citizen, "b1", description="Zoe Quill owns it. Zoe Quill met Tom Baker.", **bad),
        remember(citizen, "b2", description="I fixed the printer, now the printer prints again.", **bad),
    ]
    await stored(named, *lies, now=day(101))
    general = [
        remember(citizen, "L1", description="People come by.", source="upkeep", abstraction="L1"),
        relate(citizen, "L1", "b1", relation_type="GENERALISES").with_source(Source.UPKEEP),
        relate(citizen, "L1", "g1", relation_type="GENERALISES").with_source(Source.UPKEEP),
    ]
    await stored(deps, *general, now=day(102))
    hidden = await hide(named, citizen, source=None, episode_id="bad")
    fates = {thing.id: (thing.fate, thing.why) for thing in hidden.things if thing.kind == "memory"}
    assert fates["b1"] == fates["b2"] == ("hidden", "came_from_there")
    assert fates["L1"] == ("hidden", "generalisation")
    assert fates["person:zoe_quill"] == ("hidden", "name")
    assert "person:tom_baker" not in fates
    assert "g1" not in fates
    await let_go(named, citizen, hidden)
    assert all(
        memory is not None and memory.expired_at is None
        for memory in [await carried(deps, citizen, each) for each in ("b1", "b2", "L1", "person:zoe_quill")]
    )


async def test_a_quarantine_made_final_cannot_be_released(deps: Deps, fresh_citizen: str) -> None:
    await poisoned(deps, fresh_citizen)
    hidden = await hide(deps, fresh_citizen)
    assert (await hide(deps, fresh_citizen, LATER + 1_000_000)).status == "nothing"
    assert hidden.id is not None
    final = await retract(hidden.id, QuarantineChange(citizen_id=fresh_citizen), deps, LATER + 2_000_000)
    assert final.status == "retracted"
    with pytest.raises(Conflict):
        await let_go(deps, fresh_citizen, hidden)
    shown = await read_quarantine(hidden.id, QuarantineChange(citizen_id=fresh_citizen), deps)
    assert shown.status == "retracted"
    assert shown.things


async def test_the_source_cannot_say_again_what_was_hidden_under_the_same_id(
    deps: Deps, fresh_citizen: str
) -> None:
    await poisoned(deps, fresh_citizen)
    await hide(deps, fresh_citizen)
    again = remember(fresh_citizen, "lie", description="Sold it was.", source="tool")
    [receipt] = await send(deps, again, now=LATER + 3_000_000)
    assert receipt.problem == "not-trusted"


async def test_a_thread_that_only_a_hidden_text_told_as_solved_is_open_again(
    deps: Deps, fresh_citizen: str
) -> None:
    opened = remember(fresh_citizen, "open", description=OPEN, valid_at=moment(1))
    await stored(deps, opened, now=day(1))
    solved = remember(fresh_citizen, "solved", description=SOLVED, valid_at=moment(20), episode_id="bad")
    await stored(deps, solved, now=day(20))
    closed = await states(deps, fresh_citizen, "open")
    assert len(closed) == 2
    hidden = await hide(deps, fresh_citizen, source=None, episode_id="bad")
    assert ("open", "taken_back", "resolution") in [(each.id, each.fate, each.why) for each in hidden.things]
    assert await states(deps, fresh_citizen, "open") == closed[:1]
    await let_go(deps, fresh_citizen, hidden)
    assert await states(deps, fresh_citizen, "open") == closed


async def test_feedback_that_names_a_hidden_memory_is_put_aside_until_its_release(
    deps: Deps, fresh_citizen: str
) -> None:
    await poisoned(deps, fresh_citizen)
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    for name, used in (("f1", ("lie",)), ("f2", ("garden",))):
        told = feedback.StoredFeedback(name, LATER - 5, {"query_text": "Who owns it?"}, used, (), {})
        await feedback.write_feedback(graph, told, [], seen=await feedback.read_feedback_at(graph))
    hidden = await hide(deps, fresh_citizen)
    assert hidden.feedback == 1
    assert [each.id for each in await feedback.read_feedback(graph)] == ["f2"]
    changed = await feedback.read_feedback_at(graph)
    await let_go(deps, fresh_citizen, hidden)
    assert {each.id for each in await feedback.read_feedback(graph)} == {"f1", "f2"}
    assert await feedback.read_feedback_at(graph) > changed
