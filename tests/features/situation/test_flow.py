"""The situation of a citizen over a real store: what a cycle begins with, and what of it is not there."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.situation import flow as situation
from orchestration.features.situation.values import Situation, SituationRequest
from orchestration.mind.state import change_state
from schemas.commands import Correct, Remember, Resolve, Retract
from schemas.errors import StoreTimeout
from schemas.memory import Level
from schemas.mind.state import StateChange
from schemas.temporal import Instant
from tests.integration.store import day, moment, relate, remember, stored


async def read(deps: Deps, citizen: str, **fields: Any) -> Situation:
    return await situation.read_situation(citizen, SituationRequest.model_validate(fields), deps, day(100))


async def keep(deps: Deps, citizen: str, now: Instant, **fields: Any) -> None:
    await change_state(citizen, StateChange.model_validate(fields), deps, now)


async def test_an_unknown_citizen_has_the_default_situation_and_a_note(deps: Deps, fresh_citizen: str) -> None:
    found = await read(deps, fresh_citizen)
    assert (found.state.energy, found.stimuli, found.contexts, found.since) == (0.5, (), (), None)
    assert f"citizen {fresh_citizen} is not known here: nothing was remembered for it yet" in found.notes
    assert situation.NOTHING_TO_ASK_WITH in found.notes
    assert found.text == "# State\n- energy 0.5"


async def test_without_anything_kept_the_last_words_are_what_there_is_to_answer(
    deps: Deps, fresh_citizen: str
) -> None:
    said = [
        ("The landlord wants the rent", "Egor", 80), ("We planted beans", "Mara", 81),
        ("The rent is late again", "Egor", 90), ("What do I do", fresh_citizen, 91),
    ]  # fmt: skip
    for number, (text, speaker, of_day) in enumerate(said):
        told = {"description": text, "speaker": speaker, "valid_at": moment(of_day)}
        await stored(deps, remember(fresh_citizen, f"m{number}", **told), now=day(92))
    found = await read(deps, fresh_citizen)
    assert [(one.kind, one.speaker) for one in found.stimuli] == [
        ("message", "Egor"), ("message", "Mara"), ("message", "Egor"),
    ]  # fmt: skip
    assert [context.memory_id for context in found.contexts] == ["m3"], "what is shown above is no context"
    asked = await read(deps, fresh_citizen, stimuli=["When is the rent due?"])
    assert {"m0", "m2"} <= {context.memory_id for context in asked.contexts[:2]}
    assert situation.NO_CYCLE in asked.notes


async def test_a_cycle_finds_its_window_and_focus_and_what_changed_since(deps: Deps, fresh_citizen: str) -> None:
    def told(name: str, **fields: Any) -> Any:
        return remember(fresh_citizen, name, description=f"The {name} is old", **fields)

    before = [told(name) for name in ("roof", "fence", "gate")]
    await stored(deps, *before, told("well", resolution_state="blocked"), told("path", energy=0.2), now=day(50))
    await keep(deps, fresh_citizen, day(60), window=[{"id": "roof"}, {"id": "nowhere"}, "a cat"], focus="the well")
    for command, of_day in (
        (Correct(citizen_id=fresh_citizen, id="roof", description="The roof is new"), 70),
        (Retract(citizen_id=fresh_citizen, id="fence"), 71),
        (Resolve(citizen_id=fresh_citizen, id="well"), 72),
        (Correct(citizen_id=fresh_citizen, id="path", energy=0.9), 73),
        (told("door"), 74),
    ):
        await stored(deps, command, now=day(of_day))
    found = await read(deps, fresh_citizen)
    assert found.since == moment(60)
    assert (found.focus, found.state.last_cycle_at) == ("the well", moment(60))
    assert [(item.memory_id, item.text) for item in found.window] == [
        ("roof", "roof The roof is new"), ("nowhere", None), (None, "a cat"),
    ]  # fmt: skip
    assert any(note.startswith("1 memory of the window can not be read") for note in found.notes)
    told_of = {
        kind: [(one.memory_id, one.before) for one in getattr(found.changes, kind)]
        for kind in ("new", "corrected", "closed", "resolved")
    }
    assert told_of == {
        "new": [("door", None)], "corrected": [("roof", "The roof is old")], "closed": [("fence", None)],
        "resolved": [("well", None)],
    }  # fmt: skip
    assert "- corrected: The roof is new (before: The roof is old)" in found.text
    earlier = await read(deps, fresh_citizen, as_of_time=moment(65))
    assert not any((earlier.changes.new, earlier.changes.corrected, earlier.changes.closed))
    assert earlier.window[0].text == "roof The roof is old"
    later = await read(deps, fresh_citizen, since=moment(73.5))
    assert [one.memory_id for one in later.changes.new] == ["door"]
    assert later.changes.corrected == ()


async def test_a_memory_that_a_new_one_resolves_is_resolved_since(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "leak", description="It leaks"), now=day(50))
    await keep(deps, fresh_citizen, day(60), window=[])
    fixed = remember(fresh_citizen, "fixed", description="We fixed it")
    resolves = relate(fresh_citizen, "leak", "fixed", relation_type="RESOLVED_BY", resolution_state="resolved")
    await stored(deps, fixed, resolves, now=day(61))
    found = await read(deps, fresh_citizen)
    assert [one.memory_id for one in found.changes.resolved] == ["leak"]
    assert [one.memory_id for one in found.changes.new] == ["fixed"]


async def test_another_s_memories_and_erased_ones_are_not_read_through_a_window(
    deps: Deps, fresh_citizen: str
) -> None:
    other = f"{fresh_citizen}x"
    await stored(deps, remember(other, "secret", description="A blue teapot"), now=day(50))
    await stored(deps, remember(fresh_citizen, "own", description="A red cup"), now=day(50))
    found = await read(deps, fresh_citizen, window=[{"id": "secret"}, {"id": "own"}])
    assert [item.text for item in found.window] == [None, "own A red cup"]
    assert "teapot" not in found.model_dump_json()


@pytest.mark.parametrize("most", [1, 10, 60])
async def test_the_text_keeps_its_budget_while_the_fields_keep_all(
    deps: Deps, fresh_citizen: str, most: int
) -> None:
    await stored(deps, remember(fresh_citizen, "a", description="The rent is due", rule="Pay."), now=day(50))
    found = await read(deps, fresh_citizen, stimuli=["rent?"], max_tokens=most)
    assert found.tokens <= most
    assert (found.left_out > 0) is (most < 60)
    assert [context.rule for context in found.contexts] == ["Pay."]


async def test_a_part_that_is_not_read_in_time_is_named(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(deps, remember(fresh_citizen, "a", description="The rent is due"), now=day(50))
    await keep(deps, fresh_citizen, day(60), window=[{"id": "a"}])

    async def late(*_: Any) -> Any:
        raise StoreTimeout("late")

    for name in ("read_newest", "read_changed", "read_words"):
        monkeypatch.setattr(situation, name, late)
    found = await read(deps, fresh_citizen)
    assert set(found.degraded) == {"newest", "changes", "window"}
    assert found.since == moment(60)


def turn(citizen: str, number: int, text: str, speaker: str = "user", **fields: Any) -> Any:
    told = {"node_type": "Turn", "description": text, "speaker": speaker, "valid_at": moment(number), **fields}
    return remember(citizen, f"t{number}", **told)


def ids(found: Situation) -> list[str]:
    return [context.memory_id for context in found.contexts]


CHAT = (
    "The neighbour shouted at me over the hedge",
    "The tomatoes came up at last",
    "I bought a blue kettle",
    "The bus was late again",
    "My cousin sends a card from Oslo",
    "There is a new baker in the street",
    "I slept badly",
    "The library is closed in August",
    "He apologised, it was the dog after all",
)


async def tell_chat(deps: Deps, citizen: str) -> None:
    """A chat with a day for each turn, its sessions, who said it, and a turn that follows the first."""
    days = [1, *range(3, 10), 2]
    turns = [turn(citizen, number, text) for number, text in zip(days, CHAT, strict=True)]
    dates = [remember(citizen, f"s{n}", node_type="Session", description=f"{n} January 2026") for n in range(1, 8)]
    people = [remember(citizen, name, node_type="Person") for name in ("user", "tom", "mara")]
    said = [relate(citizen, each.id, "user", relation_type="SAID_BY") for each in turns]
    await stored(deps, *turns, *dates, *people, *said, relate(citizen, "t1", "t2"), now=day(50))


async def test_working_memory_has_what_the_stimulus_is_about_and_what_followed_and_no_dates_or_names(
    deps: Deps, fresh_citizen: str
) -> None:
    await tell_chat(deps, fresh_citizen)
    found = await read(deps, fresh_citizen, stimuli=["Is the neighbour still angry?"])
    assert ids(found)[:2] == ["t1", "t2"]
    assert all(each.startswith("t") and each != "tom" for each in ids(found))


async def test_a_feeling_lifts_nothing_that_is_not_about_the_stimulus(deps: Deps, fresh_citizen: str) -> None:
    await tell_chat(deps, fresh_citizen)
    angry = [
        turn(fresh_citizen, n, f"An evening at the pier {n}", emotion_vector={"anger": 0.9}) for n in (20, 21)
    ]
    await stored(deps, *angry, now=day(50))
    await keep(deps, fresh_citizen, day(60), emotion_vector={"anger": 0.9})
    found = await read(deps, fresh_citizen, stimuli=["The new baker in our street"])
    assert found.signal is not None
    assert found.signal.emotion == "anger"
    assert ids(found)[0] == "t7"
    scores = {context.memory_id: context.score for context in found.contexts}
    assert max(scores.get("t20", 0.0), scores.get("t21", 0.0)) < found.contexts[0].score / 2


async def test_of_two_that_fit_as_well_the_own_memory_stands_before_the_shared_one(
    deps: Deps, fresh_citizen: str
) -> None:
    text = f"The {fresh_citizen} lantern hangs in the hall"
    shared = {"level": Level.N2, "id": f"{fresh_citizen}.a", "name": "a", "description": text, "importance": 0.1}
    await stored(deps, remember(fresh_citizen, "z", description=text), now=day(50))
    await stored(deps, Remember(citizen_id=fresh_citizen, **shared), now=day(50))
    found = await read(deps, fresh_citizen, stimuli=[text])
    assert ids(found)[:2] == ["z", f"{fresh_citizen}.a"]


async def test_a_rule_that_fits_the_stimulus_is_active_though_its_memory_is_no_context(
    deps: Deps, fresh_citizen: str
) -> None:
    rules = {"ladder": "Never lend the ladder to Tom", "beans": "Water the beans on Sunday"}
    told = [remember(fresh_citizen, name, rule=rule, valid_at=moment(1)) for name, rule in rules.items()]
    await stored(deps, *told, now=day(50))
    own = {"query_levels": [Level.N1]}
    found = await read(deps, fresh_citizen, stimuli=["Tom asks for the ladder"], **own)
    assert ids(found) == [], "a memory without a text is no context"
    assert [(rule.rule, rule.memory_ids) for rule in found.rules] == [(rules["ladder"], ("ladder",))]
    assert f"# Rules\n- {rules['ladder']}" in found.text
    other = await read(deps, fresh_citizen, stimuli=["The ferry is late"], **own)
    assert other.rules == ()


@pytest.mark.parametrize(
    ("kept", "first"),
    [
        ({"senses": {"smell": "smoke from the oven of the baker"}}, "t7"),
        ({"senses": {"message": "When does the library open?"}}, "t9"),
        ({"senses": {"pain": {"text": "I slept badly again", "intensity": 0.8}}}, "t8"),
        ({"focus": "a card from Oslo"}, "t6"),
    ],
)
async def test_a_stimulus_of_each_sense_is_answered(
    deps: Deps, fresh_citizen: str, kept: dict[str, Any], first: str
) -> None:
    await tell_chat(deps, fresh_citizen)
    await keep(deps, fresh_citizen, day(60), window=[], **kept)
    assert ids(await read(deps, fresh_citizen))[0] == first
