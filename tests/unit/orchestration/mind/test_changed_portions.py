"""Learning moments of random changes, against plain lists: what was believed at each time, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.mind.dissonance import count_recurring, detect_temporal_dissonances
from orchestration.writing import changes
from orchestration.writing.changes import Refusal, WriteTimes
from schemas.commands import ChangeCommand, Correct, Resolve, Retract, Supersede, Undo
from schemas.stream import TemporalDissonance
from schemas.temporal import END_OF_TIME, Period, TemporalMode, open_end, to_datetime, to_instant
from substrate import bitemporal
from substrate.bitemporal import Change, Record
from tests.builders import a_node

END = 8
"""Valid time is the instants from 0 on, the last of which stands for all that come."""
KNOWN = 100
"""The transaction time of the first command; each later one is one later."""
WHOSE = {"citizen_id": "c", "id": "m"}
type Said = tuple[str, int, int, str]
"""A command, where its portion starts and how long it is (0: to the end), and its text."""
type Told = list[tuple[int, str, str, str]]
"""When a belief changed, the old one, the new one, and why."""


@dataclass
class Memory:
    """All records of one memory."""

    records: list[Record] = field(default_factory=list)
    now: int = KNOWN

    def tell(self, verb: str, start: int, length: int, text: str) -> bool:
        """Carry out a command; False when it is refused."""
        self.now += 1
        try:
            change = self._change(verb, start, length, text)
        except (Refusal, ValueError):
            return False
        closed = {record.version: record for record in change.closed}
        self.records = [closed.get(record.version, record) for record in self.records]
        self.records += [opened.record for opened in change.opened]
        return True

    def _change(self, verb: str, start: int, length: int, text: str) -> Change:
        if verb == "remember":
            valid = Period(start, start + length if length else END_OF_TIME)
            content = {"name": "m", "description": text, "energy": 0.5}
            record = Record("m", len(self.records) + 1, valid, Period(self.now), content)
            return bitemporal.begin(bitemporal.open_records(self.records), record)
        times = WriteTimes(self.now, self.now)
        return changes.decide(self._command(verb, start, length, text), self.records, len(self.records), times)

    def _command(self, verb: str, start: int, length: int, text: str) -> ChangeCommand:
        portion = {"valid_from": to_datetime(start)}
        if length:
            portion["valid_to"] = to_datetime(start + length)
        commands: dict[str, tuple[type[ChangeCommand], dict[str, Any]]] = {
            "supersede": (Supersede, {**portion, "description": text, "correction_pattern_id": "p"}),
            "correct": (Correct, {**portion, "description": text, "correction_pattern_id": "p"}),
            "felt": (Correct, {**portion, "energy": self.now / 1000}),
            "grown": (Supersede, {**portion, "energy": self.now / 1000}),
            "resolve": (Resolve, {**portion, "resolution_state": "resolved" if self.now % 2 else "open"}),
            "retract": (Retract, portion),
            "undo": (Undo, {}),
        }
        kind, fields = commands[verb]
        return kind.model_validate({**WHOSE, **fields})

    def moments(self) -> list[TemporalDissonance]:
        shown = (
            a_node(
                node_id="m",
                version=record.version,
                valid_at=to_datetime(record.valid.start),
                invalid_at=open_end(record.valid.end),
                created_at=to_datetime(record.known.start),
                expired_at=open_end(record.known.end),
                closed_reason=record.closed_reason,
                **{"correction_pattern_id": None, "resolution_state": None, **record.content},
            )
            for record in self.records
        )
        return detect_temporal_dissonances(shown, TemporalMode.FULL_HISTORY)

    def told(self) -> Told:
        return [
            (to_instant(one.corrected_at), one.original_belief, one.corrected_belief, one.dissonance_type)
            for one in self.moments()
        ]


@dataclass
class Plain:
    """What is believed of each instant, as lists: one for each command that was carried out."""

    held: list[list[str | None]] = field(default_factory=lambda: [[None] * END])

    def tell(self, verb: str, start: int, length: int, text: str, now: int) -> Told:
        """The moments of a command that was carried out: each pair of unlike beliefs of one instant, once."""
        before = self.held[-1]
        portion = range(start, start + length if length else END)
        if verb == "undo":
            self.held.append(self.held[-2])
            return []
        after = list(before)
        for instant in portion:
            if verb == "remember":
                after[instant] = text
            elif verb == "retract":
                after[instant] = None
            elif verb in ("supersede", "correct") and before[instant] is not None:
                after[instant] = text
        self.held.append(after)
        why = "reality_changed" if verb == "supersede" else "discovered_false"
        pairs = {(old, new) for old, new in zip(before, after, strict=True) if old and new and old != new}
        return [(now, old, new, why) for old, new in pairs]


verbs = st.sampled_from(
    ["remember", "supersede", "supersede", "correct", "correct", "felt", "grown", "resolve", "retract", "undo"]
)
said = st.tuples(verbs, st.integers(0, END - 1), st.integers(0, END - 1), st.sampled_from("abc")).filter(
    lambda each: each[1] + each[2] < END
)


@given(st.sampled_from("ab"), st.integers(0, 4), st.lists(said, max_size=14))
def test_a_moment_is_each_belief_that_a_command_replaced_where_both_hold(
    first: str, start: int, commands: Sequence[Said]
) -> None:
    memory, plain = Memory(), Plain()
    due: Told = []
    for verb, at, length, text in [("remember", start, 0, first), *commands]:
        if memory.tell(verb, at, length, text):
            due += plain.tell(verb, at, length, text, memory.now)
    assert sorted(memory.told()) == sorted(due)
    assert [each[0] for each in memory.told()] == sorted(each[0] for each in due)
    for one in memory.moments():
        assert one.belief_held_from < one.belief_held_until == one.corrected_at
    corrections = [each for each in due if each[3] == "discovered_false"]
    assert sum(each.count for each in count_recurring(memory.moments())) == len(corrections)


PORTO: Sequence[Said] = [("remember", 0, 0, "Porto"), ("supersede", 5, 0, "Faro")]


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        ([*PORTO, ("grown", 1, 0, "")], [("Porto", "Faro")]),
        ([*PORTO, ("resolve", 1, 0, "")], [("Porto", "Faro")]),
        ([*PORTO, ("felt", 3, 4, "")], [("Porto", "Faro")]),
        ([*PORTO, ("retract", 3, 0, ""), ("undo", 0, 0, "")], [("Porto", "Faro")]),
        ([*PORTO, ("undo", 0, 0, ""), ("felt", 1, 0, "")], [("Porto", "Faro")]),
        ([("remember", 4, 0, "b"), ("remember", 1, 3, "a"), ("correct", 2, 4, "d")], [("a", "d"), ("b", "d")]),
        ([("remember", 0, 0, "a"), ("retract", 0, 0, ""), ("remember", 2, 0, "b")], []),
        ([("remember", 0, 0, "a"), ("correct", 3, 2, "b"), ("correct", 0, 0, "c")],
         [("a", "b"), ("a", "c"), ("b", "c")]),
    ],
)  # fmt: skip
def test_what_holds_at_other_times_is_no_side_of_a_change(
    commands: Sequence[Said], told: list[tuple[str, str]]
) -> None:
    memory = Memory()
    assert all(memory.tell(*command) for command in commands)
    assert sorted(each[1:3] for each in memory.told()) == told


def test_a_pattern_recurs_only_where_a_belief_was_false() -> None:
    memory = Memory()
    for command in [*PORTO, ("correct", 6, 1, "Lagos")]:
        assert memory.tell(*command)
    assert [(each.count, each.node_ids) for each in count_recurring(memory.moments())] == [(1, ("m",))]


def test_a_belief_replaced_on_two_stretches_is_one_moment_and_was_held_since_the_first() -> None:
    memory = Memory()
    for command in [("remember", 4, 0, "a"), ("remember", 0, 2, "a"), ("correct", 0, 0, "c")]:
        assert memory.tell(*command)
    (one,) = memory.moments()
    assert (one.original_belief, one.corrected_belief) == ("a", "c")
    assert one.belief_held_from == to_datetime(KNOWN + 1)


def test_of_one_moment_a_belief_that_was_false_and_one_that_the_world_changed_are_two_changes() -> None:
    """Commands of an atomic list share their moment; here they replace the same words for two reasons."""
    memory = Memory()
    for command in [("remember", 0, 0, "a"), ("correct", 0, 3, "c")]:
        assert memory.tell(*command)
    memory.now -= 1
    assert memory.tell("supersede", 5, 0, "c")
    assert [each[1:] for each in memory.told()] == [("a", "c", "discovered_false"), ("a", "c", "reality_changed")]
