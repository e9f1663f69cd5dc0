"""What a waking shows is joined by the links that hold, in every mode; what a team did stands behind one's own."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from orchestration.dependencies import Deps
from schemas.commands import Unrelate
from schemas.errors import StoreTimeout
from schemas.intention import QueryMode
from schemas.memory import Level
from schemas.temporal import to_datetime
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import told as told_store
from tests.integration.store import NOW, found, ids, moment, relate, remember, send, stored, work
from tests.integration.test_waking_told import LATER, TALK, chat, woken

ALL_LINKS = Query("test_all_links", "MATCH (a)-[e:LINK]->(b) RETURN e.id, a.id, b.id")
SOLVED = (
    (2, "user", "I am stuck with the boiler in my flat, it is broken and stays cold."),
    (3, "user", "The boiler in my flat is fixed at last, I changed the valve."),
)
PAST: dict[str, datetime] = {"known_at": to_datetime(LATER)}


async def links_among(deps: Deps, citizen: str, shown: set[str]) -> set[str]:
    """The ids of the open links that are stored between these memories."""
    rows = await deps.graph(graph_name(Level.N1, citizen)).read(ALL_LINKS)
    return {link for link, source, target in rows if {source, target} <= shown}


@pytest.mark.parametrize("mode", QueryMode)
@pytest.mark.parametrize("time", [{}, PAST])
async def test_every_link_between_what_is_shown_comes_along(
    deps: Deps, fresh_citizen: str, mode: QueryMode, time: dict[str, Any]
) -> None:
    await chat(deps, fresh_citizen)
    for _ in range(2):  # the second time from what the process keeps
        stream = await woken(deps, fresh_citizen, mode, current_emotions={"fear": 0.7}, **time)
        between = await links_among(deps, fresh_citizen, set(ids(found(stream))))
        assert between
        assert {link.link_id for link in stream.levels["n1_personal"].relationships} == between
        graph = stream.traversal_graph
        assert {edge.edge_id for edge in graph.edges} == between
        assert graph.suggested_paths
        assert stream.energy_feedback_potential != 0


async def test_a_link_that_holds_no_more_does_not_come_and_does_as_of_then(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    text = "I am stuck with the boat"
    told = [remember(c, name, description=text, valid_at=moment(99)) for name in ("a", "b")]
    await stored(deps, *told, relate(c, "a", "b", id="tie", valid_at=moment(99)))
    await send(deps, Unrelate(citizen_id=c, id="tie"), now=NOW + 500)
    now = await woken(deps, c, QueryMode.WHAT_I_WAS_DOING)
    assert (set(ids(found(now))), now.traversal_graph.edges) == ({"a", "b"}, ())
    then = await woken(deps, c, QueryMode.WHAT_I_WAS_DOING, known_at=to_datetime(NOW + 400))
    assert [edge.edge_id for edge in then.traversal_graph.edges] == ["tie"]


async def test_the_answer_to_what_is_in_focus_comes_behind_all_answers(deps: Deps, fresh_citizen: str) -> None:
    await chat(deps, fresh_citizen)
    goal = {"current_goal": "the boiler is broken and the landlord does not answer"}
    stream = await woken(deps, fresh_citizen, QueryMode.SIMILAR_STATE, **goal, max_results_per_level=3)
    shown = [node.node_id.rpartition(":")[2] for node in stream.activation_tiers.ordered()]
    assert "t0" in shown[:3]
    assert "t1" in shown[3:]  # beyond the three that were asked for
    own = {"speakers": ["user"]}
    filtered = await woken(deps, fresh_citizen, QueryMode.SIMILAR_STATE, **goal, filters=own)
    assert {node.speaker for node in found(filtered)} == {"user"}


def turn(citizen: str, name: str, text: str, **fields: Any) -> Any:
    return remember(citizen, name, description=text, node_type="Turn", **{"valid_at": moment(90), **fields})


STUCK = "I am stuck with the leaking boat and have to mend it"


async def test_only_what_follows_a_shown_turn_comes_along(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    told = [turn(c, f"t{n}", f"{STUCK}, part {n}", speaker="user", valid_at=moment(90 + n)) for n in (0, 2, 4)]
    said = [turn(c, f"t{n}", f"Take tar {n}", speaker="assistant", valid_at=moment(90 + n)) for n in (1, 3, 5)]
    joined = [relate(c, f"t{n}", f"t{n + 1}", relation_type="NEXT") for n in (0, 2, 4)]
    await stored(deps, *told, *said, *joined)
    stream = await woken(
        deps, c, QueryMode.RELATED_UNRESOLVED, current_goal="mend the boat", max_results_per_level=1
    )
    shown = set(ids(found(stream)))
    assert len(shown & {"t1", "t3", "t5"}) == 1
    assert all(f"t{int(name[1]) - 1}" in shown for name in shown & {"t1", "t3", "t5"})


async def test_what_was_said_right_after_is_bounded_and_each_has_its_link(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    said = [turn(c, f"r{n}", f"Take tar {n}", speaker="assistant", valid_at=moment(91)) for n in range(30)]
    joined = [relate(c, "t0", f"r{n}", relation_type="NEXT", valid_at=moment(91)) for n in range(30)]
    await stored(deps, turn(c, "t0", STUCK, speaker="user"), *said, *joined)
    stream = await woken(
        deps, c, QueryMode.RELATED_UNRESOLVED, current_goal="mend the boat", max_results_per_level=2
    )
    after = set(ids(found(stream))) - {"t0"}
    assert len(after) == 8
    assert {edge.target_id for edge in stream.traversal_graph.edges} == after


async def test_late_links_are_told(deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(*_: Any, **__: Any) -> Any:
        raise StoreTimeout("late", remedy="Try again.")

    await chat(deps, fresh_citizen)
    monkeypatch.setattr(told_store, "read_between", late)
    stream = await woken(deps, fresh_citizen, QueryMode.SIMILAR_STATE, current_goal="the boiler is broken")
    assert "the links between what is shown were not read in time" in stream.notes


async def test_nothing_that_is_resolved_comes_beside_open_work(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    text = "I am stuck with the boat, it leaks"
    await stored(
        deps,
        remember(c, "open", description=text, valid_at=moment(99)),
        work(c, "done", "resolved", 0.5, description="It is mended"),
        relate(c, "open", "done"),
    )
    alone = await woken(deps, c, QueryMode.RELATED_UNRESOLVED)
    assert "done" not in ids(found(alone))
    both = await woken(deps, c, QueryMode.RELATED_UNRESOLVED, include_only_unresolved=False)
    assert "done" in ids(found(both))


@pytest.mark.parametrize("mode", QueryMode)
async def test_a_chat_of_one_turn_wakes_without_links(deps: Deps, fresh_citizen: str, mode: QueryMode) -> None:
    await chat(deps, fresh_citizen, TALK[-1:])
    stream = await woken(deps, fresh_citizen, mode, current_emotions={f"feeling-{n}": 0.5 for n in range(12)})
    assert (stream.traversal_graph.edges, stream.traversal_graph.suggested_paths) == ((), ())


@pytest.mark.parametrize("emotions", [None, {}, {"joy": 0.9}])
@pytest.mark.parametrize("time", [{}, PAST])
async def test_without_a_goal_the_patterns_are_told_that_there_are(
    deps: Deps, fresh_citizen: str, emotions: dict[str, float] | None, time: dict[str, Any]
) -> None:
    birds = tuple((50 + n / 10, "user", f"I saw bird number {n} today by the sea.") for n in range(70))
    await chat(deps, fresh_citizen, (*SOLVED, *birds))
    asked = {"current_emotions": emotions, **time}
    stream = await woken(deps, fresh_citizen, QueryMode.RESOLUTION_PATTERNS, **asked)
    assert ["boiler" in pattern.blockage for pattern in stream.resolution_patterns] == [True]


async def test_what_others_of_a_team_do_stands_behind_what_one_did_oneself(deps: Deps, fresh_citizen: str) -> None:
    c, team = fresh_citizen, f"team-{uuid4().hex[:8]}"
    lines = tuple((96 + n / 10, "user", f"Today I painted window number {n} of the house blue.") for n in range(6))
    await chat(deps, c, lines)
    shared = [
        work(f"{c}-other", f"{team}-{n}", "in_progress", 1 + n, level=Level.N2, collective=team, energy=0.8)
        for n in range(6)
    ]
    await stored(deps, *shared)
    fields = {"query_levels": ["N1", "N2"], "collectives": [team]}
    stream = await woken(deps, c, QueryMode.WHAT_I_WAS_DOING, **fields)
    assert {node.level for node in stream.activation_tiers.focus} == {Level.N1}
    assert Level.N2 in {node.level for node in found(stream)}
