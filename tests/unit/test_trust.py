"""Which source may change what: the rule of trust, as a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.trust import fault, may_change
from schemas.memory import Source

SOURCES = st.sampled_from(Source)
BY_WEIGHT = (Source.UPKEEP, Source.INGESTION, Source.TOOL, Source.CITIZEN, Source.SYSTEM)


@pytest.mark.parametrize("by", Source)
@pytest.mark.parametrize("record_of", Source)
def test_a_source_changes_what_weighs_no_more_than_itself(by: Source, record_of: Source) -> None:
    assert may_change(by, record_of) is (BY_WEIGHT.index(by) >= BY_WEIGHT.index(record_of))


@given(SOURCES, SOURCES, SOURCES)
def test_trust_is_handed_on(one: Source, other: Source, third: Source) -> None:
    assert not (may_change(one, other) and may_change(other, third)) or may_change(one, third)


def test_the_fault_names_who_may() -> None:
    assert fault(Source.TOOL, Source.CITIZEN).endswith("only by citizen, system")
