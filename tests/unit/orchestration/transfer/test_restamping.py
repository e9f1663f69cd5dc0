"""Times ahead of the present move back to it: in their order, no further than that, and no others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.transfer.restamping import Restamping
from schemas.temporal import END_OF_TIME

PRESENT = 1_000
LINES = st.lists(
    st.dictionaries(
        st.sampled_from(("created_at", "expired_at", "touched", "clock", "valid_at")),
        st.one_of(st.integers(PRESENT - 40, PRESENT + 60), st.just(END_OF_TIME)),
    ),
    min_size=1,
)


@given(LINES)
def test_the_order_is_kept_and_nothing_is_ahead(lines: list[dict[str, int]]) -> None:
    times = Restamping(PRESENT)
    for line in lines:
        times.take(line)
    times.settle()
    pairs = set()
    for line in lines:
        moved = times.restamp(line)
        assert moved.keys() == line.keys()
        assert moved.get("valid_at") == line.get("valid_at")
        pairs |= {(line[name], moved[name]) for name in line.keys() - {"valid_at"}}
    known = sorted(pair for pair in pairs if pair[0] != END_OF_TIME)
    assert pairs - set(known) <= {(END_OF_TIME, END_OF_TIME)}
    before, after = [pair[0] for pair in known], [pair[1] for pair in known]
    assert len(set(before)) == len(before) == len(set(after))
    assert after == sorted(after)
    assert all(new <= PRESENT and new <= old for old, new in known)
    still = [old for old, new in known if new == old]
    # Whatever moved is above whatever stayed, and no microsecond is left free below what moved last.
    assert still == before[: len(still)]
    gaps = [later - earlier for earlier, later in zip(after[len(still) :], after[len(still) + 1 :], strict=False)]
    assert gaps == [1] * len(gaps)
