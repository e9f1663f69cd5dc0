"""The Tag-Walker on a real engine: BM25 from the graph's own statistics, and the walk."""

from __future__ import annotations

import random

import bm25s
import pytest

from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import Associations, TagWalk
from tests.integration.store import NOW, relate, remember, stored

WORDS = ["kettle", "lantern", "harbour", "violin", "copper", "meadow", "thunder", "saddle"]
LATER = NOW + 1000


async def walk(deps: Deps, citizen: str, text: str) -> Associations:
    return await associate(TagWalk(citizen_id=citizen, query_text=text), deps, LATER)


@pytest.mark.parametrize("seed", range(3))
async def test_anchors_score_as_bm25s_does(deps: Deps, fresh_citizen: str, seed: int) -> None:
    chance = random.Random(seed)
    texts = [chance.choices(WORDS, k=chance.randint(2, 12)) for _ in range(12)]
    memories = [remember(fresh_citizen, f"m{i}", name=" ".join(text)) for i, text in enumerate(texts)]
    await stored(deps, *memories)
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(texts, show_progress=False)
    # Lucene leaves out the constant factor k1 + 1.
    expected = {
        f"m{i}": pytest.approx(2.2 * float(score), abs=1e-4) for i, score in enumerate(peer.get_scores(WORDS[:3]))
    }
    found = await walk(deps, fresh_citizen, " ".join(WORDS[:3]))
    assert {one.memory.node_id: one.words for one in found.anchors} == {
        memory_id: score for memory_id, score in expected.items() if score != pytest.approx(0.0)
    }


async def test_a_conversation_is_walked_over_its_order_and_who_speaks_counts_as_a_bucket(
    deps: Deps, fresh_citizen: str
) -> None:
    said = [
        ("Ada", "I sold the old violin."),
        ("Luca", "Oh no, was it hard?"),
        ("Ada", "A little."),
        ("Luca", "Hm."),
    ]
    turns = [
        remember(fresh_citizen, f"t{i}", node_type="Turn", speaker=speaker, description=text)
        for i, (speaker, text) in enumerate(said)
    ]
    order = [relate(fresh_citizen, f"t{i}", f"t{i + 1}") for i in range(3)]
    await stored(deps, *turns, *order)
    found = await walk(deps, fresh_citizen, "What did Ada do with the violin?")
    assert [(one.memory.node_id, one.boosted) for one in found.anchors] == [("t0", True)]
    assert [(one.memory.node_id, one.score, one.around) for one in found.neighbours] == [
        ("t1", 0.5, ("t0",)),
        ("t2", 0.3, ("t0",)),
    ]
    other = await walk(deps, fresh_citizen, "What did Luca do with the violin?")
    assert not other.anchors[0].boosted
    assert found.anchors[0].words == pytest.approx(2 * other.anchors[0].words, abs=1e-5)


async def test_a_memory_linked_with_everything_is_no_bridge(deps: Deps, fresh_citizen: str) -> None:
    hub = remember(fresh_citizen, "hub", name="Day book")
    many = [remember(fresh_citizen, f"m{i}", name="Kettle" if i == 0 else f"Pan {i}") for i in range(70)]
    links = [relate(fresh_citizen, f"m{i}", "hub", relation_type="IN") for i in range(70)]
    await stored(deps, hub, *many, *links)
    found = await walk(deps, fresh_citizen, "kettle")
    assert [len(found.anchors), len(found.neighbours)] == [1, 0]
