"""The parameters that say which memories a query takes."""

from __future__ import annotations

import json

import orjson
from hypothesis import given
from hypothesis import strategies as st

from schemas.intention import Filters
from substrate.store.filters import filter_values

labels = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)


@given(st.lists(labels, max_size=4), labels)
def test_a_label_stands_in_the_text_of_a_list_exactly_when_the_list_has_it(tags: list[str], tag: str) -> None:
    [[_, wanted]] = filter_values(Filters.unchecked({"tags": (tag,)}))["labels"]
    assert json.loads(wanted) == tag
    if tag in tags:
        assert wanted in orjson.dumps(tags).decode()
