"""Waking on a real engine (003, component 1): Ada's life as a reader knows it, and small lives worked by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from api.runtime.runtime import now, open_runtime
from orchestration.dependencies import Deps
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import Retract, Supersede
from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream, ResolutionPattern
from schemas.temporal import Instant, TemporalMode, to_datetime, to_instant
from tests.integration.store import NOW, found, ids, moment, relate, remember, send, stored, work

LIFE = Path(__file__).parents[2] / "examples" / "ada"
STORY_NOW = datetime(2025, 9, 1, 8, tzinfo=UTC)
UNRESOLVED = {"in_progress", "blocked"}
LATER = NOW + 1000
"""A moment after everything was written: of two writes at one instant the second is put a microsecond later."""
SHIFTED = ("valid_at", "invalid_at", "effective_at", "timestamp", "as_of_time", "generated_at")


class Ada(NamedTuple):
    """Ada's life with its end put to this morning."""

    deps: Deps
    now: Instant
    shift: timedelta

    async def wakes(self, mode: QueryMode, **fields: Any) -> tuple[ConsciousnessStream, list[ResolutionPattern]]:
        expected = json.loads((LIFE / "expect.json").read_text())["wake"]
        (state,) = [one["state"] for one in expected if one["state"]["query_mode"] == mode]
        asked = StateBasedRetrieval.model_validate({**state, **fields})
        stream = await retrieve_consciousness_context_from_state(asked, self.deps, self.now)
        assert (stream.degraded, len(stream.timings), stream.query_count) == ((), 6, 6)
        return stream, list(stream.resolution_patterns)

    def at(self, story: str) -> datetime:
        return datetime.fromisoformat(story) + self.shift


def shifted(text: str, shift: timedelta) -> str:
    lines = []
    for line in text.splitlines():
        entry = json.loads(line)
        for name in SHIFTED:
            if name in entry:
                entry[name] = (datetime.fromisoformat(entry[name]) + shift).isoformat()
        lines.append(json.dumps(entry))
    return "\n".join(lines)


@pytest.fixture(scope="module")
async def ada(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ada]:
    """A store of her own: her life has memories in the shared levels too."""
    store = StoreSettings(data=tmp_path_factory.mktemp("ada"))
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
        learned = now()
        shift = timedelta(microseconds=learned - to_instant(STORY_NOW))
        names = ("n1_personal", "n2_collective", "n3_ecosystem")
        files = tuple(File(name, shifted((LIFE / f"{name}.jsonl").read_text(), shift)) for name in names)
        report = await ingest(parse("commands", FileSet("ada", files, "ada")), runtime.deps, learned)
        assert (report.refused, report.stored) == (0, 479)
        yield Ada(runtime.deps, learned + 1_000, shift)  # each statement of the ingestion took a moment


def expected(mode: QueryMode, which: str = "expect") -> list[str]:
    wakings = json.loads((LIFE / "expect.json").read_text())["wake"]
    return next(list(one.get(which, ())) for one in wakings if one["state"]["query_mode"] == mode)


def order(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.activation_tiers.ordered())


def focus(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.activation_tiers.focus)


def own(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.levels["n1_personal"].graph_results)


def felt(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.levels["n1_personal"].vector_results)


# --- Ada ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", QueryMode)
async def test_each_waking_brings_what_a_reader_of_the_life_expects(ada: Ada, mode: QueryMode) -> None:
    stream, patterns = await ada.wakes(mode)
    assert set(expected(mode) + expected(mode, "also")) <= set(order(stream))
    assert bool(patterns) is (mode is QueryMode.RESOLUTION_PATTERNS)
    answers = expected(mode)[: len(focus(stream))]
    assert len(set(focus(stream)) & set(expected(mode) + expected(mode, "also"))) >= min(4, len(answers))


async def test_unfinished_business_is_unfinished_and_recent_and_under_the_goal(ada: Ada) -> None:
    stream, _ = await ada.wakes(QueryMode.RELATED_UNRESOLVED)
    assert {node.resolution_state for node in found(stream)} <= UNRESOLVED
    first = stream.activation_tiers.ordered()[:8]
    assert all(node.valid_at >= ada.at("2025-08-02T08:00:00+00:00") for node in first)
    assert {node.goal for node in first[:7]} == {"design_phase_3_architecture"}
    # its own query goes by goal and energy
    energies = [node.energy for node in stream.levels["n1_personal"].graph_results]
    assert energies[:6] == sorted(energies[:6], reverse=True)
    assert stream.levels["n2_collective"].relationships


async def test_resolution_patterns_are_whole_chains_highest_impact_first(ada: Ada) -> None:
    stream, patterns = await ada.wakes(QueryMode.RESOLUTION_PATTERNS)
    chains = {one.blockage_id: (one.resolution_id, one.step_ids) for one in patterns}
    assert [one.blockage_id for one in patterns] == [
        "ada.m.starved-search", "ada.m.schema-review-blocked", "ada.m.slow-traversal", "n2.meeting.schema-1"
    ]  # fmt: skip
    assert [one.discovery_energy for one in patterns] == [0.9, 0.9, 0.7, 0.5]
    assert all(one.emotional_likeness > 0.6 for one in patterns)
    assert chains["ada.m.starved-search"][0] == "ada.learning.k-before-where"
    assert "ada.decision.filter-after" in chains["ada.m.starved-search"][1]
    assert chains["ada.m.slow-traversal"][0] == "ada.action.barrier"
    assert "ada.learning.planner-wrong-end" in chains["ada.m.slow-traversal"][1]
    assert chains["ada.m.schema-review-blocked"][0] == "ada.action.asked-luca"
    assert chains["ada.m.schema-review-blocked"][1][:2] == (
        "ada.decision.three-tiers",
        "ada.learning.ask-the-feeler",
    )
    kinds = {node.node_id: node.node_type for node in found(stream)}
    assert {kinds[step] for one in patterns for step in one.step_ids if step in kinds} <= {
        "Decision", "Action", "Learning"
    }  # fmt: skip


async def test_another_moment_has_its_own_unfinished_business(ada: Ada) -> None:
    july = {"as_of_time": ada.at("2025-07-10T08:00:00+00:00"), "known_at": now_of(ada)}
    goal = {"current_goal": "design_schema_architecture"}
    stream, _ = await ada.wakes(QueryMode.RELATED_UNRESOLVED, **july, **goal)
    assert stream.temporal_mode is TemporalMode.POINT_IN_TIME
    assert "ada.m.schema-review-blocked" in focus(stream)
    assert {node.resolution_state for node in found(stream)} <= UNRESOLVED
    later, _ = await ada.wakes(QueryMode.RELATED_UNRESOLVED, **goal)
    assert "ada.m.schema-review-blocked" not in order(later)
    before, patterns = await ada.wakes(QueryMode.RESOLUTION_PATTERNS, **july, **goal)
    assert "ada.m.schema-review-blocked" not in {one.blockage_id for one in patterns}
    assert before.degraded == ()


@pytest.mark.parametrize("mode", QueryMode)
async def test_asking_for_the_present_moment_as_of_itself_has_the_same_answers(ada: Ada, mode: QueryMode) -> None:
    present, patterns = await ada.wakes(mode)
    past, same = await ada.wakes(mode, as_of_time=now_of(ada), known_at=now_of(ada))
    assert order(past) == order(present)
    assert [one.blockage_id for one in same] == [one.blockage_id for one in patterns]


async def test_before_anything_was_known_nothing_is(ada: Ada) -> None:
    stream, patterns = await ada.wakes(QueryMode.RESOLUTION_PATTERNS, known_at=ada.at("2025-06-10T08:00:00+00:00"))
    assert (found(stream), patterns) == ([], [])


def now_of(ada: Ada) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ada.now)


MOODS: tuple[dict[str, float] | None, ...] = (
    None,
    {"joy": 0.9},
    {"fear": 0.9},
    {"sadness": 0.8, "fear": 0.4},
    {"frustration": 0.7, "uncertainty": 0.5},
    {"drive": 0.8, "uncertainty": 0.3},
)


@pytest.mark.parametrize("goal", [None, "design_phase_3_architecture"])
async def test_a_mood_colours_what_a_question_finds_and_does_not_hide_it(ada: Ada, goal: str | None) -> None:
    questions = json.loads((LIFE / "expect.json").read_text())["questions"]
    shares = []
    for mood in MOODS:
        hits = 0
        for one in questions:
            asked = {"query_text": one["ask"], "current_emotions": mood, "current_goal": goal, "citizen_id": "ada"}
            intention = RetrievalIntention.model_validate(asked)
            stream = await retrieve_consciousness_context(intention, ada.deps, ada.now)
            hits += len(set(focus(stream)) & set(one["expect"]))
        shares.append(hits / sum(len(one["expect"]) for one in questions))
    assert min(shares) >= shares[0] - 0.05


# --- small lives ----------------------------------------------------------------------------------------------


async def woken(deps: Deps, citizen: str, **fields: Any) -> tuple[ConsciousnessStream, list[ResolutionPattern]]:
    whole = {
        "citizen_id": citizen,
        "current_energy": 0.5,
        "current_emotions": {"joy": 0.8, "calm": 0.6},
        "query_levels": ("N1",),
        **fields,
    }
    stream = await retrieve_consciousness_context_from_state(
        StateBasedRetrieval.model_validate(whole), deps, LATER
    )
    assert stream.degraded == ()
    return stream, list(stream.resolution_patterns)


async def test_unresolved_by_goal_and_energy(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        work(c, "same", "blocked", goal="bake_a_loaf", energy=0.6),
        work(c, "within", "in_progress", goal="bake a loaf of rye", energy=0.9),
        work(c, "alike", "in_progress", goal="bake a rye loaf", energy=0.9),
        work(c, "felt", "in_progress", goal="sail", energy=1, emotion_vector={"joy": 0.4, "calm": 0.3}),
        work(c, "other", "in_progress", goal="sail", energy=1, emotion_vector={"fear": 1}),
        work(c, "done", "resolved", goal="bake_a_loaf", energy=1),
        work(c, "old", "blocked", 90, goal="bake_a_loaf", energy=1),
        work(c, "new", "blocked", 29.9, goal="bake_a_loaf", energy=0.1),
        work(c, "plain", None, goal="bake_a_loaf", energy=1),
    )
    # energy × match: 0.9 × 0.7, 0.6 × 1, 0.9 × (0.3 + 0.4 × 2·2/5 or more), 1 × 0.3, 0.1 × 1; "old" × 1/3
    stream, _ = await woken(deps, c, current_goal="Bake a loaf", explain=True)
    modes = {node.node_id: (node.score_terms or {})["mode"] for node in found(stream)}
    assert {name: modes[name] for name in ("same", "within", "felt", "new", "old")} == {
        "same": pytest.approx(0.6), "within": pytest.approx(0.63), "felt": pytest.approx(0.3),
        "new": pytest.approx(0.1), "old": pytest.approx(1 / 3, abs=1e-4),
    }  # fmt: skip
    assert 0.9 * 0.62 <= modes["alike"] <= 0.9 * 0.7
    assert set(modes) == {"same", "within", "alike", "felt", "new", "old"}
    assert set(own(stream)) == {"same", "within", "alike", "new", "old"}
    assert [modes[name] for name in own(stream)] == sorted((modes[name] for name in own(stream)), reverse=True)
    whole, _ = await woken(deps, c, current_goal="Bake a loaf", include_only_unresolved=False)
    assert own(whole)[0] == "done"
    ever, _ = await woken(deps, c, current_goal="Bake a loaf", temporal_scope="all_time")
    assert own(ever)[0] == "old"


async def test_unresolved_without_a_goal_by_likeness_of_state(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        work(c, "like", "blocked", energy=0.5, emotion_vector={"joy": 0.4, "calm": 0.3}),
        work(c, "half", "blocked", energy=0.5, emotion_vector={"joy": 1.0}),
        work(c, "numb", "in_progress", energy=0.6),
        work(c, "far", "in_progress", energy=1.0, emotion_vector={"fear": 1.0}),
    )
    # (1 + 1) / 2, (0.8 + 1) / 2, (0 + 0.9) / 2, (0 + 0.5) / 2
    stream, _ = await woken(deps, c, explain=True)
    assert own(stream) == ["like", "half", "numb", "far"]
    scores = [(node.score_terms or {})["mode"] for node in stream.levels["n1_personal"].graph_results]
    assert scores == pytest.approx([1.0, 0.9, 0.45, 0.25])
    assert felt(stream) == ["like", "half"]


async def test_a_goal_is_found_by_meaning_where_it_shares_no_word(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    bread = "The rye loaf will not rise; the oven is too cold for bread."
    await stored(
        deps,
        work(c, "bread", "blocked", goal="feed the house", description=bread),
        work(c, "mast", "blocked", goal="cross the bay", description="The mast is split below the spreaders."),
    )
    stream, _ = await woken(deps, c, current_goal="bake_bread", current_emotions={})
    assert order(stream) == ["bread"]


async def test_a_similar_state_needs_like_emotion_and_near_energy(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        work(c, "same", None, energy=0.3, emotion_vector={"joy": 0.4, "calm": 0.3}),
        work(c, "near", None, energy=0.75, emotion_vector={"happy": 1.0}),
        work(c, "strange", None, energy=0.5, emotion_vector={"joy": 0.8, "calm": 0.6, "whelm": 0.2}),
        work(c, "away", None, energy=0.76, emotion_vector={"joy": 0.4, "calm": 0.3}),
        work(c, "unlike", None, energy=0.5, emotion_vector={"calm": 1.0}),
        work(c, "numb", None, energy=0.5),
        work(c, "old", None, 40, energy=0.5, emotion_vector={"joy": 0.8, "calm": 0.6}),
        relate(c, "same", "numb"),
        relate(c, "same", "old"),
    )
    stream, _ = await woken(deps, c, query_mode="find_similar_state")
    assert felt(stream) == ["old", "same", "strange", "near"]  # the first two are equally like: by id
    assert own(stream) == ["same", "strange", "near", "old", "numb"]  # what is 40 days old counts less
    assert order(stream)[-1] == "numb"  # what only hangs on an answer stands after all answers
    links = [(link.source_id, link.target_id) for link in stream.levels["n1_personal"].relationships]
    assert set(links) == {("same", "numb"), ("same", "old")}
    ever, _ = await woken(deps, c, query_mode="find_similar_state", temporal_scope="all_time")
    assert set(own(ever)[:2]) == {"same", "old"}


async def test_patterns_go_by_how_it_felt_when_it_was_blocked(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    tense = {"tension": 0.8, "fear": 0.2}
    by = {"relation_type": "RESOLVED_BY", "resolution_state": "resolved"}
    await stored(
        deps,
        work(c, "stuck", "blocked", 9, goal="sail", emotion_vector=tense, name="Becalmed"),
        work(c, "never", "resolved", 9, goal="sail", emotion_vector=tense, discovery_energy=0.7),
        work(c, "glad", "resolved", 9, goal="sail", emotion_vector={"joy": 1}, discovery_energy=1),
        work(c, "open", "blocked", 9, goal="sail", emotion_vector=tense),
        work(c, "loaf", "resolved", 9, goal="bake", emotion_vector=tense),
        work(c, "row", None, 8, node_type="Action", name="Rowed"),
        work(c, "oars", None, 7, node_type="Decision"),
        work(c, "tides", None, 6, node_type="Learning"),
        work(c, "bosun", None, 9, node_type="Person"),
        *(relate(c, one, "row", **by) for one in ("stuck", "never", "glad", "open", "loaf")),
        relate(c, "row", "oars"),
        relate(c, "row", "bosun"),
        relate(c, "bosun", "tides"),
        relate(c, "row", "stuck", **by),
    )
    solved = {"resolution_state": "resolved", "emotion_vector": {"relief": 1.0}, "discovery_energy": 0.7}
    await stored(deps, Supersede(id="stuck", citizen_id=c, effective_at=moment(95), **solved))
    asked = {"query_mode": "find_resolution_patterns", "current_emotions": tense, "current_goal": "sail"}
    stream, patterns = await woken(deps, c, **asked)
    # equal discovery energy: known to have been blocked comes first
    assert [(one.blockage, one.resolution) for one in patterns] == [("Becalmed", "Rowed"), ("never", "Rowed")]
    assert patterns[0].step_ids == ("oars", "tides")
    assert patterns[0].emotional_likeness == pytest.approx(1.0)
    assert {node.version for node in found(stream) if node.node_id == "stuck"} == {3}
    assert set(own(stream)) == {"stuck", "never", "row", "oars", "tides", "bosun"}
    assert set(felt(stream)) == {"loaf", "never", "stuck"}
    goalless, without = await woken(deps, c, **{**asked, "current_goal": None})
    assert [one.blockage_id for one in without] == ["stuck", "never", "loaf"]
    assert goalless.degraded == ()


async def test_a_ring_of_resolutions_and_a_link_to_itself_do_no_harm(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    by = {"relation_type": "RESOLVED_BY", "resolution_state": "resolved"}
    tense = {"tension": 0.8}
    names = ("a", "b", "c")
    await stored(
        deps,
        *(work(c, name, "resolved", node_type="Action", emotion_vector=tense) for name in names),
        *(relate(c, one, other, **by) for one in names for other in names),
        *(relate(c, "a", "b", id=f"again-{n}") for n in range(5)),
    )
    asked = {"query_mode": "find_resolution_patterns", "current_emotions": tense}
    for time in ({}, {"as_of_time": moment(100)}, {"known_at": moment(101)}):
        stream, patterns = await woken(deps, c, **asked, **time)
        assert len({one.link_id for one in patterns}) == len(patterns)
        assert stream.activation_tiers.ordered() == () or patterns


async def test_a_link_to_what_is_no_more_takes_no_place_from_another(deps: Deps, fresh_citizen: str) -> None:
    c, beside = fresh_citizen, ("first", "second", "third", "fourth")
    plain = [remember(c, name, valid_at=moment(99)) for name in ("gone", *beside)]
    ties = [relate(c, "glad", one.id or "", energy=0.9 - 0.1 * n) for n, one in enumerate(plain)]
    await stored(deps, work(c, "glad", None, emotion_vector={"joy": 0.8, "calm": 0.6}), *plain, *ties)
    await send(deps, Retract(citizen_id=c, id="gone"), now=NOW + 500)
    for time in ({}, {"known_at": to_datetime(LATER)}):
        stream, _ = await woken(deps, c, query_mode="find_similar_state", **time)
        assert set(order(stream)) == {"glad", *beside}


# --- nothing, and bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", QueryMode)
@pytest.mark.parametrize("past", [False, True])
async def test_waking_a_memory_without_metadata_finds_nothing_whatever_the_goal(
    deps: Deps, fresh_citizen: str, mode: QueryMode, past: bool
) -> None:
    await stored(deps, remember(fresh_citizen, "only", valid_at=moment(99)))
    time = {"as_of_time": moment(100), "known_at": moment(101)} if past else {}
    for goal in (None, "anything", "___", "a", "' OR 1=1 //", "\\", "🎣 Müßiggang", "x" * 1000):
        stream, patterns = await woken(deps, fresh_citizen, query_mode=mode, current_goal=goal, **time)
        assert (found(stream), patterns, stream.degraded) == ([], [], ())
