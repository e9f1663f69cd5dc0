"""What a change closes and opens, and the rule of trust."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing.changes import (
    Refusal,
    WriteTimes,
    check_undone_writer,
    check_version,
    decide,
    lower_source,
    may_change,
    needed_records,
    outweighs,
    trust_fault,
)
from schemas.memory import Level, Source
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Period, to_instant
from substrate.bitemporal import Record
from tests.unit.orchestration.writing.memory_store import NOW, command, moment, relate, remember

SOURCES = st.sampled_from(Source)
BY_WEIGHT = (Source.UPKEEP, Source.INGESTION, Source.TOOL, Source.CITIZEN, Source.SYSTEM)


@pytest.mark.parametrize("by", Source)
@pytest.mark.parametrize("owner", Source)
@pytest.mark.parametrize("level", Level)
def test_a_source_changes_what_weighs_no_more_than_itself(by: Source, owner: Source, level: Level) -> None:
    own = level is Level.N1 and by is Source.CITIZEN
    assert may_change(by, owner, level) is (own or BY_WEIGHT.index(by) >= BY_WEIGHT.index(owner))


@given(SOURCES, SOURCES)
def test_the_lower_of_two_sources_is_outweighed(one: Source, other: Source) -> None:
    assert outweighs(one, other) is (BY_WEIGHT.index(one) > BY_WEIGHT.index(other))
    assert lower_source(one, other) is min(one, other, key=BY_WEIGHT.index)


@given(SOURCES, SOURCES, SOURCES)
def test_trust_is_transitive(one: Source, other: Source, third: Source) -> None:
    shared = Level.N2
    handed = may_change(one, other, shared) and may_change(other, third, shared)
    assert not handed or may_change(one, third, shared)


def test_the_fault_names_who_may() -> None:
    assert trust_fault(Source.TOOL, Source.CITIZEN, Level.N1).endswith("allowed: citizen, system")
    assert trust_fault(Source.TOOL, Source.SYSTEM, Level.N1).endswith("allowed: citizen, system")
    assert trust_fault(Source.CITIZEN, Source.SYSTEM, Level.N2).endswith("allowed: system")


# --- versions, and the records that a change needs -------------------------------------------------------


def record(version: int, start: float, end: float | None = None, **fields: Any) -> Record:
    valid = Period(to_instant(moment(start)), END_OF_TIME if end is None else to_instant(moment(end)))
    return Record("m", version, valid, Period(5), {"name": f"v{version}"}, **fields)


OPEN = [record(1, 1, 50), record(2, 50)]
TIMES = WriteTimes(NOW, NOW + 1)


@pytest.mark.parametrize(
    ("fields", "version"),
    [({}, 2), ({"valid_from": moment(10), "valid_to": moment(20)}, 1), ({"effective_at": moment(20)}, 1)],
)
def test_a_command_is_held_against_the_version_of_its_moment(fields: dict[str, Any], version: int) -> None:
    expecting = command("supersede", id="m", name="x", expected_version=version, **fields)
    assert check_version(expecting, OPEN, 2, NOW) == version
    with pytest.raises(Refusal, match=f"m has version {version}, not 9") as refusal:
        check_version(expecting.model_copy(update={"expected_version": 9}), OPEN, 2, NOW)
    assert (refusal.value.problem, refusal.value.current_version) == ("conflict", version)


@pytest.mark.parametrize("kind", ["correct", "undo", "unrelate"])
def test_nothing_is_changed_of_what_never_was(kind: str) -> None:
    fields = {"name": "x"} if kind == "correct" else {}
    with pytest.raises(Refusal) as refusal:
        check_version(command(kind, id="m", **fields), [], 0, NOW)
    assert refusal.value.problem == "not-found"


def test_only_an_undo_changes_what_was_retracted() -> None:
    closed = [replace(OPEN[1], known=Period(5, 9))]
    assert check_version(command("undo", id="m"), closed, 2, NOW) == 2
    with pytest.raises(Refusal, match="was retracted"):
        check_version(command("correct", id="m", name="x"), closed, 2, NOW)


@pytest.mark.parametrize(
    ("one", "since", "every"),
    [
        (remember("m"), BEGINNING_OF_TIME, True),
        (relate("a", "b"), END_OF_TIME, False),
        (command("supersede", id="m", name="x"), NOW, False),
        (command("supersede", id="m", name="x", effective_at=moment(7)), to_instant(moment(7)), False),
        (command("correct", id="m", name="x", valid_at=moment(2)), BEGINNING_OF_TIME, False),
        (command("retract", id="m"), BEGINNING_OF_TIME, False),
        (command("undo", id="m"), NOW, True),
    ],
)
def test_a_command_reads_no_more_records_than_it_needs(one: Any, since: int, every: bool) -> None:
    assert needed_records(one, NOW) == (since, every)


@pytest.mark.parametrize(
    ("one", "closed", "opened"),
    [
        (command("supersede", id="m", name="x", effective_at=moment(60)), [2], [(50, 60), (60, None)]),
        (command("correct", id="m", name="x"), [2], [(50, None)]),
        (command("correct", id="m", name="x", invalid_at=moment(70)), [2], [(50, 70)]),
        (command("retract", id="m"), [2], []),
        (command("retract", id="m", effective_at=moment(60)), [2], [(50, 60)]),
        (command("retract", id="m", valid_from=moment(40), valid_to=moment(60)), [1, 2], [(1, 40), (60, None)]),
    ],
)
def test_a_change_closes_what_it_touches_and_opens_what_holds_instead(
    one: Any, closed: list[int], opened: list[tuple[int, int | None]]
) -> None:
    change = decide(one, OPEN, 2, TIMES)
    assert [record.version for record in change.closed] == closed
    periods = [each.record.valid for each in change.opened]
    assert periods == [
        Period(to_instant(moment(start)), END_OF_TIME if end is None else to_instant(moment(end)))
        for start, end in opened
    ]
    assert {each.record.known.start for each in change.opened} <= {TIMES.known_from}


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (command("supersede", id="m", name="x", effective_at=moment(0)), "invalid-request"),
        (command("correct", id="m", name="x", valid_at=moment(20)), "invalid-request"),
        (command("undo", id="m"), "conflict"),
    ],
)
def test_a_change_that_the_records_do_not_allow_is_refused(one: Any, problem: str) -> None:
    with pytest.raises(Refusal) as refusal:
        decide(one, OPEN, 2, TIMES)
    assert refusal.value.problem == problem


def test_a_resolution_that_changes_nothing_is_a_conflict() -> None:
    done = [replace(OPEN[1], content={"resolution_state": "resolved"})]
    with pytest.raises(Refusal, match="m is already resolved") as refusal:
        decide(command("resolve", id="m", resolution_state="resolved"), done, 2, TIMES)
    assert refusal.value.problem == "conflict"


@given(SOURCES, SOURCES)
def test_a_change_is_refused_exactly_where_the_rule_of_trust_says_so(by: Source, owner: Source) -> None:
    owned = [replace(OPEN[1], content={"name": "x", "source": owner.value})]
    one = command("correct", id="m", name="y", source=by, level="N2")
    if may_change(by, owner, Level.N2):
        assert decide(one, owned, 2, TIMES).closed
    else:
        with pytest.raises(Refusal) as refusal:
            decide(one, owned, 2, TIMES)
        assert refusal.value.problem == "not-trusted"


def test_an_undo_reverts_only_the_change_of_the_source_that_it_names() -> None:
    closed = record(1, 1, closed_source=Source.TOOL, closed_key="k")
    check_undone_writer(command("undo", id="m", undoes_source="tool", undoes_key="k"), [], [closed])
    with pytest.raises(Refusal, match="of source tool, not citizen"):
        check_undone_writer(command("undo", id="m", undoes_source="citizen"), [], [closed])
    with pytest.raises(Refusal, match="written with key k, not other"):
        check_undone_writer(command("undo", id="m", undoes_key="other"), [], [closed])
