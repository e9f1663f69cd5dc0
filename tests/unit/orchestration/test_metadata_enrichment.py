"""Candidates as the memories and links of a stream."""

from __future__ import annotations

from orchestration.metadata_enrichment import enrich_links, enrich_memories
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.consciousness_score import Score
from orchestration.traversal.kept_values import KeptValues
from tests.builders import N1, a_link, a_memory, key

SCORES = (
    Score(key("b"), 0.1234567, 0.5, {"energy": 0.25}),
    Score(key("a"), 0.1, 0.75, {"energy": 0.123456789}),
)
CANDIDATES = Candidates({key("a"): a_memory("a"), key("b"): a_memory("b", likeness=0.8), key("c"): a_memory("c")})
ACTIVATION = Activation(SCORES, {key("a"): {"words": 0.3}, key("b"): {"likeness": 0.8}})


def test_memories_stand_in_the_order_of_their_scores() -> None:
    memories = enrich_memories(SCORES, CANDIDATES, ACTIVATION, explain=False)
    assert list(memories) == [key("b"), key("a")]
    assert [(memory.node_id, memory.level) for memory in memories.values()] == [("b", N1), ("a", N1)]


def test_a_memory_says_which_search_found_it_and_its_rounded_scores() -> None:
    first, second = enrich_memories(SCORES, CANDIDATES, ACTIVATION, explain=False).values()
    assert (first.retrieval_source, second.retrieval_source) == ("N1_vector", "N1_graph")
    assert (first.relevance_score, first.consciousness_adjusted_score) == (0.123457, 0.5)
    assert (first.likeness, second.likeness) == (0.8, None)
    assert first.score_terms is None


def test_with_explain_each_part_and_term_is_shown() -> None:
    first, second = enrich_memories(SCORES, CANDIDATES, ACTIVATION, explain=True).values()
    assert first.score_terms == {"likeness": 0.8, "energy": 0.25}
    assert second.score_terms == {"words": 0.3, "energy": 0.123457}


def test_links_keep_their_ends_and_their_order() -> None:
    links = enrich_links([a_link("a", "b", energy=0.5), a_link("b", "c")])
    assert [(link.source_id, link.target_id, link.energy) for link in links] == [("a", "b", 0.5), ("b", "c", 1.0)]
    assert {link.level for link in links} == {N1}


def test_a_memory_closed_since_is_open_for_one_question_and_closed_for_another() -> None:
    closed = a_memory("a", valid_at=1, created_at=5, expired_at=9, closed_reason="reality_changed")
    for known_to, reason in ((10, "reality_changed"), (9, None), (10, "reality_changed"), (9, None)):
        found = Candidates({key("a"): closed}, known_to=known_to)
        [memory] = enrich_memories(SCORES[1:], found, ACTIVATION, explain=False).values()
        assert (memory.closed_reason, memory.expired_at is None) == (reason, reason is None)


def test_what_is_kept_of_a_record_serves_every_answer_and_no_copy() -> None:
    kept = KeptValues()
    [memory] = enrich_memories(SCORES[1:], CANDIDATES, ACTIVATION, explain=False, kept=kept).values()
    [again] = enrich_memories(SCORES[1:], CANDIDATES, ACTIVATION, explain=False, kept=kept).values()
    assert kept.of("length", memory, lambda shown: len(shown.description)) == len(memory.description)
    assert kept.of("length", again, lambda _: -1) == len(memory.description)
    assert kept.of("length", memory.model_copy(update={"description": ""}), lambda _: -1) == -1


def test_an_answer_shares_no_map_of_fields_with_another() -> None:
    first, second = (
        next(iter(enrich_memories(SCORES[1:], CANDIDATES, ACTIVATION, explain=False).values())) for _ in range(2)
    )
    assert first == second
    assert vars(first) is not vars(second)
