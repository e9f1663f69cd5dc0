"""Relevance that spreads over links."""

from __future__ import annotations

import pytest

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS
from orchestration.ranking.spreading import NAMED_PULL, SpreadWeights, likelihoods, spread
from schemas.memory import Level
from tests.builders import a_link, a_memory, key

N1, N2 = Level.N1, Level.N2
GAIN = CHANNEL_WEIGHTS.gain


def received(
    memories: list[Candidate], links: list[CandidateLink], relevance: dict[Key, float]
) -> dict[Key, float]:
    by_id = {(link.graph_key, link.get("id"), 1): link for link in links}
    candidates = Candidates({memory.key: memory for memory in memories}, by_id)
    of_each = [relevance[memory.key] for memory in memories]
    spreading = spread(candidates, of_each, SpreadWeights(GAIN, CHANNEL_WEIGHTS.answer))
    return dict(zip(candidates.memories, spreading, strict=True))


def test_spreading_by_hand_on_three_memories() -> None:
    # A link with energy, confidence and transfer 1 and no goal or feeling: 0.3 + 0.2 x 0.3 + 0.1 + 0.1 = 0.56;
    # with all three 0: 0.06. Each memory has at most two neighbours, so none is a hub.
    memories = [a_memory("a"), a_memory("b"), a_memory("c")]
    links = [a_link("a", "b"), a_link("b", "c", energy=0.0, confidence=0.0, transfer=0.0)]
    assert received(memories, links, {key("a"): 0.8, key("b"): 0.2, key("c"): 0.0}) == {
        key("a"): pytest.approx(GAIN * 0.2 * 0.56),
        key("b"): pytest.approx(GAIN * 0.8 * 0.56 + GAIN * 0.0 * 0.06),
        key("c"): pytest.approx(GAIN * 0.2 * 0.06),
    }


def received_from_hub(neighbours: int, *, named: bool = False) -> float:
    hub = a_memory("hub")
    hub.named = named
    around = [a_memory(f"n{place:02}") for place in range(neighbours)]
    relevance = {hub.key: 1.0, **{memory.key: 0.0 for memory in around}}
    links = [a_link("hub", memory.key[1]) for memory in around]
    return received([hub, *around], links, relevance)[around[0].key]


def test_a_hub_gives_each_neighbour_less() -> None:
    gifts = [received_from_hub(neighbours) for neighbours in (1, 4, 5, 8, 40)]
    assert gifts[0] == gifts[1]
    assert gifts[1:] == sorted(gifts[1:], reverse=True)
    assert gifts[3] == pytest.approx(gifts[0] / 2)
    assert gifts[4] == pytest.approx(gifts[0] / 10)


def test_a_named_memory_pulls_its_neighbours_alike_however_many() -> None:
    from_named = [received_from_hub(neighbours, named=True) for neighbours in (1, 40)]
    assert from_named == pytest.approx([NAMED_PULL * 0.56] * 2)


@pytest.mark.parametrize(
    "links",
    [
        [a_link("a", "a")],
        [a_link("a", "elsewhere")],
        [a_link("a", "b", N2)],
        [],
    ],
)
def test_nothing_spreads_over_a_loop_a_dangling_link_or_another_level(links: list[CandidateLink]) -> None:
    memories = [a_memory("a"), a_memory("b")]
    assert received(memories, links, {key("a"): 1.0, key("b"): 1.0}) == {key("a"): 0.0, key("b"): 0.0}


def test_the_likeliest_of_parallel_links_carries_activation() -> None:
    memories = [a_memory("a"), a_memory("b")]
    weak, strong = a_link("b", "a", energy=0.1), a_link("a", "b", energy=0.9)
    relevance = {key("a"): 1.0, key("b"): 0.0}
    both = received(memories, [weak, strong], relevance)
    assert both == received(memories, [strong, weak], relevance) == received(memories, [strong], relevance)
    assert both[key("b")] == pytest.approx(GAIN * likelihoods([strong])[0])
