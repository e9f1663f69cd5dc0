"""Quality over time: the summary of a sweep, which summaries stay, and when a grade fell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep.quality_series import DAYS, thin_out

DAY = 86_400_000_000
NOW = 20_000 * DAY


def test_all_of_thirty_days_stay_and_one_of_each_week_before() -> None:
    times = [NOW - day * DAY for day in range(100)]
    dropped = thin_out(times, NOW)
    kept = sorted(set(times) - dropped)
    assert sum(at > NOW - DAYS * DAY for at in kept) == DAYS
    old = [at // (7 * DAY) for at in kept if at <= NOW - DAYS * DAY]
    assert len(old) == len(set(old)) in (10, 11)


@given(st.lists(st.integers(0, NOW), max_size=60), st.integers(0, 90))
def test_the_last_summary_stays_and_thinning_again_drops_nothing(times: list[int], later: int) -> None:
    dropped = thin_out(times, NOW)
    kept = [at for at in times if at not in dropped]
    assert thin_out(kept, NOW) == frozenset()
    assert not times or max(times) in kept
    assert max(kept, default=0) not in thin_out(kept, NOW + later * DAY)
