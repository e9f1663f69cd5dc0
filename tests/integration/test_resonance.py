"""Wave retrieval on a real engine: the worked signals of 000, the channels of 002, signals read from a window."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from orchestration.features.imagination.flow import imagine
from orchestration.features.imagination.values import Imagine
from orchestration.mind.state import change_state
from orchestration.resonance.ask import resonate
from schemas.commands import Correct, Supersede
from schemas.errors import InvalidRequest
from schemas.mind.state import StateChange
from schemas.wave_signal import CHANNELS, Resonance, Resonances, Resonate
from tests.features.contexts.identity_contexts import told
from tests.integration.store import ASKED, NOW, day, moment, relate, remember, stored
from tests.scripted_model import ScriptedModel

ONLY = dict.fromkeys(CHANNELS, 0.0)
BY_000 = {**ONLY, "nodes": 1.0, "emotion": 0.5, "result": 0.3}
"""000's weights, without recency: its worked totals leave it out."""
LATER = NOW + 1000
"""A moment after everything was written: of two writes at one instant the second is put a microsecond later."""
EMBEDDED = "the light on the harbour wall"


@pytest.fixture(scope="module")
async def kai(deps: Deps) -> str:
    """000's citizen."""
    return await told(deps, "kai_resonates")


async def ask(deps: Deps, citizen: str, **fields: Any) -> Resonances:
    fields.setdefault("query_levels", ["N1"])
    return await resonate(Resonate.model_validate({"citizen_id": citizen, **fields}), deps, LATER)


def first(answer: Resonances) -> list[Resonance]:
    return list(answer.levels["n1_personal"])


def order(answer: Resonances) -> list[str]:
    return [one.memory.node_id for one in first(answer)]


def channel(answer: Resonances, name: Any) -> dict[str, float]:
    return {one.memory.node_id: one.channels[name] for one in first(answer)}


async def test_kai_egor_and_loneliness_find_the_unsatisfied_connection(deps: Deps, kai: str) -> None:
    answer = await ask(deps, kai, nodes=["Kai", "Egor"], emotion="loneliness", overlap="memory", weights=BY_000)
    assert (order(answer)[0], first(answer)[0].total) == ("c9", 1.50)


async def test_kai_v5_and_curiosity_find_the_excitement_about_wave_retrieval(deps: Deps, kai: str) -> None:
    answer = await ask(deps, kai, nodes=["Kai", "v5"], emotion="curiosity", overlap="memory", weights=BY_000)
    assert (order(answer)[0], round(first(answer)[0].total, 2)) == ("c7", 1.17)


async def test_both_worked_signals_find_the_same_by_the_weights_of_002(deps: Deps, kai: str) -> None:
    lonely = await ask(deps, kai, nodes=["Kai", "Egor"], emotion="loneliness")
    curious = await ask(deps, kai, nodes=["Kai", "v5"], emotion="curiosity")
    assert (order(lonely)[0], order(curious)[0]) == ("c9", "c7")


async def test_four_channels_of_equal_weight_are_averaged_over_those_that_speak(deps: Deps, kai: str) -> None:
    alike = {**ONLY, "nodes": 1.0, "relations": 1.0, "emotion": 1.0, "result": 1.0}
    answer = await ask(deps, kai, nodes=["Kai", "code"], emotion="despair", weights=alike)
    by_id = {one.memory.node_id: one for one in first(answer)}
    assert answer.weights == {**ONLY, "nodes": 1.0, "emotion": 1.0}
    assert by_id["c9"].channels["nodes"] == 0.5
    assert by_id["c9"].channels["emotion"] == 0.5, "loneliness has the valence of despair"
    assert by_id["c9"].resonance == 0.5
    assert by_id["c2"].resonance == 0.75


async def test_the_one_who_criticised_is_not_the_one_who_praised(deps: Deps, fresh_citizen: str) -> None:
    people = [remember(fresh_citizen, i, name=i.title(), node_type="Person") for i in ("egor", "kai")]
    code = remember(fresh_citizen, "code", name="code", node_type="Concept")
    says = [remember(fresh_citizen, f"m_{how}", name=f"Egor {how} the code") for how in ("criticized", "praised")]
    asserted = [
        relate(fresh_citizen, "egor", "code", relation_type=how.upper(), episode_id=f"m_{how}")
        for how in ("criticized", "praised")
    ]
    await stored(deps, *people, code, *says, *asserted)
    nodes = {"nodes": ["egor", "code"], "weights": {**ONLY, "nodes": 1, "relations": 1}}
    answer = await ask(deps, fresh_citizen, relations=["egor|criticized|code"], **nodes)
    said = {name: score for name, score in channel(answer, "relations").items() if name.startswith("m_")}
    assert said == {"m_criticized": 1.0, "m_praised": 0.0}
    assert channel(answer, "nodes")["m_criticized"] == channel(answer, "nodes")["m_praised"] == 1.0
    assert order(answer)[0] == "m_criticized"
    by_another = await ask(deps, fresh_citizen, relations=["kai|criticized|code"], **nodes)
    backwards = await ask(deps, fresh_citizen, relations=["code|criticized|egor"], **nodes)
    for none in (by_another, backwards):
        assert not any(score for name, score in channel(none, "relations").items() if name.startswith("m_"))
        assert any("no memory found has any of the relations" in note for note in none.notes)


async def test_emotion_counts_whole_for_the_same_and_half_for_its_valence(deps: Deps, fresh_citizen: str) -> None:
    await stored(
        deps,
        *(
            remember(fresh_citizen, name, emotion_vector={name: 0.7} if name != "none" else None)
            for name in ("loneliness", "despair", "joy", "surprise", "none")
        ),
    )
    answer = await ask(deps, fresh_citizen, emotion="Lonely", weights={**ONLY, "emotion": 1})
    assert channel(answer, "emotion") == {
        "loneliness": 1.0, "despair": 0.5, "joy": 0.0, "surprise": 0.0, "none": 0.0,
    }  # fmt: skip
    weaker = await ask(deps, fresh_citizen, emotion="Lonely", intensity=0.25)
    assert weaker.weights["emotion"] == 0.25
    odd = await ask(deps, fresh_citizen, emotion="saudade", weights={**ONLY, "emotion": 1})
    assert set(channel(odd, "emotion").values()) == {0.0}
    assert any("saudade is not in the vocabulary" in note for note in odd.notes)


async def test_result_importance_recency_and_likeness_each_speak_alone(deps: Deps, fresh_citizen: str) -> None:
    await stored(
        deps,
        remember(fresh_citizen, "old", name=EMBEDDED, result="Negative", valid_at=moment(97)),
        remember(fresh_citizen, "new", name="Nothing of it", importance=0.75, valid_at=moment(100)),
    )
    asked = {"result": "negative", "query_text": EMBEDDED, "suppress_recent": False}
    one = {name: await ask(deps, fresh_citizen, weights={**ONLY, name: 1}, **asked)
           for name in ("result", "importance", "recency", "likeness")}  # fmt: skip
    assert channel(one["result"], "result") == {"old": 1.0, "new": 0.0}
    assert channel(one["importance"], "importance") == {"new": 0.75, "old": 0.0}
    assert channel(one["recency"], "recency") == {"new": 1.0, "old": 0.25}, "1 / (1 + days) of 000"
    alike = channel(one["likeness"], "likeness")
    assert alike["old"] > 0.9 > alike["new"]
    assert {name: order(answer)[0] for name, answer in one.items()} == {
        "result": "old", "importance": "new", "recency": "new", "likeness": "old",
    }  # fmt: skip


async def test_a_higher_abstraction_resonates_more_and_can_be_left_out(deps: Deps, fresh_citizen: str) -> None:
    levels = (None, "L1", "L2", "L3")
    await stored(
        deps,
        *(
            remember(fresh_citizen, f"m{level}", emotion_vector={"hope": 0.5}, abstraction=level)
            for level in levels
        ),
    )
    asked = {"emotion": "hope", "weights": {**ONLY, "emotion": 1}, "suppress_recent": False}
    every = await ask(deps, fresh_citizen, **asked)
    assert {one.memory.node_id: one.resonance for one in first(every)} == {
        "mL3": 1.15, "mL2": 1.1, "mL1": 1.05, "mNone": 1.0,
    }  # fmt: skip
    assert order(every)[0] == "mL3"
    assert order(await ask(deps, fresh_citizen, max_level=1, **asked)) == ["mL1", "mNone"]


async def test_a_memory_shown_within_the_window_ranks_lower_for_a_day(deps: Deps, kai: str) -> None:
    asked = {"nodes": ["Kai", "Egor"], "emotion": "loneliness", "weights": BY_000}
    for shown_at, factor, leads in ((None, 0.2, False), (moment(99.5), 0.6, False), (moment(98), 1.0, True)):
        window = [{"id": "c9", "shown_at": shown_at}]
        answer = await ask(deps, kai, window=window, max_results_per_level=100, **asked)
        (nine,) = [one for one in first(answer) if one.memory.node_id == "c9"]
        assert nine.suppression == pytest.approx(factor)
        assert (order(answer)[0] == "c9") is leads


async def test_what_became_true_within_a_day_resonates_less_unless_it_is_wanted(
    deps: Deps, fresh_citizen: str
) -> None:
    ages = {"now": 100, "half": 99.5, "quarter": 99.75, "day": 99, "old": 10, "ahead": 101}
    await stored(
        deps,
        *(
            remember(fresh_citizen, name, emotion_vector={"hope": 0.5}, valid_at=moment(at))
            for name, at in ages.items()
        ),
    )
    asked = {"emotion": "hope", "weights": {**ONLY, "emotion": 1}}
    suppressed = {one.memory.node_id: one.suppression for one in first(await ask(deps, fresh_citizen, **asked))}
    assert suppressed == {
        "now": pytest.approx(0.2, abs=1e-5), "quarter": pytest.approx(0.4, abs=1e-5),
        "half": pytest.approx(0.6, abs=1e-5), "day": 1.0, "old": 1.0,
    }  # fmt: skip
    every = await ask(deps, fresh_citizen, suppress_recent=False, **asked)
    assert {one.suppression for one in first(every)} == {1.0}
    # What was said at another moment is measured from there.
    then = await ask(deps, fresh_citizen, as_of_time=moment(99.5), known_at=moment(100.5), **asked)
    lived = {one.memory.node_id: one.suppression for one in first(then)}
    assert lived == {"half": 0.2, "day": pytest.approx(0.6), "old": 1.0}
    # Of a memory that is also in the window the smaller factor counts, not their product.
    window = [{"id": "half", "shown_at": moment(100)}]
    answer = await ask(deps, fresh_citizen, window=window, **asked)
    assert {one.memory.node_id: one.suppression for one in first(answer)}["half"] == 0.2


async def test_each_context_comes_with_its_nodes_edges_and_rules(deps: Deps, fresh_citizen: str) -> None:
    felt = {"emotion_vector": {"hope": 0.5}}
    await stored(
        deps,
        remember(fresh_citizen, "egor", name="Egor", node_type="Person"),
        remember(fresh_citizen, "code", name="The code", node_type="Project"),
        remember(fresh_citizen, "evening", rule="Write.", **felt),
        remember(fresh_citizen, "morning", rule=" Write. ", **felt),
        remember(fresh_citizen, "night", rule="Sleep.", **felt),
        relate(fresh_citizen, "evening", "egor", relation_type="MENTIONS"),
        relate(fresh_citizen, "egor", "code", relation_type="CRITICIZED", episode_id="evening"),
    )
    answer = await ask(deps, fresh_citizen, nodes=["Egor"], emotion="hope", weights={**ONLY, "emotion": 1})
    by_id = {one.memory.node_id: one for one in first(answer)}
    evening = by_id["evening"]
    assert [(node.node_id, node.name) for node in evening.nodes] == [("egor", "Egor")]
    assert [(edge.source, edge.relation_type, edge.target) for edge in evening.edges] == [
        ("Egor", "CRITICIZED", "The code"),
        ("evening", "MENTIONS", "Egor"),
    ]
    assert (by_id["night"].nodes, by_id["night"].edges) == ((), ())
    assert sorted(answer.rules) == ["Sleep.", "Write."]


@pytest.mark.parametrize("beside", [{}, {"focus": "garden"}, {"window": [{"text": "the garden has flowers"}]}])
async def test_the_words_of_the_question_count_beside_a_window_and_a_focus(
    deps: Deps, fresh_citizen: str, beside: dict[str, Any]
) -> None:
    texts = ("I painted the boat blue", "the garden has flowers", "the garden has bees", "the soup was hot")
    await stored(deps, *(remember(fresh_citizen, f"t{n}", description=text) for n, text in enumerate(texts)))
    answer = await ask(deps, fresh_citizen, query_text="blue boat", **beside)
    assert channel(answer, "words")["t0"] == pytest.approx(1.0)
    assert order(answer)[0] == "t0"


@pytest.mark.parametrize(
    ("acts", "given", "results"),
    [(("a0", "a1"), None, {"a0": "positive", "a1": "positive"}), (("a0",), "negative", {"r": "negative"})],
)
async def test_imagination_reads_what_was_replied_to_each_act_unless_a_result_was_given(
    deps: Deps, fresh_citizen: str, acts: tuple[str, ...], given: str | None, results: dict[str, str]
) -> None:
    c = fresh_citizen
    done = [remember(c, name, description=f"I painted the boat blue {name}", speaker="Ann") for name in acts]
    thanks = "Thanks a lot for painting the boat blue, that looks great!"
    reply = remember(c, "r", description=thanks, speaker="Bob", **({"result": given} if given else {}))
    await stored(deps, *done, reply, *(relate(c, name, "r", relation_type="NEXT") for name in acts))
    imagined = await imagine(Imagine(citizen_id=c, action="paint the boat blue"), deps, ASKED)
    assert {case.memory_id: case.result for case in imagined.nearest}.items() >= results.items()


async def test_resonances_are_reranked_as_answers_are(deps: Deps, fresh_citizen: str) -> None:
    texts = ("the red roof leaks", "the red roof leaks badly", "a boat on the lake")
    await stored(
        deps,
        *(
            remember(
                fresh_citizen, f"m{n}", name=text, emotion_vector={"hope": 0.5}, importance=0.9 - n / 10,
                valid_at=moment(1),
            )
            for n, text in enumerate(texts)
        ),
    )  # fmt: skip
    asked: dict[str, Any] = {"emotion": "hope", "weights": {**ONLY, "emotion": 1, "importance": 0.5}}
    assert order(await ask(deps, fresh_citizen, **asked)) == ["m0", "m1", "m2"]
    assert order(await ask(deps, fresh_citizen, rerank="mmr", **asked)) == ["m0", "m2", "m1"]
    assert order(await ask(deps, fresh_citizen, rerank="mmr", max_results_per_level=1, **asked)) == ["m0"]
    assert order(await ask(deps, fresh_citizen, rerank="rrf", **asked)) == ["m0", "m1", "m2"]
    for method, setting in (("llm", "SUBSTRATE_LLM"), ("custom", "SUBSTRATE_RERANKER")):
        with pytest.raises(InvalidRequest) as refused:
            await ask(deps, fresh_citizen, rerank=method, **asked)
        assert setting in (refused.value.remedy or "")
    assert order(await ask(deps, f"{fresh_citizen}_nobody", rerank="llm", **asked)) == []


async def test_a_language_model_reorders_resonances_and_its_failure_is_said(
    asking: Deps, deps: Deps, scripted: ScriptedModel, fresh_citizen: str
) -> None:
    await stored(deps, *(remember(fresh_citizen, one, emotion_vector={"hope": 0.5}) for one in ("a", "b", "c")))
    asked: dict[str, Any] = {"emotion": "hope", "weights": {**ONLY, "emotion": 1}, "rerank": "llm"}
    signal = Resonate.model_validate({"citizen_id": fresh_citizen, "query_levels": ["N1"], **asked})
    scripted.says({"order": [3, 1]})
    assert order(await resonate(signal, asking, LATER)) == ["c", "a", "b"]
    scripted.says({"order": ["c"]})
    failed = await resonate(signal, asking, LATER)
    assert order(failed) == ["a", "b", "c"]
    assert any(reason.startswith("rerank: ") for reason in failed.degraded)
    assert [call.purpose for call in failed.model_calls] == ["rerank"]


async def test_at_most_two_memories_of_one_emotion_come_before_those_of_others(
    deps: Deps, fresh_citizen: str
) -> None:
    felt = [*("despair" for _ in range(5)), "joy", "calm"]
    await stored(
        deps,
        *(remember(fresh_citizen, f"m{n}", emotion_vector={name: 0.9}) for n, name in enumerate(felt)),
    )
    asked = {"emotion": "despair", "weights": {**ONLY, "emotion": 1}}
    few = await ask(deps, fresh_citizen, max_results_per_level=4, **asked)
    assert sorted(order(few)) == ["m0", "m1", "m5", "m6"]
    every = await ask(deps, fresh_citizen, max_results_per_level=7, **asked)
    assert sorted(order(every)[:4]) == ["m0", "m1", "m5", "m6"]
    assert len(order(every)) == 7


async def test_another_moment_resonates_as_it_was_and_as_it_was_known(deps: Deps, fresh_citizen: str) -> None:
    who = {"citizen_id": fresh_citizen, "id": "plan"}
    await stored(
        deps,
        remember(fresh_citizen, "ada", name="Ada", node_type="Person", valid_at=moment(1)),
        remember(fresh_citizen, "plan", emotion_vector={"hope": 0.8}, valid_at=moment(1)),
        relate(fresh_citizen, "plan", "ada", valid_at=moment(1)),
        now=day(1),
    )
    await stored(deps, Supersede(**who, emotion_vector={"despair": 0.8}, effective_at=moment(50)), now=day(50))
    await stored(deps, Correct(**who, emotion_vector={"calm": 0.8}), now=day(60))
    for scope, felt in (
        ({}, "calm"),
        ({"as_of_time": moment(20)}, "hope"),
        ({"as_of_time": moment(55)}, "despair"),
        ({"as_of_time": moment(55), "known_at": moment(70)}, "calm"),
    ):
        answer = await ask(deps, fresh_citizen, nodes=["Ada"], emotion=felt, **scope)
        (plan,) = [one for one in first(answer) if one.memory.node_id == "plan"]
        assert (plan.channels["nodes"], plan.channels["emotion"]) == (1.0, 1.0), scope
        assert plan.memory.emotion_vector == {felt: 0.8}
    assert order(await ask(deps, fresh_citizen, nodes=["Ada"], as_of_time=moment(0.5))) == []


async def test_a_window_is_read_for_what_the_graph_knows(deps: Deps, kai: str) -> None:
    answer = await ask(deps, kai, window=["today egor said nothing to kai, who felt lonely", "the build failed"])
    assert set(answer.signal.nodes) == {"Egor", "Kai"}
    assert (answer.signal.emotion, answer.signal.result) == ("loneliness", "negative")
    assert order(answer)[0] == "c9"
    nobody = await ask(deps, kai, window=["Berlin and Paris are not Known Here, nor happy"])
    assert (nobody.signal.nodes, nobody.signal.emotion) == ((), None)


async def test_a_memory_in_the_window_brings_what_it_is_about(deps: Deps, kai: str) -> None:
    answer = await ask(deps, kai, window=[{"id": "c7"}])
    assert set(answer.signal.nodes) == {"Kai", "v5", "code"}


async def test_relations_are_those_of_the_graph_between_the_names_around_them(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(
        deps,
        remember(fresh_citizen, "mira", name="Mira", node_type="Person"),
        remember(fresh_citizen, "jon", name="Jon", node_type="Person"),
        remember(fresh_citizen, "quarrel", name="The evening at the quay"),
        relate(fresh_citizen, "mira", "jon", relation_type="BETRAYED", episode_id="quarrel"),
    )
    said = await ask(deps, fresh_citizen, window=["I think mira betrays jon"])
    triples = [(r.source, r.relation_type, r.target) for r in said.signal.relations]
    assert triples == [("Mira", "BETRAYED", "Jon")]
    assert channel(said, "relations")["quarrel"] == 1.0
    turned = await ask(deps, fresh_citizen, window=["jon was betrayed by mira"])
    assert turned.signal.relations == said.signal.relations
    denied = await ask(deps, fresh_citizen, window=["mira never betrayed jon"])
    assert denied.signal.relations == ()


async def test_an_unsatisfied_drive_brings_its_nodes_and_its_bias(deps: Deps, fresh_citizen: str) -> None:
    kai = await told(deps, fresh_citizen)
    drives = {"connection": {"satisfaction": 0.1, "nodes": ["Egor"], "bias": {"nodes": 2.0}}, "rest": {}}
    await change_state(kai, StateChange.model_validate({"drives": drives}), deps, NOW)
    built = await ask(deps, kai, focus="a walk in the rain")
    assert (built.signal.drives, built.signal.nodes) == (("connection",), ("Egor",))
    assert built.weights["nodes"] == 2.0
    ready = await ask(deps, kai, nodes=["Kai"])
    assert (ready.signal.drives, ready.signal.nodes) == ((), ("Kai",))
    content = await ask(deps, kai, focus="a walk in the rain", drive_bias={"connection": 0.9, "hunger": 0.1})
    assert (content.signal.drives, content.signal.nodes) == ((), ())
    assert any("has no drive hunger" in note for note in content.notes)


weights = st.fixed_dictionaries({name: st.sampled_from((0.0, 0.3, 1.0, 1e6)) for name in CHANNELS}).filter(
    lambda said: bool(said["nodes"] or said["recency"])
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=weights,
    nodes=st.lists(st.sampled_from(("Kai", "Egor", "v5", "nobody")), min_size=1, max_size=3, unique=True),
    emotion=st.none() | st.sampled_from(("despair", "curiosity", "saudade")),
    limit=st.integers(1, 9),
)
async def test_scores_keep_their_bounds_and_the_same_signal_gets_the_same_bytes(
    deps: Deps, kai: str, weights: dict[str, float], nodes: list[str], emotion: str | None, limit: int
) -> None:
    fields = {"nodes": nodes, "emotion": emotion, "weights": weights, "max_results_per_level": limit}
    answer = await ask(deps, kai, **fields)
    bound = sum(answer.weights.values())
    for one in first(answer):
        assert all(0.0 <= score <= 1.0 for score in one.channels.values())
        assert 0.0 <= one.total <= bound * (1 + 1e-9)
        assert 0.0 <= one.resonance <= 1.15
    if first(answer):
        whole = await ask(deps, kai, **{**fields, "max_results_per_level": 100})
        assert first(answer)[0].resonance == max(one.resonance for one in first(whole))
    assert (await ask(deps, kai, **fields)).model_dump_json() == answer.model_dump_json()
