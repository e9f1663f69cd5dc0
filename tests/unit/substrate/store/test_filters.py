"""The parameters that say which memories a query takes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.intention import Filters, RetrievalIntention
from schemas.temporal import to_instant
from substrate.emotions import normal_emotion
from substrate.store.filters import EVERY_MEMORY, UNFILTERED, felt_values, filter_values


@pytest.mark.parametrize("filters", [None, Filters()])
def test_without_filters_every_memory_is_taken(filters: Filters | None) -> None:
    assert filter_values(filters) == UNFILTERED
    assert felt_values(RetrievalIntention(citizen_id="ada", query_text="sea", filters=filters)) == EVERY_MEMORY


def test_required_emotions_are_sought_in_normal_form() -> None:
    intention = RetrievalIntention(
        citizen_id="ada", query_text="sea", min_energy=0.3, required_emotions=("Happy", "joy", "Afraid")
    )
    values = felt_values(intention)
    assert values["required_emotions"] == sorted({normal_emotion(name) for name in ("Happy", "Afraid")})
    assert (values["min_energy"], values["min_confidence"]) == (0.3, 0.0)
    assert values["emotions_needed"] == 2
    any_of_them = felt_values(intention.model_copy(update={"emotions_match": "any"}))
    assert any_of_them == {**values, "emotions_needed": 1}


def test_tags_and_buckets_are_looked_for_in_their_own_column() -> None:
    filters = Filters(node_types=("Turn",), tags=("sea", 'say "ah"'), buckets=("work",))
    assert filter_values(filters) == {
        **UNFILTERED,
        "unfiltered": False,
        "node_types": ["Turn"],
        "labels": [["tags", '"sea"'], ["tags", '"say \\"ah\\""'], ["buckets", '"work"']],
    }


def test_a_range_is_closed_at_its_start_and_open_at_its_end() -> None:
    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    values = filter_values(Filters(valid_from=first, valid_to=last))
    assert (values["unfiltered"], values["began_from"], values["began_to"]) == (
        False, to_instant(first), to_instant(last)
    )  # fmt: skip
    with pytest.raises(ValueError, match="valid_to must lie after valid_from"):
        Filters(valid_from=last, valid_to=last)


labels = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)


@given(st.lists(labels, max_size=4), labels)
def test_a_label_stands_in_the_text_of_a_list_exactly_when_the_list_has_it(tags: list[str], tag: str) -> None:
    [[_, wanted]] = filter_values(Filters.unchecked({"tags": (tag,)}))["labels"]
    assert json.loads(wanted) == tag
    if tag in tags:
        assert wanted in orjson.dumps(tags).decode()
