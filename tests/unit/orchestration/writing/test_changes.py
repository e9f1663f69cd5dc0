"""Which source may change what: the rule of trust, as a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing.changes import lower_source, may_change, outweighs, trust_fault
from schemas.memory import Level, Source

SOURCES = st.sampled_from(Source)
BY_WEIGHT = (Source.UPKEEP, Source.INGESTION, Source.TOOL, Source.CITIZEN, Source.SYSTEM)


@pytest.mark.parametrize("by", Source)
@pytest.mark.parametrize("owner", Source)
@pytest.mark.parametrize("level", Level)
def test_a_source_changes_what_weighs_no_more_than_itself(by: Source, owner: Source, level: Level) -> None:
    own = level is Level.N1 and by is Source.CITIZEN
    assert may_change(by, owner, level) is (own or BY_WEIGHT.index(by) >= BY_WEIGHT.index(owner))


@given(SOURCES, SOURCES)
def test_of_two_sources_the_lower_is_outweighed(one: Source, other: Source) -> None:
    assert outweighs(one, other) is (BY_WEIGHT.index(one) > BY_WEIGHT.index(other))
    assert lower_source(one, other) is min(one, other, key=BY_WEIGHT.index)


@given(SOURCES, SOURCES, SOURCES)
def test_trust_is_handed_on(one: Source, other: Source, third: Source) -> None:
    shared = Level.N2
    handed = may_change(one, other, shared) and may_change(other, third, shared)
    assert not handed or may_change(one, third, shared)


def test_the_fault_names_who_may() -> None:
    assert trust_fault(Source.TOOL, Source.CITIZEN, Level.N1).endswith("only by citizen, system")
    assert trust_fault(Source.TOOL, Source.SYSTEM, Level.N1).endswith("only by citizen, system")
    assert trust_fault(Source.CITIZEN, Source.SYSTEM, Level.N2).endswith("only by system")
