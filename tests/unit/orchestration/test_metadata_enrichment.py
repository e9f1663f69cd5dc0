"""Candidates as the memories and links of a stream."""

from __future__ import annotations

from orchestration.metadata_enrichment import enrich_links, enrich_memories
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.consciousness_score import Score
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
