"""What commands close and open, held against a model that knows only who believed what when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.temporal import END_OF_TIME, Period, Scope
from substrate.bitemporal import Change, Record, after, correct, is_open, retract, supersede, undo, visible

HORIZON = 12
"""Valid times lie in 0..HORIZON; an open end reaches past it."""

Step = tuple[Literal["supersede", "correct", "retract"], int | None, int]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("supersede"), st.integers(-1, HORIZON + 1), st.integers(-5, 40)),
        st.tuples(st.just("correct"), st.none(), st.integers(-5, 40)),
        st.tuples(st.just("retract"), st.none() | st.integers(-1, HORIZON + 1), st.integers(-5, 40)),
    ),
    max_size=6,
)


@st.composite
def first_records(draw: st.DrawFn) -> Record:
    start = draw(st.integers(0, HORIZON - 1))
    end = draw(st.just(END_OF_TIME) | st.integers(start + 1, HORIZON))
    return Record("m", 1, Period(start, end), Period(draw(st.integers(0, 10))), {"said": "first"})


@dataclass
class Ledger:
    """All records of one identity, as the commands leave them."""

    latest: Record | None
    past: list[Record] = field(default_factory=list)

    def records(self) -> list[Record]:
        return self.past if self.latest is None else [*self.past, self.latest]

    def take(self, change: Change) -> None:
        self.past.append(change.closed)
        if change.kept is not None:
            self.past.append(change.kept)
        self.latest = change.latest

    def seen(self, valid: int, known: int) -> list[Record]:
        return [record for record in self.records() if visible(record, Scope.at(valid, known))]


class Beliefs:
    """The model: from each transaction time on, what was believed of each instant of valid time."""

    def __init__(self, record: Record) -> None:
        self.span = record.valid
        self.states: list[tuple[int, dict[int, object]]] = []
        self._believe(record.known.start, {}, record.valid.start, record.content["said"])

    def _believe(self, at: int, before: dict[int, object], start: int, said: object) -> None:
        changed = dict(before)
        for instant in range(max(start, -2), min(self.span.end, HORIZON + 3)):
            changed[instant] = said
        self.states.append((at, changed))

    def change(self, at: int, start: int, said: object) -> None:
        self._believe(at, self.states[-1][1], start, said)

    def at(self, valid: int, known: int) -> object:
        held: object = None
        for at, state in self.states:
            if at <= known:
                held = state.get(valid)
        return held


def carry_out(step: Step, record: Record, said: str) -> Change:
    kind, effective, now = step
    if kind == "correct":
        return correct(record, {"said": said}, now)
    if kind == "retract":
        return retract(record, effective, "discovered_false", now)
    assert effective is not None
    return supersede(record, {"said": said}, effective, now)


def lived(first: Record, taken: list[Step]) -> tuple[Ledger, Beliefs, list[Change]]:
    """The ledger, the model and the changes after the steps that were not refused."""
    ledger, beliefs, changes = Ledger(first), Beliefs(first), []
    for number, step in enumerate(taken):
        record = ledger.latest
        if record is None:
            break
        try:
            change = carry_out(step, record, f"{step[0]} {number}")
        except ValueError:
            continue
        kind, effective, _ = step
        start = record.valid.start if effective is None else max(effective, record.valid.start)
        beliefs.change(change.closed.known.end, start, None if kind == "retract" else f"{kind} {number}")
        if change.latest is not None:
            beliefs.span = change.latest.valid
        ledger.take(change)
        changes.append(change)
    return ledger, beliefs, changes


@given(first_records(), steps)
def test_what_is_seen_at_any_pair_of_instants_is_what_was_believed(first: Record, taken: list[Step]) -> None:
    ledger, beliefs, _ = lived(first, taken)
    instants = {at for at, _ in beliefs.states}
    for known in sorted(instants | {at - 1 for at in instants}):
        for valid in range(-2, HORIZON + 3):
            seen = ledger.seen(valid, known)
            assert len(seen) <= 1
            assert (seen[0].content["said"] if seen else None) == beliefs.at(valid, known)


@given(first_records(), steps)
def test_the_past_answers_as_it_answered_then(first: Record, taken: list[Step]) -> None:
    before, _, _ = lived(first, taken[:-1])
    now, _, changes = lived(first, taken)
    if len(now.records()) == len(before.records()):
        return
    changed_at = changes[-1].closed.known.end
    for known in range(first.known.start - 1, changed_at):
        for valid in range(-2, HORIZON + 3):
            then = [(r.version, r.content, r.valid) for r in before.seen(valid, known)]
            assert [(r.version, r.content, r.valid) for r in now.seen(valid, known)] == then


@given(first_records(), steps)
def test_a_closed_record_keeps_all_but_its_end(first: Record, taken: list[Step]) -> None:
    record = first
    for change in lived(first, taken)[2]:
        closed = change.closed
        assert (closed.id, closed.version, closed.valid, closed.content) == (
            record.id,
            record.version,
            record.valid,
            record.content,
        )
        assert closed.known.start == record.known.start
        assert not is_open(closed)
        if change.latest is not None:
            record = change.latest


@given(first_records(), steps)
def test_transaction_time_only_goes_forward_even_when_the_clock_goes_back(
    first: Record, taken: list[Step]
) -> None:
    known = first.known.start
    for change in lived(first, taken)[2]:
        assert change.closed.known.end > known
        opened = [record for record in (change.kept, change.latest) if record is not None]
        assert all(record.known == Period(change.closed.known.end) for record in opened)
        known = change.closed.known.end


@given(first_records(), steps)
def test_no_two_records_of_an_identity_have_one_version(first: Record, taken: list[Step]) -> None:
    ledger, _, changes = lived(first, taken)
    versions = [record.version for record in ledger.records()]
    assert len(set(versions)) == len(versions)
    if ledger.latest is not None:
        assert ledger.latest.version == max(versions)
    assert all(change.closed.version < change.latest.version for change in changes if change.latest)


@dataclass
class Undone:
    """All records of one identity, as undo closes and opens them."""

    all: list[Record]

    def take(self, change: Change) -> None:
        opened = [record for record in (change.kept, change.latest) if record is not None]
        self.all = [change.closed if one.version == change.closed.version else one for one in self.all] + opened

    def undo(self, now: int) -> None:
        reversal = undo(self.all, None, now)
        closed = {record.version: record for record in reversal.closed}
        opened = [record for record in (reversal.kept, reversal.latest) if record is not None]
        self.all = [closed.get(one.version, one) for one in self.all] + opened

    def believed(self, known: int) -> list[object]:
        """What was said of each instant, as it was known at one."""
        return [
            [one.content["said"] for one in self.all if visible(one, Scope.at(valid, known))]
            for valid in range(-2, HORIZON + 3)
        ]


@given(first_records(), steps, st.integers(1, 4))
def test_an_undo_brings_back_what_was_believed_and_leaves_the_past(
    first: Record, taken: list[Step], times: int
) -> None:
    held = Undone([first])
    states = [held.believed(LATER)]
    for number, step in enumerate(taken):
        record = max(held.all, key=lambda one: one.version)
        if not is_open(record):
            break
        try:
            held.take(carry_out(step, record, f"{step[0]} {number}"))
        except ValueError:
            continue
        states.append(held.believed(LATER))
    if len(states) == 1:
        with pytest.raises(ValueError, match="nothing was changed"):
            undo(held.all, None, 50)
        return
    known = max(one.known.start for one in held.all) + 1
    past = [held.believed(at) for at in range(known)]
    for turn in range(times):
        held.undo(50)
        assert held.believed(LATER) == states[-1 if turn % 2 else -2]
        assert [held.believed(at) for at in range(known)] == past
        assert sorted(one.version for one in held.all) == list(range(1, len(held.all) + 1))


LATER = 10_000
RECORD = Record("m", 3, Period(10, 20), Period(100), {"said": "old"})


@pytest.mark.parametrize("effective", [9, 10, 20, 21])
def test_a_change_of_the_world_outside_the_record_is_refused(effective: int) -> None:
    with pytest.raises(ValueError, match="effective_at"):
        supersede(RECORD, {"said": "new"}, effective, 200)


@pytest.mark.parametrize("effective", [20, 21])
def test_a_retraction_after_the_end_is_refused(effective: int) -> None:
    with pytest.raises(ValueError, match="effective_at"):
        retract(RECORD, effective, "reality_changed", 200)


def test_a_change_of_the_world_keeps_the_old_content_before_it() -> None:
    change = supersede(RECORD, {"said": "new"}, 15, 200)
    assert change.closed == Record(
        "m", 3, Period(10, 20), Period(100, 200), {"said": "old"}, None, "reality_changed"
    )
    assert change.kept == Record("m", 4, Period(10, 15), Period(200), {"said": "old"}, "reality_changed")
    assert change.latest == Record("m", 5, Period(15, 20), Period(200), {"said": "new"})


def test_a_correction_holds_over_the_same_valid_time() -> None:
    change = correct(RECORD, {"said": "new"}, 200)
    assert change.closed.closed_reason == "discovered_false"
    assert change.kept is None
    assert change.latest == Record("m", 4, Period(10, 20), Period(200), {"said": "new"})


@pytest.mark.parametrize("effective", [None, 9, 10])
def test_what_never_held_leaves_nothing(effective: int | None) -> None:
    change = retract(RECORD, effective, "discovered_false", 200)
    assert (change.kept, change.latest) == (None, None)
    assert change.closed.known == Period(100, 200)


def test_what_ended_stays_until_its_end() -> None:
    change = retract(RECORD, 15, "reality_changed", 200)
    assert change.latest == Record("m", 4, Period(10, 15), Period(200), {"said": "old"}, "reality_changed")


@pytest.mark.parametrize(("now", "at"), [(200, 200), (101, 101), (100, 101), (0, 101)])
def test_a_change_comes_after_what_it_changes(now: int, at: int) -> None:
    assert after(now, RECORD) == at


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        (Scope.at(10, 100), True),
        (Scope.at(9, 100), False),
        (Scope.at(20, 100), False),
        (Scope.at(19, 99), False),
        (Scope.history(None, None), True),
        (Scope.history(None, 100), False),
    ],
)
def test_a_record_is_visible_when_both_axes_agree(scope: Scope, seen: bool) -> None:
    assert visible(RECORD, scope) is seen
