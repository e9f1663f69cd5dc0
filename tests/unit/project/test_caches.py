"""Every cache of the process has a bound, which stands in the documentation, and keeps it whatever is sent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import _lru_cache_wrapper
from importlib import import_module
from pkgutil import walk_packages
from random import Random
from types import ModuleType
from typing import Any

import pytest

import api
import orchestration
import schemas
import substrate
from orchestration.appraisal.names import read_names
from orchestration.features.rules.clauses import read_clauses, read_forms
from orchestration.question.tense import read_tense
from orchestration.ranking.relevance import _shared_beginnings
from orchestration.traversal.graph import _theme
from schemas.bounded_cache import CACHES
from schemas.field_names import nearest
from substrate.emotions import normal_emotion
from substrate.inference import tokens
from substrate.language.text import name_key, stem, stems
from tests.docs_pages import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
MB = 1 << 20
PACKAGES = ("schemas", "substrate", "orchestration", "api")
FILLED: Mapping[str, Callable[[str], object]] = {
    "orchestration.appraisal.names.read_names": lambda text: read_names(text[:20_000], "en"),
    "orchestration.features.rules.clauses._read_clauses": lambda text: read_clauses(text[:500], "en"),
    "orchestration.features.rules.clauses.read_forms": lambda text: read_forms(text[:500]),
    "orchestration.question.tense._read_tense": read_tense,
    "orchestration.ranking.relevance._shared_beginnings": lambda text: _shared_beginnings(stems(text[:20_000])),
    "orchestration.traversal.graph._theme": _theme,
    "substrate.emotions.normal_emotion": normal_emotion,
    "substrate.inference.tokens._count": lambda text: tokens.counter()(text),
    "substrate.language.text._stems": stems,
    "substrate.language.text.name_key": name_key,
}
"""By the name of each cache that is bounded by bytes: what fills it."""


def modules() -> Iterator[ModuleType]:
    """All modules of the four packages that can be imported here."""
    for package in (schemas, substrate, orchestration, api):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield import_module(found.name)


@pytest.fixture(scope="module")
def counted() -> dict[str, Any]:
    """The functions whose cache is bounded by entries, or not at all, by name."""
    places: defaultdict[int, list[tuple[bool, str]]] = defaultdict(list)
    functions: dict[int, Any] = {}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, _lru_cache_wrapper) and str(value.__module__).partition(".")[0] in PACKAGES:
                places[id(value)].append((value.__module__ != module.__name__, f"{module.__name__}.{name}"))
                functions[id(value)] = value
    return {min(places[number])[1]: value for number, value in functions.items()}


def rows(heading: str) -> dict[str, str]:
    """The first and the second cell of each row of the table that begins so; a cell may have several names."""
    table = PAGE.read_text().partition(f"| {heading} |")[2].partition("\n\n")[0]
    lines = [line.split("|")[1:3] for line in table.splitlines()[2:]]
    return {name: bound.strip() for names, bound in lines for name in re.findall(r"`([^`]+)`", names)}


def test_each_cache_by_bytes_stands_in_the_documentation_with_its_bound(counted: dict[str, Any]) -> None:
    assert counted
    assert rows("bounded by bytes") == {name: f"{cache.most_bytes // MB} MB" for name, cache in CACHES.items()}


def test_each_cache_by_entries_stands_in_the_documentation_with_its_bound(counted: dict[str, Any]) -> None:
    bounds = {name: cache.cache_parameters()["maxsize"] for name, cache in counted.items()}
    told = rows("bounded by entries")
    assert told == {name: f"{most:,}" for name, most in bounds.items() if most is not None}
    assert set(rows("bounded by the code")) == {name for name, most in bounds.items() if most is None}


def test_long_texts_make_no_cache_larger_than_its_bound() -> None:
    chance = Random(3)
    assert FILLED.keys() == CACHES.keys()
    for name, fill in FILLED.items():
        cache = CACHES[name]
        for _ in range(30):
            size = chance.choice((20, 300, 3_000))
            fill(" ".join(f"{chance.getrandbits(40):x}" for _ in range(size)))
            assert cache.bytes_kept <= cache.most_bytes
        assert len(cache) > 1
        cache.clear()


@pytest.mark.parametrize("length", [65, 100_000])
def test_a_word_and_a_field_too_long_to_be_common_are_not_kept(counted: dict[str, Any], length: int) -> None:
    caches = [counted["substrate.language.text._kept_stem"], counted["schemas.field_names._nearest"]]
    before = [cache.cache_info().currsize for cache in caches]
    assert stem("xo" * length + "ing") == "xo" * length
    assert nearest("x" * length, ("name", "names")) is None
    assert [cache.cache_info().currsize for cache in caches] == before
