"""Waking on a chat that nobody prepared: no memory has a given state, goal or feeling."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import Command, Remember
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.stream import ConsciousnessStream
from tests.integration.store import NOW, day, moment, relate, remember, stored

LATER = NOW + 10_000
"""A moment after everything was written: each statement of an ingestion takes a moment."""

TALK: tuple[tuple[float, str, str], ...] = (
    (20, "user", "The boiler in my flat is broken and the landlord does not answer my letters."),
    (20, "assistant", "That is frustrating. A broken boiler is urgent; you could write to the landlord again."),
    (40, "user", "I went to the tenants' advice office and we decided to send a registered letter."),
    (41, "user", "The landlord called back and the boiler is fixed, I am so relieved."),
    (41, "user", "Thanks, you are great!"),
    (90, "user", "I want to finish my novel before the summer, chapter nine is still missing."),
    (91, "assistant", "Chapter nine is blocked? You are stuck, I am afraid and furious about the novel."),
    (97, "user", "I am stuck with chapter nine of the novel and quite afraid that it stays empty."),
    (98, "user", "My sister baked a cake with plums."),
)


async def chat(deps: Deps, citizen: str, lines: tuple[tuple[float, str, str], ...] = TALK) -> None:
    turns = tuple(
        Turn(f"t{place}", speaker, text, moment(when) + timedelta(minutes=place))
        for place, (when, speaker, text) in enumerate(lines)
    )
    session = Session("s", "a chat", turns[0].time, turns)
    report = await ingest(ParsedFiles((Episode("chat", citizen, (session,)),)), deps, NOW)
    assert report.refused == 0


async def woken(deps: Deps, citizen: str, mode: QueryMode, **fields: Any) -> ConsciousnessStream:
    state = StateBasedRetrieval.model_validate({"citizen_id": citizen, "query_mode": mode, **fields})
    stream = await retrieve_consciousness_context_from_state(state, deps, LATER)
    assert stream.degraded == ()
    return stream


def told(stream: ConsciousnessStream) -> list[str]:
    """The turns of a stream, most active first, by their place in the talk."""
    nodes = stream.activation_tiers.ordered()
    return [node.node_id.rpartition(":")[2] for node in nodes if node.node_type == "Turn"]


def answers(stream: ConsciousnessStream) -> list[str]:
    """Those that fit the mode by themselves."""
    nodes = stream.activation_tiers.ordered()
    return [node.node_id.rpartition(":")[2] for node in nodes if (node.score_terms or {}).get("mode")]


async def test_open_work_under_the_goal_comes_first_and_nothing_that_was_solved(
    deps: Deps, fresh_citizen: str
) -> None:
    await chat(deps, fresh_citizen)
    stream = await woken(
        deps, fresh_citizen, QueryMode.RELATED_UNRESOLVED, current_goal="finish the novel", explain=True
    )
    assert set(answers(stream)[:2]) == {"t5", "t7"}
    assert {"t1", "t6"}.isdisjoint(answers(stream))  # an assistant's words are no matter of the citizen


@pytest.mark.parametrize("goal", [None, "the boiler"])
async def test_what_comes_first_is_never_small_talk_nor_the_words_of_the_assistant(
    deps: Deps, fresh_citizen: str, goal: str | None
) -> None:
    await chat(deps, fresh_citizen)
    for mode in QueryMode:
        shown = told(await woken(deps, fresh_citizen, mode, current_goal=goal))
        assert shown[0] not in ("t1", "t4", "t6"), mode


async def test_a_like_feeling_is_found_by_what_the_words_say(deps: Deps, fresh_citizen: str) -> None:
    await chat(deps, fresh_citizen)
    stream = await woken(deps, fresh_citizen, QueryMode.SIMILAR_STATE, current_emotions={"fear": 0.7})
    assert told(stream)[0] == "t7"


async def test_past_activity_is_that_of_the_last_thirty_days(deps: Deps, fresh_citizen: str) -> None:
    await chat(deps, fresh_citizen)
    stream = await woken(deps, fresh_citizen, QueryMode.WHAT_I_WAS_DOING, explain=True)
    assert set(answers(stream)) == {"t5", "t7", "t8"}
    assert answers(stream)[0] == "t7"


async def test_a_pattern_is_what_was_told_of_the_way_out(deps: Deps, fresh_citizen: str) -> None:
    await chat(deps, fresh_citizen)
    stream = await woken(
        deps, fresh_citizen, QueryMode.RESOLUTION_PATTERNS, current_goal="the landlord does not answer"
    )
    assert {"t2", "t3"} <= set(told(stream)[:4])
    assert told(stream)[0] in ("t2", "t3", "t0")


async def test_a_link_to_the_solution_makes_a_pattern(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        said(c, "leak", 20, "The roof above my desk leaks."),
        said(c, "help", 25, "I asked the neighbour, who is a roofer."),
        said(c, "dry", 80, "Dry again, thanks to him."),
        relate(c, "leak", "dry", relation_type="RESOLVED_BY", resolution_state="resolved"),
    )
    stream = await woken(deps, c, QueryMode.RESOLUTION_PATTERNS, current_goal="the roof leaks")
    assert [(one.blockage_id, one.resolution_id) for one in stream.resolution_patterns] == [("leak", "dry")]


def said(citizen: str, memory_id: str, number: float, text: str) -> Remember:
    """A memory in plain words, of one conversation."""
    return remember(
        citizen, memory_id, description=text, speaker="user", node_type="Turn", valid_at=moment(number),
        episode_id="talk",
    )  # fmt: skip


async def test_waking_in_the_past_finds_what_a_chat_that_ends_there_would(deps: Deps, fresh_citizen: str) -> None:
    whole, short = fresh_citizen, f"{fresh_citizen}.short"
    await chat(deps, whole)
    await chat(deps, short, TALK[:5])
    late: list[Command] = [said(whole, "told later", 41.5, "The landlord wants the boiler money, I am furious.")]
    await stored(deps, *late, now=day(101))
    then = {"as_of_time": moment(42), "known_at": moment(100.5)}
    for mode in QueryMode:
        for goal in (None, "the boiler of the landlord"):
            past = await woken(deps, whole, mode, current_goal=goal, **then)
            ended = await woken(deps, short, mode, current_goal=goal, **then)
            assert told(past) == told(ended)
            assert past.state is not None
            assert ended.state is not None
            assert past.state.model_dump(exclude={"citizen_id"}) == ended.state.model_dump(exclude={"citizen_id"})


async def test_what_was_given_goes_by_its_formula_beside_what_was_told(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await chat(deps, c)
    given = {"resolution_state": "blocked", "goal": "novel", "energy": 0.8, "description": "The publisher waits."}
    await stored(deps, remember(c, "given", valid_at=moment(99), **given))
    stream = await woken(deps, c, QueryMode.RELATED_UNRESOLVED, current_goal="novel", explain=True)
    terms = {node.node_id: node.score_terms or {} for node in stream.activation_tiers.ordered()}
    assert terms["given"]["mode"] == pytest.approx(0.8)
    assert "about" not in terms["given"]
    assert {"given", "t7"} <= {each.rpartition(":")[2] for each in list(terms)[:3]}
