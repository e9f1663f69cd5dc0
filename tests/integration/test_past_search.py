"""The past is searched by the memories and links of that time, not by those that are left today."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from schemas.commands import Correct, Retract, Supersede
from tests.integration.store import ask, day, ids, moment, relate, remember, stored

THEN: dict[str, Any] = {"temporal_mode": "point_in_time", "as_of_time": moment(3)}


async def test_a_word_of_what_still_holds_is_found_before_the_change_comes(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "home", description="Lisbon", valid_at=moment(1)), now=day(2))
    change = Supersede(citizen_id=fresh_citizen, id="home", description="Porto", effective_at=moment(30))
    await stored(deps, change, now=day(3))
    stream = await ask(deps, fresh_citizen, "Lisbon", now=day(4))
    assert [memory.description for memory in stream.levels["n1_personal"].graph_results] == ["Lisbon"]


async def test_no_path_of_the_past_leads_through_what_did_not_hold_then(deps: Deps, fresh_citizen: str) -> None:
    names = ("ada", "bridge", "luca")
    await stored(deps, *(remember(fresh_citizen, name, valid_at=moment(1)) for name in names), now=day(1))
    await stored(deps, relate(fresh_citizen, "ada", "bridge"), relate(fresh_citizen, "bridge", "luca"), now=day(1))
    stream = await ask(deps, fresh_citizen, "ada", **THEN)
    assert sorted(ids(stream.levels["n1_personal"].graph_results)) == ["ada", "bridge", "luca"]
    await stored(deps, Retract(citizen_id=fresh_citizen, id="bridge", effective_at=moment(2)), now=day(2))
    stream = await ask(deps, fresh_citizen, "ada", **THEN)
    assert ids(stream.levels["n1_personal"].graph_results) == ["ada"]


async def test_links_to_what_did_not_hold_then_do_not_crowd_out_the_others(deps: Deps, fresh_citizen: str) -> None:
    gone = [f"gone {number}" for number in range(8)]
    names = ("ada", "luca", *gone)
    await stored(deps, *(remember(fresh_citizen, name, valid_at=moment(1)) for name in names), now=day(1))
    crowd = [relate(fresh_citizen, end, name, energy=0.9) for end in ("ada", "luca") for name in gone]
    await stored(deps, *crowd, now=day(1))
    await stored(deps, relate(fresh_citizen, "ada", "luca", energy=0.2), now=day(1))
    withdrawn = [Retract(citizen_id=fresh_citizen, id=name) for name in gone]
    await stored(deps, *withdrawn, now=day(2))
    stream = await ask(deps, fresh_citizen, "ada", **THEN)
    assert [link.target_id for link in stream.levels["n1_personal"].relationships] == ["luca"]


@pytest.mark.parametrize("by", ["vector_results", "graph_results"])
@pytest.mark.parametrize("when", [{}, THEN], ids=["now", "then"])
async def test_where_few_are_taken_the_words_of_the_asker_are_among_them(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch, when: dict[str, Any], by: str
) -> None:
    monkeypatch.setattr(six_queries, "MIN_POOL", 2)
    turns = {"a": "assistant", "b": "assistant", "c": "assistant", "said": "User"}
    said = (
        remember(fresh_citizen, name, speaker=speaker, description="the old harbour", valid_at=moment(1))
        for name, speaker in turns.items()
    )
    await stored(deps, *said, now=day(2))
    stream = await ask(deps, fresh_citizen, "my old harbour", max_results_per_level=1, **when)
    assert ids(getattr(stream.levels["n1_personal"], by)) == ["said"]


@pytest.mark.parametrize("adapter", ["sets", "index"])
async def test_the_nearest_of_a_moment_are_found_whichever_side_crowds_the_search(
    deps: Deps, fresh_citizen: str, adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deps.graphs, "_likeness", adapter)
    monkeypatch.setattr(six_queries, "EXACT_BELOW", -1)
    monkeypatch.setattr(six_queries, "OVERFETCH", 1)
    monkeypatch.setattr(six_queries, "MIN_POOL", 2)
    to_come = [f"the harbour of Porto {number}" for number in range(12)]
    later = (remember(fresh_citizen, name, name=name, valid_at=moment(9)) for name in to_come)
    before = [remember(fresh_citizen, f"m{number}", name="bread", valid_at=moment(1)) for number in range(3)]
    await stored(deps, *later, *before, now=day(1))
    await stored(deps, remember(fresh_citizen, "was", name="the harbour", valid_at=moment(1)), now=day(1))
    changes = (Correct(citizen_id=fresh_citizen, id=f"m{number}", name="salt") for number in range(3))
    await stored(deps, *changes, now=day(5))
    stream = await ask(deps, fresh_citizen, to_come[3], **THEN, max_results_per_level=1)
    assert ids(stream.levels["n1_personal"].vector_results) == ["was"]


@pytest.mark.parametrize("when", [{}, THEN])
async def test_two_who_share_a_friend_each_see_his_strongest_links(
    deps: Deps, fresh_citizen: str, when: dict[str, Any]
) -> None:
    """Twenty memories nearer to the question keep the search by likeness from finding the friend by itself."""
    nearer = [f"ada and luca {number}" for number in range(20)]
    names = ("ada", "luca", "friend", "far 0", "far 1", *nearer)
    await stored(deps, *(remember(fresh_citizen, name) for name in names), now=day(1))
    ends = [("ada", "friend", 0.9), ("luca", "friend", 0.8), ("friend", "far 0", 0.7), ("friend", "far 1", 0.6)]
    await stored(deps, *(relate(fresh_citizen, a, b, energy=energy) for a, b, energy in ends), now=day(1))
    stream = await ask(deps, fresh_citizen, "ada and luca", **when, max_results_per_level=100)
    assert {"friend", "far 0", "far 1"} <= set(ids(stream.levels["n1_personal"].graph_results))
