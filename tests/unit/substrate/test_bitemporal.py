"""What commands close and open, held against a model that knows only who believed what when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.temporal import END_OF_TIME, Period, Scope
from substrate import bitemporal
from substrate.bitemporal import Change, Record, RewriteContext, is_open, open_records, visible

HORIZON = 12
"""Valid times lie in 0..HORIZON; an open end reaches past it."""
FAR = HORIZON + 3
LATER = 10_000


@dataclass(frozen=True)
class Step:
    """A command in outline: which, over which stretch of valid time; no end is the end of what is known."""

    kind: str
    start: int
    end: int | None


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(("supersede", "correct", "retract", "begin", "undo")),
        st.integers(-1, HORIZON + 1),
        st.none() | st.integers(-1, HORIZON + 1),
    ),
    max_size=7,
)


@st.composite
def first_records(draw: st.DrawFn) -> Record:
    start = draw(st.integers(0, HORIZON - 1))
    end = draw(st.just(END_OF_TIME) | st.integers(start + 1, HORIZON))
    return Record("m", 1, Period(start, end), Period(draw(st.integers(0, 10))), {"said": "first"})


type Belief = Mapping[int, object]
"""What is said of each instant of valid time of which something is said."""


def told(start: int, end: int | None, said: object) -> dict[int, object]:
    return dict.fromkeys(range(max(start, -2), min(FAR if end is None else end, FAR)), said)


def believed(step: Step, said: str, before: Belief, history: list[Belief]) -> Belief | None:
    """What is believed after a step, None where it is refused: written from the words of the rules alone."""
    end = FAR if step.end is None else step.end
    stretch = range(step.start, end)
    if step.kind == "undo":
        return history[-2] if len(history) > 1 else None
    if step.kind == "begin":
        return {**before, **told(step.start, step.end, said)} if stretch and not {*stretch} & {*before} else None
    if not stretch or step.start not in before:
        return None
    if step.end is not None and not {*stretch} <= {*before}:
        return None
    rest = {instant: what for instant, what in before.items() if instant not in stretch}
    if step.kind == "retract":
        return rest
    return {**rest, **dict.fromkeys({*stretch} & {*before}, said)}


@dataclass
class Ledger:
    """All records of one identity, as the commands leave them."""

    all: list[Record]
    changes: list[Change] = field(default_factory=list)

    def carry_out(self, step: Step, said: str, at: int) -> Change:
        """Raises ValueError for what is refused."""
        current = open_records(self.all)
        last = max(record.version for record in self.all)
        end = END_OF_TIME if step.end is None else step.end
        if step.kind == "undo":
            return bitemporal.undo(self.all, None, at, last)
        if step.kind == "begin":
            if end <= step.start:
                raise ValueError("empty")
            new = Record("m", last + 1, Period(step.start, end), Period(at), {"said": said})
            return bitemporal.begin(current, new)
        if not current:
            raise ValueError("nothing holds")
        why = "reality_changed" if step.kind == "supersede" else "discovered_false"
        revise: Callable[[Record], Any] = lambda _: None if step.kind == "retract" else {"said": said}  # noqa: E731
        portion = bitemporal.named_portion(current, Period(step.start, end))
        return bitemporal.rewrite(current, portion, revise, RewriteContext(at, last, why))  # type: ignore[arg-type]

    def take(self, change: Change) -> None:
        closed = {record.version: record for record in change.closed}
        self.all = [closed.get(one.version, one) for one in self.all] + [one.record for one in change.opened]
        self.changes.append(change)

    def seen(self, valid: int, known: int) -> list[Record]:
        return [record for record in self.all if visible(record, Scope.at(valid, known))]

    def belief(self, known: int) -> Belief:
        """What was said of each instant, as it was known at one. Never two things of one instant."""
        said: dict[int, object] = {}
        for valid in range(-2, FAR):
            seen = self.seen(valid, known)
            assert len(seen) <= 1
            if seen:
                said[valid] = seen[0].content["said"]
        return said


def lived(first: Record, taken: list[Step]) -> tuple[Ledger, list[tuple[int, Belief]]]:
    """The ledger, and what the model believes from each transaction time on, of the steps not refused."""
    ledger = Ledger([first])
    beliefs: list[tuple[int, Belief]] = [
        (first.known.start, told(*(first.valid.start, first.valid.end), said="first"))
    ]
    for number, step in enumerate(taken):
        at = beliefs[-1][0] + 1 + number % 3
        after = believed(step, f"{step.kind} {number}", beliefs[-1][1], [belief for _, belief in beliefs])
        try:
            change = ledger.carry_out(step, f"{step.kind} {number}", at)
        except ValueError:
            assert after is None, f"{step} was refused"
            continue
        assert after is not None, f"{step} was carried out"
        ledger.take(change)
        beliefs.append((at, after))
    return ledger, beliefs


@given(first_records(), steps)
def test_each_pair_of_instants_sees_the_record_that_was_believed_then(first: Record, taken: list[Step]) -> None:
    ledger, beliefs = lived(first, taken)
    assert ledger.belief(first.known.start - 1) == {}
    for place, (at, belief) in enumerate(beliefs):
        until = beliefs[place + 1][0] if place + 1 < len(beliefs) else LATER
        assert ledger.belief(at) == belief
        assert ledger.belief(until - 1) == belief


@given(first_records(), steps)
def test_the_past_answers_as_it_answered_then(first: Record, taken: list[Step]) -> None:
    before, _ = lived(first, taken[:-1])
    now, beliefs = lived(first, taken)
    if len(now.changes) == len(before.changes):
        return
    for known in range(first.known.start - 1, beliefs[-1][0]):
        for valid in range(-2, FAR):
            then = [(r.version, r.content, r.valid, r.reason) for r in before.seen(valid, known)]
            assert [(r.version, r.content, r.valid, r.reason) for r in now.seen(valid, known)] == then


@given(first_records(), steps)
def test_a_closed_record_keeps_all_but_its_end(first: Record, taken: list[Step]) -> None:
    ledger = Ledger([first])
    for change in lived(first, taken)[0].changes:
        before = {record.version: record for record in ledger.all}
        for record in change.closed:
            was = before[record.version]
            assert (record.valid, record.content, record.reason) == (was.valid, was.content, was.reason)
            assert record.known == Period(was.known.start, change.at)
            assert is_open(was)
            assert record.closed_reason is not None
        ledger.take(change)


@given(first_records(), steps)
def test_no_two_records_of_an_identity_have_one_version(first: Record, taken: list[Step]) -> None:
    versions = [record.version for record in lived(first, taken)[0].all]
    assert sorted(versions) == list(range(1, len(versions) + 1))


@given(first_records(), steps)
def test_opened_records_are_ordered_by_valid_time(first: Record, taken: list[Step]) -> None:
    for change in lived(first, taken)[0].changes:
        opened = [one.record for one in change.opened]
        assert opened == sorted(opened, key=lambda one: (one.valid.start, one.version))
        assert all(record.known == Period(change.at) for record in opened)


@given(first_records(), steps, st.integers(1, 4))
def test_an_undo_can_be_undone(first: Record, taken: list[Step], times: int) -> None:
    ledger, beliefs = lived(first, [step for step in taken if step.kind != "undo"])
    if len(beliefs) == 1:
        with pytest.raises(ValueError, match="nothing was changed"):
            bitemporal.undo(ledger.all, None, LATER, len(ledger.all))
        return
    states = [belief for _, belief in beliefs]
    for turn in range(times):
        at = LATER + turn
        ledger.take(bitemporal.undo(ledger.all, None, at, len(ledger.all)))
        assert ledger.belief(at) == states[-1 if turn % 2 else -2]


RECORD = Record("m", 3, Period(10, 20), Period(100), {"said": "old"})
BEHIND = Record("m", 4, Period(20, 30), Period(100), {"said": "behind"}, "reality_changed")
APART = Record("m", 5, Period(40, END_OF_TIME), Period(100), {"said": "apart"})
WORLD = RewriteContext(200, 5, "reality_changed")
FALSE = RewriteContext(200, 5, "discovered_false")


def new(_: Record) -> Mapping[str, Any]:
    return {"said": "new"}


def none(_: Record) -> None:
    return None


def periods(change: Change) -> list[tuple[int, int, object, object]]:
    return [
        (*one.record.valid, one.record.content["said"], one.record.reason)
        for one in change.opened
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("portion", "message"),
    [
        (Period(9), "nothing of it is known at"),
        (Period(9, 12), "nothing of it is known at"),
        (Period(12, 12), "empty"),
        (Period(15, 12), "empty"),
        (Period(25, 45), "nothing of it is known at"),
        (Period(30), "nothing of it is known at"),
        (Period(35, 45), "nothing of it is known at"),
    ],
)
def test_a_portion_that_is_not_known_throughout_is_refused(portion: Period, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bitemporal.named_portion([RECORD, BEHIND, APART], portion)


def test_a_portion_without_an_end_reaches_over_gaps_to_the_end_of_what_is_known() -> None:
    portion = bitemporal.named_portion([RECORD, BEHIND, APART], Period(15))
    change = bitemporal.rewrite([RECORD, BEHIND, APART], portion, new, WORLD)
    assert periods(change) == [
        (10, 15, "old", "reality_changed"),
        (15, 20, "new", None),
        (20, 30, "new", "reality_changed"),
        (40, END_OF_TIME, "new", None),
    ]
    assert [record.version for record in change.closed] == [3, 4, 5]
    assert [one.record.version for one in change.opened] == [6, 7, 8, 9]
    assert change.receipt_record == change.opened[1].record


def test_a_record_goes_on_outside_of_the_rewritten_portion() -> None:
    change = bitemporal.rewrite([RECORD], Period(12, 15), new, FALSE)
    assert periods(change) == [(10, 12, "old", "discovered_false"), (12, 15, "new", "discovered_false"),
                               (15, 20, "old", None)]  # fmt: skip
    assert change.closed[0].closed_reason == "discovered_false"
    assert [one.from_version for one in change.opened] == [3, 3, 3]


def test_a_retracted_portion_leaves_a_gap() -> None:
    change = bitemporal.rewrite([RECORD, BEHIND], Period(15, 25), none, FALSE)
    assert periods(change) == [(10, 15, "old", "discovered_false"), (25, 30, "behind", "reality_changed")]


def test_a_record_whose_content_stays_is_left_alone() -> None:
    change = bitemporal.rewrite([RECORD, BEHIND], Period(15), lambda record: record.content, WORLD)
    assert (change.closed, change.opened) == ((), ())


@pytest.mark.parametrize(("moment", "version"), [(5, 3), (10, 3), (20, 4), (29, 4), (30, 4), (39, 4), (40, 5)])
def test_a_moment_addresses_what_holds_then_or_the_last_before_it_or_the_first(moment: int, version: int) -> None:
    assert bitemporal.held_at([RECORD, BEHIND, APART], moment).version == version


def test_the_valid_time_itself_is_corrected() -> None:
    change = bitemporal.correct_period(
        [RECORD, APART], RECORD, FALSE, valid=Period(5, 25), content={"said": "old"}
    )
    assert periods(change) == [(5, 25, "old", None)]


@pytest.mark.parametrize("valid", [Period(5, 41), Period(45), Period(12, 12)])
def test_a_valid_time_that_is_empty_or_not_free_is_refused(valid: Period) -> None:
    with pytest.raises(ValueError, match=r"another record|must lie after"):
        bitemporal.correct_period([RECORD, APART], RECORD, FALSE, valid=valid, content={"said": "old"})


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
