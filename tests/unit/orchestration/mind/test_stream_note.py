"""The note of a stream: everything that it says comes back, whatever the ids and the request are."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.graph_queries.recall import Recall, RecalledHit, WordsThen
from orchestration.mind.stream_note import (
    ShownRecord,
    StreamNote,
    pack,
    unpack,
)
from orchestration.question.time_expressions import NamedPeriod
from schemas.memory import Level
from schemas.mind.state import CitizenState
from schemas.temporal import Period, Scope

ids = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"], exclude_characters="|"), min_size=1
)
shown = st.builds(ShownRecord, st.sampled_from(Level), ids, st.integers(1, 10_000))
tiers = st.tuples(*[st.lists(shown, max_size=6).map(tuple)] * 3)


@given(tiers=tiers, goal=st.none() | st.text(), now=st.integers(0, 2**52), text=st.text(min_size=1))
def test_a_packed_note_says_what_it_said(
    tiers: tuple[tuple[ShownRecord, ...], ...], goal: str | None, now: int, text: str
) -> None:
    request = {"query_text": text, "query_levels": ["N1", "N3"]}
    hits = {f"{graph}_vector": (RecalledHit(name, version),) for graph, name, version in chain(*tiers)}
    found = Recall(
        Scope.at(now, now),
        {**hits, "N1_graph": (RecalledHit("m", 2, 0.1 + 0.2),)},
        {"N2:atlas": WordsThen(7, {text: 3}, ("m",))},
        (NamedPeriod(Period(now, now + 1), 0.5),),
        CitizenState(citizen_id="ada", energy=0.1, emotion_vector={"joy": 0.3}, goal=goal),
    )
    distinct = tuple(tuple(dict.fromkeys(each)) for each in (tuple(dict.fromkeys(chain(*tiers))), (), ()))
    note = StreamNote("ada~1", now, "retrieve", request, distinct, found, "w", "m", goal, ("vector",))
    assert unpack("ada~1", now, pack(note)) == note
    assert note.levels == (Level.N1, Level.N3)


@pytest.mark.parametrize("data", ["", "x", "e30=", "////"])
def test_another_text_is_refused(data: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        unpack("ada~1", 1, data)
