"""Resonance by shape, perspectives, and a self, on a real engine."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.identity.feature import read_identity, read_identity_diff
from orchestration.features.identity.values import Between, WhoIs
from orchestration.features.shape.feature import look
from orchestration.features.shape.shape import TOO_LITTLE
from orchestration.features.shape.values import Look
from orchestration.resonance.ask import resonate
from orchestration.writing.erasure import erase
from schemas.commands import EraseMemory, Retract
from schemas.errors import InvalidRequest, NotFound
from schemas.wave_signal import Resonances, Resonate
from tests.integration import store
from tests.integration.store import NOW, day, moment, stored

BOUND = (
    ("seal", "blocked", None, "fear"), ("way", None, None, "curiosity"),
    ("turn", "resolved", "positive", "relief"), ("free", None, "positive", "joy"),
)  # fmt: skip
LINKS = (("turn", "WAKES", "seal"), ("way", "LEADS_TO", "turn"), ("turn", "FREES", "free"))


WRITTEN, ASKED_AT = day(90), moment(100)


async def remember(deps: Deps, citizen: str, memory: str, name: str, **fields: Any) -> None:
    await stored(deps, store.remember(citizen, memory, **{"name": name, **fields}), now=WRITTEN)


async def relate(deps: Deps, citizen: str, ends: tuple[str, str], kind: str, **fields: Any) -> None:
    await stored(deps, store.relate(citizen, *ends, relation_type=kind, **fields), now=WRITTEN)


async def tell(deps: Deps, citizen: str, story: str, words: str) -> None:
    """Store a story of four memories, an hour apart, of which `turn` is the turning point."""
    for hour, (part, state, result, felt) in enumerate(BOUND):
        fields: dict[str, Any] = {"emotion_vector": {felt: 0.8}}
        fields |= {"resolution_state": state} if state else {}
        fields |= {"result": result} if result else {}
        await remember(
            deps, citizen, f"{story}-{part}", f"{words} {part}", valid_at=moment(1 + hour / 24), **fields
        )
    for source, kind, target in LINKS:
        await relate(deps, citizen, (f"{story}-{source}", f"{story}-{target}"), kind)


@pytest.fixture(scope="module")
async def told(deps: Deps) -> str:
    """A citizen with two stories of one shape, and a memory without links."""
    citizen = "shape_told"
    await tell(deps, citizen, "needle", "The sorcerer")
    await tell(deps, citizen, "vault", "An empire of stars")
    await remember(deps, citizen, "alone", "A quiet day", valid_at=moment(2))
    return citizen


async def by_shape(deps: Deps, citizen: str, memory: str, **fields: Any) -> Resonances:
    asked = {"citizen_id": citizen, "by": "shape", "id": memory, **fields}
    return await resonate(Resonate.model_validate(asked), deps, NOW)


def ids(found: Resonances) -> list[str]:
    return [one.memory.node_id for one in found.levels["n1_personal"]]


async def test_the_same_story_in_other_words_is_found_and_says_why(deps: Deps, told: str) -> None:
    found = await by_shape(deps, told, "needle-turn")
    assert ids(found)[0] == "vault-turn"
    assert not any(one.startswith("needle") for one in ids(found))
    assert found.levels["n1_personal"][0].shared


async def test_the_past_side_finds_the_same(deps: Deps, told: str) -> None:
    now = await by_shape(deps, told, "needle-turn")
    then = await by_shape(deps, told, "needle-turn", as_of_time=moment(95), known_at=ASKED_AT)
    assert ids(then)[0] == ids(now)[0] == "vault-turn"


async def test_a_memory_without_links_says_that_there_is_too_little(deps: Deps, told: str) -> None:
    found = await by_shape(deps, told, "alone")
    assert (ids(found), TOO_LITTLE in found.notes) == ([], True)


@pytest.mark.parametrize("citizen", ["shape_told", "shape_nobody"])
async def test_an_unknown_memory_is_not_found(deps: Deps, told: str, citizen: str) -> None:
    with pytest.raises(NotFound):
        await by_shape(deps, citizen, "nothing")


async def test_an_erased_memory_is_neither_a_probe_nor_found(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "one", "The river")
    await tell(deps, fresh_citizen, "two", "The market")
    await erase(EraseMemory(citizen_id=fresh_citizen, id="two-turn"), deps, NOW, None)
    assert "two-turn" not in ids(await by_shape(deps, fresh_citizen, "one-turn"))
    with pytest.raises(NotFound):
        await by_shape(deps, fresh_citizen, "two-turn")


async def test_perspectives_share_no_memory(deps: Deps, told: str) -> None:
    seen = await look(
        Look(citizen_id=told, query_text="The sorcerer turn", id="needle-turn", emotion="relief"), deps, NOW
    )
    shown = [one.memory.node_id for some in (seen.by_meaning, seen.by_shape, seen.by_feeling) for one in some]
    assert len(shown) == len(set(shown))
    assert (seen.probe, seen.emotion, bool(seen.by_shape), bool(seen.by_feeling)) == (
        "needle-turn", "relief", True, True,
    )  # fmt: skip


async def test_a_self_is_found_by_its_name_and_then_declared_by_the_citizen_but_by_no_tool(
    deps: Deps, fresh_citizen: str
) -> None:
    await remember(deps, fresh_citizen, "me", fresh_citizen, node_type="Person", valid_at=moment(1))
    await remember(deps, fresh_citizen, "walk", "A walk", valid_at=moment(2))
    await relate(deps, fresh_citizen, ("walk", "me"), "ABOUT")
    found = (await read_identity(WhoIs(citizen_id=fresh_citizen), deps, NOW)).self_entity
    assert found is not None
    assert (found.node_id, found.appearances, found.declared) == ("me", 1, False)
    await remember(deps, fresh_citizen, "self", "The one who walks", node_type="Self", valid_at=moment(3))
    declared = (await read_identity(WhoIs(citizen_id=fresh_citizen), deps, NOW)).self_entity
    assert declared is not None
    assert (declared.name, declared.declared) == ("The one who walks", True)
    other = f"{fresh_citizen}x"
    await remember(deps, other, "self", "Mallory", source="tool", valid_at=moment(4))
    assert (await read_identity(WhoIs(citizen_id=other), deps, NOW)).self_entity is None


async def test_what_changed_between_two_moments_is_named(deps: Deps, fresh_citizen: str) -> None:
    felt = {"emotion_vector": {"joy": 0.9}}
    await remember(deps, fresh_citizen, "egor", "Egor", node_type="Person", valid_at=moment(1))
    await remember(deps, fresh_citizen, "m1", "A day", rule="Write first.", valid_at=moment(2), **felt)
    await relate(deps, fresh_citizen, ("m1", "egor"), "MENTIONS", valid_at=moment(2))
    await remember(deps, fresh_citizen, "m2", "A night", rule="Sleep on it.", valid_at=moment(6))
    await stored(deps, Retract(citizen_id=fresh_citizen, id="m1", effective_at=moment(7)), now=day(95))
    between = Between.model_validate({"from": moment(3), "to": moment(8), "known_at": ASKED_AT})
    diff = await read_identity_diff(fresh_citizen, between, deps, NOW)
    assert [one.rule for one in diff.values_new] == ["Sleep on it."]
    assert [one.rule for one in diff.values_ended] == ["Write first."]
    assert [(one.name, one.before, one.after) for one in diff.attachments] == [("Egor", 1, 0)]


async def test_the_first_moment_is_not_after_the_second(deps: Deps, told: str) -> None:
    backwards = Between.model_validate({"from": moment(8), "to": moment(3)})
    with pytest.raises(InvalidRequest, match="is after"):
        await read_identity_diff(told, backwards, deps, NOW)


async def test_before_any_memory_there_is_nobody_and_a_note_says_so(deps: Deps, told: str) -> None:
    early = Between(from_time=datetime.fromisoformat("1990-01-01T00:00:00Z"), to_time=moment(0))
    diff = await read_identity_diff(told, early, deps, NOW)
    assert not diff.values_new
    assert any("no memory that pointed to another" in note for note in diff.notes)
