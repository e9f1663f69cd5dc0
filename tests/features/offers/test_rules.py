"""Which work is on offer, from its links alone."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.features.offers.queries import OfferedLink
from orchestration.features.offers.rules import find_offers
from schemas.memory import Level
from schemas.upkeep.offers import OfferReply, OffersRequest
from substrate.graphs.names import GraphOf

ADA = GraphOf(Level.N1, "ada")


def link(kind: str, **fields: Any) -> OfferedLink:
    whole = {"id": "x", "name": "A trip", "state": "blocked", "valid_at": 1, "link_id": "l", "relation_type": kind,
             "link_state": "in_progress", "source_id": "x", "other_id": "o", "other_name": "The visa",
             "other_state": "blocked", **fields}  # fmt: skip
    return OfferedLink(**whole)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([link("RESOLVED_BY")], None),
        ([link("RESOLVED_BY", link_state="resolved")], ("resolve", "resolve", "x")),
        ([link("RESOLVED_BY", other_state="resolved")], ("resolve", "resolve", "x")),
        ([link("RESOLVED_BY", link_state="resolved", source_id="o")], None),
        ([link("BLOCKED_BY")], None),
        ([link("BLOCKED_BY", other_state="resolved")], ("unblock", "resolve_link", "l")),
        ([link("BLOCKS", other_state="resolved", source_id="o")], ("unblock", "resolve_link", "l")),
        ([link("BLOCKS", other_state="resolved")], None),
        ([link("DEPENDS_ON", link_state="resolved")], ("unblock", "resolve", "x")),
        ([link("DEPENDS_ON", other_state="resolved"), link("BLOCKED_BY", other_id="p")], None),
        ([link("DEPENDS_ON", other_state="resolved", state="in_progress")], None),
        ([link("DEPENDS_ON", state="resolved")], ("close", "resolve", "x")),
        ([link("DEPENDS_ON", state="resolved", source_id="o")], None),
    ],
)
def test_an_offer_says_what_could_be_done(links: list[OfferedLink], expected: tuple[str, str, str] | None) -> None:
    offers = [each.offer for each in find_offers(links, ADA)]
    found = [(offer.kind, offer.command["command"], offer.command["id"]) for offer in offers]
    assert found == ([] if expected is None else [expected])


def test_an_offer_keeps_its_id_while_it_is_about_the_same_and_its_words_are_short() -> None:
    one, two = (link("RESOLVED_BY", link_state="resolved", name=name) for name in ("A", "word " * 80))
    [first], [second] = find_offers([one], ADA), find_offers([two], ADA)
    assert first.offer.id == second.offer.id
    assert len(second.offer.name) <= 80
    [other] = find_offers([one], GraphOf(Level.N1, "felix"))
    assert other.offer.id != first.offer.id


@pytest.mark.parametrize("kind", [OffersRequest, OfferReply])
def test_offers_of_a_personal_memory_need_its_citizen(kind: type[OffersRequest | OfferReply]) -> None:
    with pytest.raises(ValidationError, match="name its citizen_id"):
        kind.model_validate({"answer": "take"} if kind is OfferReply else {})
