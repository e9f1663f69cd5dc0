"""A policy keeps what it names; what a policy does not keep is reached, whatever another one keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.withholding.rules import DAY_US, NewestCut, Row, is_about, place, reached_by
from orchestration.features.withholding.values import Policy, PolicyRule, SetPolicy
from schemas.memory import ResolutionState, Source
from schemas.temporal import Instant

NOW = 1_000 * DAY_US
KEEPS_NOTHING = [{}, {"keep_days": 0}, {"keep_days": -1}, {"keep_newest": 0}, {"keep_newest": -3}]


def policy(**fields: Any) -> Policy:
    return Policy(name="p", rule=PolicyRule.model_validate({"citizen_id": "ada", **fields}))


def row(id_: str, age_days: float = 0, **fields: Any) -> Row:
    at = NOW - round(age_days * DAY_US)
    whole = {"source": Source.CITIZEN, "node_type": "Memory", "tags": (), "state": None, "happened": at} | fields
    return Row(id_, id_, written=at, **whole)


def reached(policies: Sequence[Policy], rows: Sequence[Row], now: Instant) -> set[str]:
    ids: set[str] = set()
    for rule in (each.rule for each in policies):
        newest = NewestCut(rule.keep_newest or len(rows) + 1)
        for each in rows:
            if is_about(rule, each):
                newest.add(place(rule, each))
        ids.update(each.id for each in reached_by(rule, rows, now, newest.place))
    return ids


ROWS = st.lists(
    st.builds(
        lambda number, days, source, tag, state: row(
            str(number), days, source=source, tags=("news",) if tag else (), state=state
        ),
        st.integers(0, 10_000),
        st.sampled_from((0, 1, 1, 5, 30, 400)),
        st.sampled_from(Source),
        st.booleans(),
        st.sampled_from((None, *ResolutionState)),
    ),
    unique_by=lambda each: each.id,
    max_size=30,
)
RULES = st.fixed_dictionaries(
    {},
    optional={"tag": st.just("#news"), "source": st.sampled_from(Source), "keep_days": st.sampled_from((1, 10))},
).flatmap(lambda fields: st.integers(1, 9).map(lambda newest: policy(keep_newest=newest, **fields)))


@given(ROWS, st.integers(1, 40))
def test_keeping_the_newest_keeps_exactly_so_many_of_equal_age_too(rows: Sequence[Row], newest: int) -> None:
    gone = reached([policy(keep_newest=newest)], rows, NOW)
    kept = [each for each in rows if each.id not in gone]
    assert len(kept) == min(newest, len(rows))
    oldest = min(((each.written, each.id) for each in kept), default=(0, ""))
    assert all((each.written, each.id) < oldest for each in rows if each.id in gone)


@given(ROWS, RULES, RULES)
def test_two_policies_reach_what_either_of_them_reaches(rows: Sequence[Row], one: Policy, other: Policy) -> None:
    assert reached([one, other], rows, NOW) == reached([one], rows, NOW) | reached([other], rows, NOW)


@given(ROWS, RULES)
def test_a_second_run_reaches_nothing_more(rows: Sequence[Row], one: Policy) -> None:
    gone = reached([one], rows, NOW)
    assert reached([one], [each for each in rows if each.id not in gone], NOW) == set()


@given(ROWS, RULES)
def test_a_policy_reaches_nothing_that_it_is_not_about(rows: Sequence[Row], one: Policy) -> None:
    about = {each.id for each in rows if is_about(one.rule, each)}
    assert reached([one], rows, NOW) <= about


@pytest.mark.parametrize("fields", KEEPS_NOTHING)
def test_a_policy_without_a_keep_or_with_one_of_nothing_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="keep"):
        SetPolicy.model_validate({"citizen_id": "ada", **fields})
