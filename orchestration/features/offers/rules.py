"""Which work could be resolved, unblocked or closed, from the links of work that hold now. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import groupby
from textwrap import shorten
from typing import Any, Final, NamedTuple

from orchestration.features.offers.queries import OfferedLink
from schemas.base import without_nulls
from schemas.memory import ResolutionState, collective_of, graph_fields, level_of
from schemas.stream import Offer, OfferKind
from substrate.graphs.names import GraphOf
from substrate.store.threads import WAITS_FOR_SOURCE, WAITS_FOR_TARGET

RESOLVED: Final = ResolutionState.RESOLVED.value
BLOCKED: Final = ResolutionState.BLOCKED.value
NAME_LENGTH: Final = 80


class FoundOffer(NamedTuple):
    """An offer, and the memory at the other end of the link that gave it."""

    offer: Offer
    other_id: str


def find_offers(links: Iterable[OfferedLink], whose: GraphOf) -> list[FoundOffer]:
    """At most one offer for each memory, in the order of the links; those of one memory stand together."""
    found: list[FoundOffer | None] = []
    for _, group in groupby(links, key=lambda link: link.id):
        of_one = list(group)
        is_solved = of_one[0].state == RESOLVED
        found.append(_close(of_one, whose) if is_solved else _resolve(of_one, whose) or _unblock(of_one, whose))
    return [offer for offer in found if offer is not None]


def offer_erasure(request_id: str, what: str, told: Sequence[str], whose: GraphOf) -> FoundOffer:
    """The offer to erase what tells of something that somebody asked to forget: `told`, at least one memory."""
    fields = graph_fields(whose.key)
    command = {"command": "erase", **fields, "citizen_id": whose.citizen_id, "id": told[0], "also": list(told[1:])}
    reason = f"somebody asked to forget it; this would erase {', '.join(told)} for good"
    offer = _show_offer("erase", (request_id,), whose, name=what, reason=reason, command=without_nulls(command))
    return FoundOffer(offer, told[0])


def _show_offer(
    kind: OfferKind, about: Sequence[str], whose: GraphOf, *, name: str, reason: str, command: dict[str, Any]
) -> Offer:
    whole = (str(whose.key), whose.citizen_id or "", kind, *about)
    return Offer(
        id=blake2b("\n".join(whole).encode(), digest_size=8).hexdigest(),
        kind=kind,
        **graph_fields(whose.key),
        memory_id=about[0],
        name=shorten(name, NAME_LENGTH, placeholder="…"),
        reason=reason,
        command=command,
    )


def _close(links: Sequence[OfferedLink], whose: GraphOf) -> FoundOffer | None:
    """A resolved problem with links of its own that are open; what waits for it gets an offer itself."""
    own = [link for link in links if link.link_state != RESOLVED and (link.is_solved or _waits(link))]
    if not own:
        return None
    count = "a link" if len(own) == 1 else f"{len(own)} links"
    return _offer("close", own[0], whose, f"it is resolved and left {count} of work open", cascade=True)


def _resolve(links: Sequence[OfferedLink], whose: GraphOf) -> FoundOffer | None:
    """A problem with a link to its solution that is resolved, or with a solution that is."""
    solved = [link for link in links if link.is_solved]
    known = next((link for link in solved if link.link_state == RESOLVED), None)
    if known is not None:
        return _offer("resolve", known, whose, f"it was resolved by “{_other(known)}”", cascade=True)
    done = next((link for link in solved if link.other_state == RESOLVED), None)
    if done is None:
        return None
    return _offer("resolve", done, whose, f"its solution “{_other(done)}” is resolved", cascade=True)


def _unblock(links: Sequence[OfferedLink], whose: GraphOf) -> FoundOffer | None:
    """Something blocked that waited, and waits for nothing any more."""
    waits = [link for link in links if _waits(link)]
    standing = [link for link in waits if link.link_state != RESOLVED and link.other_state != RESOLVED]
    if links[0].state != BLOCKED or not waits or standing:
        return None
    opened = next((link for link in waits if link.link_state != RESOLVED), None)
    if opened is None:
        last = waits[0]
        return _offer("unblock", last, whose, f"it waits for “{_other(last)}” no longer", cascade=False)
    return _offer("unblock", opened, whose, f"it waited for “{_other(opened)}”, which is over", cascade=True)


def _other(link: OfferedLink) -> str:
    return shorten(link.other_name, NAME_LENGTH, placeholder="…")


def _waits(link: OfferedLink) -> bool:
    """True when the memory waits for the other end of the link."""
    return link.relation_type in (WAITS_FOR_TARGET if link.is_source else WAITS_FOR_SOURCE)


def _offer(kind: OfferKind, link: OfferedLink, whose: GraphOf, reason: str, *, cascade: bool) -> FoundOffer:
    command: dict[str, Any] = {"command": "resolve", "level": level_of(whose.key).value, "id": link.id}
    if (collective := collective_of(whose.key)) is not None:
        command["collective"] = collective
    if whose.citizen_id is not None:
        command["citizen_id"] = whose.citizen_id
    if kind == "unblock" and cascade:
        command |= {"command": "resolve_link", "id": link.link_id}
    elif kind == "unblock":
        command["resolution_state"] = ResolutionState.IN_PROGRESS.value
    if cascade:
        command["cascade"] = True
    about = (link.id, link.link_id)
    return FoundOffer(
        _show_offer(kind, about, whose, name=link.name, reason=reason, command=command), link.other_id
    )
