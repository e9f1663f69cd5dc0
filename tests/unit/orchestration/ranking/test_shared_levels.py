"""Whose memory: one's own stands above the shared one where both fit equally."""

from __future__ import annotations

from orchestration.ranking.consciousness_score import SHARED, consciousness_scores, ranked
from schemas.memory import Level
from tests.builders import a_memory


def test_of_equal_memories_ones_own_comes_first() -> None:
    memories = [a_memory("m", level=level) for level in (Level.N3, Level.N2, Level.N1)]
    scores = ranked(consciousness_scores(memories, [0.5, 0.5, 0.5], {}, shared=SHARED))
    assert [score.key[0] for score in scores] == [Level.N1, Level.N2, Level.N3]
    assert [score.terms.get("shared") for score in scores] == [None, -SHARED, -SHARED]


def test_a_shared_memory_that_fits_better_stays_above() -> None:
    memories = [a_memory("own"), a_memory("shared", level=Level.N2)]
    scores = ranked(consciousness_scores(memories, [0.5, 0.5 + 2 * SHARED], {}, shared=SHARED))
    assert [score.key[0] for score in scores] == [Level.N2, Level.N1]
