"""How a page is cut into shares."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from substrate.store.upkeep import (
    LINKS_A_PAGE,
    Share,
    plan_shares,
)


@given(st.lists(st.integers(0, 3 * LINKS_A_PAGE), max_size=30))
def test_every_row_of_a_page_is_in_exactly_one_share(degrees: list[int]) -> None:
    page = list(enumerate(degrees))
    shares = list(plan_shares(page))
    read = [0] * len(degrees)
    for share in shares:
        inside = [place for place, degree in page if share.first <= place < share.beyond and degree]
        rows = [min(max(degrees[place] - share.skip, 0), share.rows) for place in inside]
        assert sum(rows) <= LINKS_A_PAGE
        for place, count in zip(inside, rows, strict=True):
            read[place] += count
    assert read == degrees


def test_a_hub_is_read_in_shares_of_its_own() -> None:
    beyond = 10 * LINKS_A_PAGE
    assert list(plan_shares([(1, 3), (4, 2 * LINKS_A_PAGE + 1), (6, 2)])) == [
        Share(1, 2, 0, beyond),
        Share(4, 5, 0, LINKS_A_PAGE),
        Share(4, 5, LINKS_A_PAGE, LINKS_A_PAGE),
        Share(4, 5, 2 * LINKS_A_PAGE, LINKS_A_PAGE),
        Share(6, 7, 0, beyond),
    ]
