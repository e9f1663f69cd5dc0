"""All channels, then the consciousness score: the order of the candidates."""

from __future__ import annotations

import orjson
import pytest

from orchestration.appraisal.feelings import read_emotions
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking.activation import Activation, Asker, activate, in_order
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS
from orchestration.ranking.consciousness_score import Score
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


def test_relevance_after_spreading_stays_within_one() -> None:
    activation = activate(small_world("hit", "next", "else"), LEXICONS, Asker(Question("support group")))
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
    text = "When was I so excited?"
    activation = activate(found, {N1: Lexicon()}, Asker(Question(text), read_emotions(text)))
    assert [score.key[1] for score in activation.order] == ["thrilled", "calm"]
    assert activation.order[0].terms["emotional_resonance"] == pytest.approx(0.5)


def test_nothing_found_is_nothing_active() -> None:
    activation = activate(Candidates(), {}, Asker(Question("anything")))
    assert (activation.order, dict(activation.parts)) == ((), {})


def test_what_an_order_names_comes_first_in_it_and_the_others_keep_theirs() -> None:
    scores = tuple(Score(key(name), 0.5, total, {}) for name, total in (("a", 0.9), ("b", 0.8), ("c", 0.7)))
    activation = Activation(scores, {})
    ordered = in_order(activation, [key("c"), key("gone"), key("b")])
    assert [score.key for score in ordered.order] == [key("c"), key("b"), key("a")]
    assert in_order(activation, []) == activation
