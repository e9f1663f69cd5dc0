"""All channels, then the consciousness score: the order of the candidates."""

from __future__ import annotations

import pytest

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS
from schemas.memory import GraphKey, Level
from tests.builders import key, stored_link, stored_row

N1 = Level.N1
LIKENESS_SHARE, GAIN = CHANNEL_WEIGHTS.likeness, CHANNEL_WEIGHTS.gain


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


LEXICONS: dict[GraphKey, Lexicon] = {N1: Lexicon(memories=3, traces=3, frequencies={"support": 1, "group": 1})}


def test_the_neighbour_of_a_hit_comes_to_mind_before_a_stranger() -> None:
    activation = activate(small_world("hit", "next", "else"), LEXICONS, Asker(Question("support group")))
    assert [score.key[1] for score in activation.order] == ["hit", "next", "else"]
    assert activation.parts[key("hit")] == {
        "likeness": pytest.approx(LIKENESS_SHARE),
        "words": pytest.approx(1.0 - LIKENESS_SHARE),
        "spread": 0.0,
        "sitting": pytest.approx(CHANNEL_WEIGHTS.session / 2),
    }
    assert activation.parts[key("next")]["spread"] == pytest.approx(GAIN * 0.56)
    assert activation.parts[key("else")] == {
        "likeness": 0.0,
        "words": 0.0,
        "spread": 0.0,
        "sitting": pytest.approx(CHANNEL_WEIGHTS.session / 2),
    }


def test_activation_is_the_same_whatever_came_back_first() -> None:
    one = activate(small_world("hit", "next", "else"), LEXICONS, Asker(Question("support group")))
    other = activate(small_world("else", "next", "hit"), LEXICONS, Asker(Question("support group")))
    assert one.order == other.order
