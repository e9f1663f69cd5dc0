"""What a quarantine does to one memory follows from who changed it, in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestration.features.withholding.quarantine_rules import Suspect, changed_beside, end_of_link, judge
from schemas.memory import Source
from schemas.temporal import END_OF_TIME, Period
from substrate.bitemporal import Record, go_back

TOOL = Suspect(source=Source.TOOL)


def record(version: int, source: Source, known: tuple[int, int], **fields: str) -> Record:
    content = {"source": source.value, "description": str(version), **fields}
    closed_by = f"c{known[1]}" if known[1] < END_OF_TIME else None
    made = Record("m", version, Period(0), Period(*known), content)
    return replace(made, command_id=f"c{known[0]}", closed_by=closed_by)


def chain(*sources: Source, **fields: str) -> list[Record]:
    """One record after another, each written by a source at 10, 20, 30 …, over the same valid time."""
    ends = [10 * number + 10 for number in range(1, len(sources))] + [END_OF_TIME]
    records = [
        record(number, source, (10 * number, end), **fields)
        for number, (source, end) in enumerate(zip(sources, ends, strict=True), start=1)
    ]
    closers = (*sources[1:], None)
    return [replace(each, closed_source=by) for each, by in zip(records, closers, strict=True)]


C, T, N, U = Source.CITIZEN, Source.TOOL, Source.INGESTION, Source.UPKEEP


@pytest.mark.parametrize(
    ("sources", "fate", "start"),
    [
        ([C], "clean", 0),
        ([T], "hide", 0),
        ([T, U], "hide", 0),
        ([T, C], "kept", 0),
        ([T, C, T], "take_back", 30),
        ([N, T], "take_back", 20),
        ([N, T, N], "take_back", 20),
        ([N, T, T], "take_back", 20),
        ([C, T, C], "kept", 0),
    ],
)
def test_the_last_own_change_stays_and_what_came_from_there_since_goes(
    sources: list[Source], fate: str, start: int
) -> None:
    assert judge(chain(*sources), TOOL) == (fate, start)


def test_a_quarantine_and_its_release_are_nobodys_own_change() -> None:
    first = replace(record(1, T, (10, 20)), closed_source=C, closed_by="quarantine-a-0")
    again = replace(record(2, T, (30, END_OF_TIME)), command_id="quarantine-release-a-0")
    assert judge([first], TOOL).fate == "clean"
    assert judge([first, again], TOOL).fate == "hide"


def test_what_is_taken_back_already_is_not_taken_back_again() -> None:
    first, second = chain(N, T)
    second = replace(second, known=Period(20, 30), closed_source=C, closed_by="quarantine-a-0")
    back = replace(
        first, version=3, known=Period(30), command_id="quarantine-a-0", closed_source=None, closed_by=None
    )
    assert judge([first, second, back], TOOL).fate == "clean"


def test_an_episode_is_what_was_first_written_in_it_and_not_later_changes() -> None:
    suspect = Suspect(episode_id="e")
    assert judge(chain(N, episode_id="e"), suspect).fate == "hide"
    assert judge(chain(N, C, episode_id="e"), suspect).fate == "kept"
    assert judge(chain(N, episode_id="f"), suspect).fate == "clean"


def test_all_that_is_given_must_fit() -> None:
    records = chain(T, speaker="Ada", tags='["news"]')
    assert judge(records, Suspect(source=T, speaker="ada", tag="#news", since=10, until=11)).fate == "hide"
    for other in (Suspect(T, speaker="Bob"), Suspect(T, tag="new"), Suspect(T, since=11), Suspect(T, until=10)):
        assert judge(records, other).fate == "clean"


def test_what_was_made_of_hidden_things_is_hidden_whoever_made_it_unless_the_citizen_changed_it() -> None:
    assert judge(chain(U), TOOL, derived=True).fate == "hide"
    assert judge(chain(U, C), TOOL, derived=True).fate == "kept"
    assert end_of_link(chain(C)).fate == "hide"


def test_a_change_of_a_name_follows_from_the_text_that_was_linked_just_after_it() -> None:
    records = chain(N, N, C)
    assert changed_beside(records, [21], within=5) == {20}
    assert changed_beside(records, [31], within=5) == set()


def test_going_back_restores_all_that_was_known_before() -> None:
    records = chain(N, T, T)
    change = go_back(records, 20, 99, 3)
    assert [each.version for each in change.closed] == [3]
    assert [(each.from_version, each.record.version) for each in change.opened] == [(1, 4)]
    with pytest.raises(ValueError, match="nothing was changed"):
        go_back(records, 10, 99, 3)
