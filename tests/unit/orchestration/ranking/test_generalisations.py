"""A question may ask for generalisations first, or behind what they stand for."""

from __future__ import annotations

import pytest

from orchestration.ranking.activation import Activation, with_preference
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.consciousness_score import Score
from schemas.intention import Prefer
from tests.builders import N1, stored_link, stored_row


def asked(prefer: Prefer | None, general_activation: float = 0.6) -> list[str]:
    """The order of three memories and a generalisation of the last two that stands third."""
    activations = {"a": 1.0, "b": 0.7, "g": general_activation, "c": 0.2}
    candidates = Candidates()
    for name in activations:
        row = stored_row({"id": name, "abstraction": "L1" if name == "g" else None})
        candidates.memories[N1, name, 1] = Candidate((N1, name, 1), row)
    for member in ("b", "c"):
        link = {**stored_link(f"g-{member}"), "relation_type": "GENERALISES"}
        row = stored_row({"id": member}, link, hop=1, ends=("g", member))
        candidates.links[N1, f"g-{member}", 1] = CandidateLink(N1, "g", member, row)
    keys: list[Key] = [(N1, name, 1) for name in activations]
    order = [Score(key, activations[key[1]], activations[key[1]], {}) for key in keys]
    ordered = with_preference(Activation(tuple(order), {}), candidates, prefer).order
    totals = [score.total for score in ordered]
    assert prefer != "general" or totals == sorted(totals, reverse=True)
    return [score.key[1] for score in ordered]


@pytest.mark.parametrize(("prefer", "order"), [(None, "a b g c"), ("general", "g a b c"), ("concrete", "a b c g")])
def test_generalisations_stand_first_or_behind_their_members(prefer: Prefer | None, order: str) -> None:
    assert asked(prefer) == order.split()


def test_what_hardly_fits_the_question_is_put_before_nothing() -> None:
    assert asked("general", general_activation=0.3) == ["a", "b", "g", "c"]
