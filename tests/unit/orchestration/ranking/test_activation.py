"""How strongly a memory comes to mind: words, likeness, spreading, 003's formula, tiers."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import bm25s
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.lexicon import Lexicon
from orchestration.ranking import candidates as found_rows
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.channels import FUSION
from orchestration.ranking.consciousness_score import (
    BACKGROUND,
    FOCUS,
    PERIPHERAL,
    Score,
    completeness,
    consciousness_scores,
    priority,
    ranked,
    tiers,
)
from orchestration.ranking.relevance import base_relevance, bm25, inverse_frequency, lexical_text, word_weights
from orchestration.ranking.spreading import NAMED_PULL, likelihoods, spread
from schemas.memory import Level
from schemas.temporal import END_OF_TIME
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS

N1, N2 = Level.N1, Level.N2
LIKENESS_SHARE, GAIN = FUSION.likeness, FUSION.gain


def stored_row(
    memory: Mapping[str, Any],
    link: Mapping[str, Any] | None = None,
    *,
    hop: int = 0,
    score: float = 0.0,
    ends: tuple[str, str] | None = None,
) -> list[Any]:
    """A row as the engine would answer it: numbers and lists as text, absent values as None."""
    node = {
        "node_type": "Memory",
        "description": "",
        "valid_at": 1,
        "invalid_at": END_OF_TIME,
        "created_at": 1,
        "expired_at": END_OF_TIME,
        "version": 1,
        "energy": "0.5",
        "confidence": "0.5",
        "source": "citizen",
        **memory,
    }
    node.setdefault("name", node["id"])
    row: list[Any] = [None] * (found_rows.NODE_START + len(NODE_COLUMNS))
    row[found_rows.HOP], row[found_rows.SCORE] = hop, str(score)
    if ends is not None:
        row[found_rows.SOURCE], row[found_rows.TARGET] = ends
    for place, column in enumerate(LINK_COLUMNS):
        row[found_rows.LINK_START + place] = None if link is None else link.get(column)
    for place, column in enumerate(NODE_COLUMNS):
        row[found_rows.NODE_START + place] = node.get(column)
    return row


def stored_link(
    link_id: str, *, energy: float = 1.0, confidence: float = 1.0, transfer: float = 1.0
) -> dict[str, Any]:
    """A link's columns as stored."""
    return {
        "id": link_id,
        "relation_type": "NEXT",
        "goal": "remember",
        "mindstate": "calm",
        "energy": str(energy),
        "confidence": str(confidence),
        "energy_transfer_coefficient": str(transfer),
        "resolution_state": "in_progress",
        "emotion_vector": "{}",
        "valid_at": 1,
        "invalid_at": END_OF_TIME,
        "created_at": 1,
        "expired_at": END_OF_TIME,
        "source": "citizen",
    }


def a_memory(memory_id: str, level: Level = N1, likeness: float | None = None, **columns: Any) -> Candidate:
    key = (level, memory_id, columns.get("version", 1))
    return Candidate(key, stored_row({"id": memory_id, **columns}), likeness=likeness)


def a_bond(source: str, target: str, level: Level = N1, **strength: float) -> CandidateLink:
    link = stored_link(f"{source}-{target}", **strength)
    return CandidateLink(level, source, target, stored_row({"id": target}, link, hop=1, ends=(source, target)))


def key(memory_id: str, level: Level = N1) -> Key:
    return (level, memory_id, 1)


# --- words -----------------------------------------------------------------------------------------------


def test_bm25_by_hand() -> None:
    # Three texts of 8, 16 and 24 characters: the mean is 16. "cat" stands in two of three:
    # ln(1 + 1.5/2.5) = 0.470004; "dog" in one: ln(1 + 2.5/1.5) = 0.980829.
    # Norms: 1.2 x (0.25 + 0.75 x length/16) = 0.75, 1.2, 1.65.
    texts = {
        key("a"): "cat fish",
        key("b"): "cat cat dog bird",
        key("c"): "bird fish cow pig horses",
    }
    weights = {N1: word_weights({"cat": 2, "dog": 1}, 3)}
    assert weights[N1]["cat"] == pytest.approx(0.470004, abs=1e-6)
    assert weights[N1]["dog"] == pytest.approx(0.980829, abs=1e-6)
    scores = bm25(texts, weights)
    assert scores[key("a")] == pytest.approx(0.470004 * 1 * 2.2 / 1.75, abs=1e-5)
    assert scores[key("b")] == pytest.approx(0.470004 * 2 * 2.2 / 3.2 + 0.980829 * 2.2 / 2.2, abs=1e-5)
    assert scores[key("c")] == 0.0


def test_a_text_without_the_words_scores_nothing_and_still_counts_for_the_mean_length() -> None:
    # 4 and 12 characters: the mean is 8. The norm of the first is 1.2 x (0.25 + 0.75 x 4/8) = 0.75.
    scores = bm25({key("a"): "cats", key("b"): "catalog bird"}, {N1: {"cat": 1.0}})
    assert scores == {key("a"): pytest.approx(2.2 / 1.75), key("b"): 0.0}
    assert bm25({key("a"): "", key("b"): "cat"}, {N1: {}}) == {key("a"): 0.0, key("b"): 0.0}
    assert bm25({}, {N1: {"cat": 1.0}}) == {}


@given(st.integers(0, 2**32))
def test_bm25_scores_as_bm25s_does(seed: int) -> None:
    chance = random.Random(seed)
    vocabulary = ["cat", "dog", "bug", "hen", "cow", "pig", "owl", "elk"]
    corpus = [chance.choices(vocabulary, k=chance.randint(1, 12)) for _ in range(chance.randint(2, 8))]
    asked = chance.sample(vocabulary, 3)
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(corpus, show_progress=False)
    held = {word: sum(word in text for text in corpus) for word in asked}
    expected = peer.get_scores([word for word in asked if held[word]]) if any(held.values()) else None
    # Words of one length, each with its space: the length in characters is four times that in words.
    texts = {key(f"{place}"): "".join(f"{word} " for word in text) for place, text in enumerate(corpus)}
    scores = bm25(texts, {N1: word_weights(held, len(corpus))})
    for place in range(len(corpus)):
        # Lucene leaves out the constant factor k1 + 1.
        theirs = 0.0 if expected is None else 2.2 * float(expected[place])
        assert scores[key(f"{place}")] == pytest.approx(theirs, abs=1e-4)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_word_never_weighs_less(holding: int, total: int) -> None:
    assert 0.0 < inverse_frequency(holding + 1, total) <= inverse_frequency(holding, total)


def test_words_that_nobody_holds_have_no_weight_and_forms_of_one_word_have_one() -> None:
    weights = word_weights({"running": 4, "runs": 1, "nowhere": 0}, 10)
    assert weights == {"run": inverse_frequency(4, 10)}


def test_words_are_weighed_by_the_graph_that_holds_them() -> None:
    texts = {key("a", N1): "cat", key("a", N2): "cat"}
    scores = bm25(texts, {N1: word_weights({"cat": 1}, 100), N2: word_weights({"cat": 100}, 100)})
    assert scores[key("a", N1)] > scores[key("a", N2)]


def test_of_a_turn_only_what_was_said_counts() -> None:
    assert lexical_text(a_memory("t", name="Turn 7", description="hello", speaker="Ada")) == "hello"
    assert lexical_text(a_memory("m", name="Ada", description="a friend")) == "Ada a friend"


# --- base relevance --------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.none() | st.floats(-1.0, 1.0), st.floats(0.0, 50.0)),
        min_size=1,
        max_size=12,
    )
)
def test_base_relevance_lies_between_zero_and_one_and_is_the_sum_of_its_parts(
    known: list[tuple[float | None, float]],
) -> None:
    memories = [a_memory(f"{place:02}", likeness=likeness) for place, (likeness, _) in enumerate(known)]
    words = {memory.key: score for memory, (_, score) in zip(memories, known, strict=True)}
    base, parts = base_relevance(memories, words, LIKENESS_SHARE)
    for memory in memories:
        assert 0.0 <= base[memory.key] <= 1.0 + 1e-12
        assert base[memory.key] == sum(parts[memory.key])
        if memory.likeness is None:
            assert parts[memory.key][0] == 0.0
        if words[memory.key] == 0.0:
            assert parts[memory.key][1] == 0.0


def test_base_relevance_by_hand() -> None:
    memories = [
        a_memory("a", likeness=0.8),
        a_memory("b", likeness=0.6),
        a_memory("c", likeness=0.4),
        a_memory("d"),
    ]
    words = {key("a"): 0.0, key("b"): 3.0, key("c"): 0.0, key("d"): 6.0}
    base, parts = base_relevance(memories, words, LIKENESS_SHARE)
    words_share = 1.0 - LIKENESS_SHARE
    assert list(parts[key("b")]) == pytest.approx([LIKENESS_SHARE / 2, words_share / 2])
    assert base == {
        key("a"): pytest.approx(LIKENESS_SHARE),
        key("b"): pytest.approx(0.5),
        key("c"): pytest.approx(0.0),
        key("d"): pytest.approx(words_share),
    }


# --- spreading -------------------------------------------------------------------------------------------


def test_spreading_by_hand_on_three_memories() -> None:
    # A link with energy, confidence and transfer 1 and no goal or feeling: 0.3 + 0.2 x 0.3 + 0.1 + 0.1 = 0.56;
    # with all three 0: 0.06. Each memory has at most two neighbours, so none is a hub.
    memories = {memory.key: memory for memory in (a_memory("a"), a_memory("b"), a_memory("c"))}
    bonds = [a_bond("a", "b"), a_bond("b", "c", energy=0.0, confidence=0.0, transfer=0.0)]
    received = spread(memories, bonds, {key("a"): 0.8, key("b"): 0.2, key("c"): 0.0})
    assert received == {
        key("a"): pytest.approx(GAIN * 0.2 * 0.56),
        key("b"): pytest.approx(GAIN * 0.8 * 0.56 + GAIN * 0.0 * 0.06),
        key("c"): pytest.approx(GAIN * 0.2 * 0.06),
    }


def received_from(neighbours: int, *, named: bool = False) -> float:
    hub = a_memory("hub")
    hub.named = named
    around = [a_memory(f"n{place:02}") for place in range(neighbours)]
    relevance = {hub.key: 1.0, **{memory.key: 0.0 for memory in around}}
    bonds = [a_bond("hub", memory.key[1]) for memory in around]
    return spread({memory.key: memory for memory in (hub, *around)}, bonds, relevance)[around[0].key]


def test_a_hub_gives_each_neighbour_less() -> None:
    gifts = [received_from(neighbours) for neighbours in (1, 4, 5, 8, 40)]
    assert gifts[0] == gifts[1]
    assert gifts[1:] == sorted(gifts[1:], reverse=True)
    assert gifts[3] == pytest.approx(gifts[0] / 2)
    assert gifts[4] == pytest.approx(gifts[0] / 10)


def test_a_named_memory_pulls_its_neighbours_alike_however_many() -> None:
    assert received_from(1, named=True) == received_from(40, named=True) == pytest.approx(NAMED_PULL * 0.56)


@pytest.mark.parametrize(
    "bonds",
    [
        [a_bond("a", "a")],
        [a_bond("a", "elsewhere")],
        [a_bond("a", "b", N2)],
        [],
    ],
)
def test_nothing_spreads_over_a_loop_a_dangling_link_or_another_level(bonds: list[CandidateLink]) -> None:
    memories = {memory.key: memory for memory in (a_memory("a"), a_memory("b"))}
    assert spread(memories, bonds, dict.fromkeys(memories, 1.0)) == dict.fromkeys(memories, 0.0)


def test_of_parallel_links_the_strongest_carries() -> None:
    memories = {memory.key: memory for memory in (a_memory("a"), a_memory("b"))}
    weak = a_bond("b", "a", energy=0.1)
    strong = a_bond("a", "b", energy=0.9)
    relevance = {key("a"): 1.0, key("b"): 0.0}
    both = spread(memories, [weak, strong], relevance)
    assert both == spread(memories, [strong, weak], relevance) == spread(memories, [strong], relevance)
    assert both[key("b")] == pytest.approx(GAIN * likelihoods([strong])[0])


# --- 003's formula ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("energy", "pressure", "expected"), [(0.5, 0.5, 0.5), (1.0, 0.0, 0.4), (0.0, 1.0, 0.6)])
def test_what_presses_from_outside_counts_more(energy: float, pressure: float, expected: float) -> None:
    assert priority(energy, pressure) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("columns", "activation", "emotions", "total"),
    [
        # 0.7 + 0.4 x (0.4 x 0.5 + 0.6 x 0.5) + 0.2 x 0.5 + 0 - 0.1 x (1 - 2/13)
        ({}, 0.7, {}, 0.9153846),
        # 0.2 + 0.4 x (0.4 x 1 + 0.3) + 0.2 x 1 + 0.5 x 1 - 0.1 x (1 - 3/13)
        (
            {"energy": "1", "confidence": "1", "emotion_vector": '{"excited": 0.7}'},
            0.2,
            {"excitement": 1.0},
            1.1030769,
        ),
        # 0 + 0.4 x (0 + 0.3) + 0 + 0.5 x 0.6 - 0.1 x (1 - 7/13)
        (
            {
                "energy": "0",
                "confidence": "0",
                "emotion_vector": '{"joy": 0.6, "fear": 0.8}',
                "goal": "rest",
                "resolution_state": "resolved",
                "felt_quality": "soft",
                "body_sensation": "warm",
            },
            0.0,
            {"joy": 1.0},
            0.3738462,
        ),
        # A feeling that the question does not share: 1 + 0.4 x 0.5 + 0.1 + 0 - 0.1 x (1 - 3/13)
        ({"emotion_vector": '{"fear": 1.0}'}, 1.0, {"joy": 1.0}, 1.2230769),
    ],
)
def test_the_consciousness_score_by_hand(
    columns: dict[str, Any], activation: float, emotions: dict[str, float], total: float
) -> None:
    (score,) = consciousness_scores([a_memory("a", **columns)], [activation], emotions)
    assert score.total == pytest.approx(total, abs=1e-6)
    assert score.terms["relevance"] == activation


def test_completeness_counts_the_metadata_that_a_memory_carries() -> None:
    assert completeness(a_memory("a")) == pytest.approx(2 / 13)
    assert completeness(a_memory("a", goal="rest", emotion_vector="{}")) == pytest.approx(4 / 13)
    assert completeness(a_memory("a", importance="1", tags='["x"]')) == pytest.approx(2 / 13)


# --- tiers -----------------------------------------------------------------------------------------------


def scores(*activations: float) -> list[Score]:
    return [
        Score(key(f"{place:03}"), activation, activation, {"relevance": activation})
        for place, activation in enumerate(activations)
    ]


@pytest.mark.parametrize(
    ("found", "sizes"),
    [
        (0, (0, 0, 0)),
        (3, (3, 0, 0)),
        (5, (5, 0, 0)),
        (6, (5, 1, 0)),
        (25, (5, 20, 0)),
        (75, (5, 20, 50)),
        (90, (5, 20, 50)),
    ],
)
def test_tiers_hold_five_twenty_and_fifty(found: int, sizes: tuple[int, int, int]) -> None:
    assert (FOCUS, PERIPHERAL, BACKGROUND) == (5, 20, 50)
    order = scores(*[0.9] * found)
    focus, peripheral, background = tiers(order)
    assert (len(focus), len(peripheral), len(background)) == sizes
    assert focus + peripheral + background == order[: sum(sizes)]


@pytest.mark.parametrize(
    ("activations", "focused"),
    [
        ((0.8, 0.5, 0.4, 0.39, 0.8), 3),
        ((0.8, 0.1, 0.8), 1),
        ((0.3, 0.9), 0),
        ((0.0, 0.0, 0.0), 0),
        ((0.2, 0.1), 2),
    ],
)
def test_in_focus_is_only_what_stands_out(activations: Sequence[float], focused: int) -> None:
    focus, peripheral, _ = tiers(scores(*activations))
    assert len(focus) == focused
    assert len(peripheral) == len(activations) - focused


@given(st.permutations(range(8)))
def test_the_order_does_not_depend_on_the_order_of_finding(places: list[int]) -> None:
    by_score = scores(0.5, 0.5, 0.9, 0.1, 0.5, 0.9, 0.0, 0.5)
    expected = [2, 5, 0, 1, 4, 7, 3, 6]
    assert ranked([by_score[place] for place in places]) == [by_score[place] for place in expected]


# --- all of it -------------------------------------------------------------------------------------------


def small_world(*order: str) -> Candidates:
    """A hit by likeness and words, the turn after it, and something else; `order` is that of the rows."""
    rows = {
        "hit": ({"id": "hit", "description": "the support group"}, 0.2),
        "next": ({"id": "next", "description": "it was good"}, 0.8),
        "else": ({"id": "else", "description": "the weather"}, 0.8),
    }
    found = Candidates()
    found.add(N1, [stored_row(rows[name][0], score=rows[name][1]) for name in order], likeness=True)
    link = stored_link("hit-next")
    found.add(N1, [stored_row(rows["next"][0], link, hop=1, ends=("hit", "next"))], likeness=False)
    return found


LEXICONS = {N1: Lexicon(memories=3, traces=3, frequencies={"support": 1, "group": 1})}


def test_the_neighbour_of_a_hit_comes_to_mind_before_a_stranger() -> None:
    activation = activate(small_world("hit", "next", "else"), LEXICONS, Asker("support group"))
    assert [score.key[1] for score in activation.order] == ["hit", "next", "else"]
    assert activation.parts[key("hit")] == {
        "likeness": pytest.approx(LIKENESS_SHARE),
        "words": pytest.approx(1.0 - LIKENESS_SHARE),
        "spread": 0.0,
        "sitting": pytest.approx(FUSION.sitting / 2),
    }
    assert activation.parts[key("next")]["spread"] == pytest.approx(GAIN * 0.56)
    assert activation.parts[key("else")] == {
        "likeness": 0.0,
        "words": 0.0,
        "spread": 0.0,
        "sitting": pytest.approx(FUSION.sitting / 2),
    }


def test_activation_is_the_same_whatever_came_back_first() -> None:
    one = activate(small_world("hit", "next", "else"), LEXICONS, Asker("support group"))
    other = activate(small_world("else", "next", "hit"), LEXICONS, Asker("support group"))
    assert one.order == other.order


def test_relevance_after_spreading_stays_within_one() -> None:
    activation = activate(small_world("hit", "next", "else"), LEXICONS, Asker("support group"))
    assert max(score.activation for score in activation.order) <= 1.0
    assert min(score.activation for score in activation.order) >= 0.0


def test_a_feeling_named_in_the_question_lifts_what_felt_so() -> None:
    found = Candidates()
    felt = orjson.dumps({"excited": 0.9}).decode()
    found.add(
        N1,
        [stored_row({"id": "calm"}, score=0.5), stored_row({"id": "thrilled", "emotion_vector": felt}, score=0.5)],
        likeness=True,
    )
    activation = activate(found, {N1: Lexicon()}, Asker("When was I so excited?"))
    assert [score.key[1] for score in activation.order] == ["thrilled", "calm"]
    assert activation.order[0].terms["emotional_resonance"] == pytest.approx(0.5)


def test_nothing_found_is_nothing_active() -> None:
    activation = activate(Candidates(), {}, Asker("anything"))
    assert (activation.order, dict(activation.parts)) == ((), {})


def test_what_was_found_twice_is_one_memory_with_both_ways_of_finding() -> None:
    found = Candidates()
    found.add(N1, [stored_row({"id": "a"}, score=0.25)], likeness=True)
    found.add(N1, [stored_row({"id": "a"}, score=-1.0)], likeness=False)
    (memory,) = found.memories.values()
    assert (memory.likeness, memory.hops, memory.named) == (0.75, 0, True)
    assert not math.isnan(float(memory.get("energy")))
