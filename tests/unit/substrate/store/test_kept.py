"""Everything that queries make, and each key beside the graphs, is declared: how an erased memory leaves it."""

from __future__ import annotations

import re
from itertools import chain

from orchestration.features.registry import FEATURES
from scripts.queries import collect
from tests.docs_pages import ROOT

QUERIES = "\n".join(query.for_generation(0) for query in chain.from_iterable(collect().values()))
MADE = re.compile(r"(?:CREATE|MERGE)\s*\((?:\w+)?:(\w+)|-\[:\w+\]->\(:(\w+)|SET \w+:(\w+)")
KEYS = {
    "substrate:columns:stale": "a number",
    "substrate:deletions": "a number",
    "substrate:erasures": "digests",
    "substrate:erasures:unfinished": "named until it is removed, then a digest",
    "substrate:filling:": "a lock that expires",
    "substrate:keys": "keys, with the scopes that the operator gave them",
    "substrate:keys:used": "ids of keys",
    "substrate:making": "a lock that expires",
    "substrate:resting:": "a lock that expires",
    "substrate:upkeep:lease": "a lock that expires",
    "substrate:upkeep:requests": "digests and times",
    "substrate:parked:": "the checksum of a file, at the keys of a parked graph",
    "substrate:parking": "a lock",
    "substrate:webhooks:graphs": "digests",
    "substrate:webhooks:turn": "a lock that expires",
}
"""What Redis keys beside the graphs hold of a citizen. A key that is not here fails the test below."""


def test_every_label_that_a_query_makes_is_declared_once() -> None:
    made = {label for found in MADE.findall(QUERIES) for label in found if label}
    declared = [kept.label for kept in FEATURES.kept]
    assert {"ConsciousnessNode", "PastVersion", "Trace", "Prediction"} <= made
    assert made <= set(declared)
    assert len(declared) == len(set(declared))


def test_each_label_says_how_an_erased_memory_leaves_it() -> None:
    assert [kept.label for kept in FEATURES.kept if (kept.forget is None) != bool(kept.why)] == []


def test_every_key_beside_the_graphs_is_declared() -> None:
    named: set[str] = set()
    for package in ("schemas", "substrate", "orchestration", "api"):
        for path in (ROOT / package).rglob("*.py"):
            named |= set(re.findall(r'f?"(substrate:(?!//)[a-z:]+)', path.read_text("utf-8")))
    assert named == KEYS.keys()
