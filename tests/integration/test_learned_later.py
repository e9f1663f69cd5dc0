"""What was true then but became known later: every answer about the past says how many, and `now` shows them."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.values import WhoIs
from orchestration.resonance.ask import resonate
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import Correct, Retract
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.temporal import to_datetime
from schemas.wave_signal import Resonate
from tests.integration.store import ASKED, NOW, ask, day, found, ids, moment, remember, stored

LATER = "memories were true at that moment but became known only later: ask with known_at `now` (--known-at now)"


async def imported(deps: Deps, citizen: str) -> None:
    """Three memories of January that became known on day 100; one that was over, one that had not begun."""
    times = {"a": (1, None), "b": (2, None), "c": (3, None), "over": (1, 5), "after": (50, None)}
    commands = [
        remember(citizen, name, description="Tea.", valid_at=moment(begun), invalid_at=end and moment(end))
        for name, (begun, end) in times.items()
    ]
    await stored(deps, *commands, now=NOW)


async def test_every_answer_about_the_past_tells_what_became_known_later(deps: Deps, fresh_citizen: str) -> None:
    await imported(deps, fresh_citizen)
    asked: dict[str, Any] = {"citizen_id": fresh_citizen, "as_of_time": moment(20)}
    words = {"query_text": "tea", **asked}
    answers: list[Any] = [
        await retrieve_consciousness_context(RetrievalIntention.model_validate(words), deps, ASKED),
        await retrieve_consciousness_context_from_state(StateBasedRetrieval.model_validate(asked), deps, ASKED),
        await resonate(Resonate.model_validate(words), deps, ASKED),
        await associate(TagWalk.model_validate(words), deps, ASKED),
        await read_identity(WhoIs.model_validate(asked), deps, ASKED),
    ]
    for answer in answers:
        assert [note for note in answer.notes if note.startswith(f"3 {LATER}")], answer.notes


async def test_known_now_shows_what_was_true_then(deps: Deps, fresh_citizen: str) -> None:
    await imported(deps, fresh_citizen)
    then = await ask(deps, fresh_citizen, "tea", as_of_time=moment(20))
    assert found(then) == []
    now = await ask(deps, fresh_citizen, "tea", as_of_time=moment(20), known_at="now")
    assert sorted(ids(found(now))) == ["a", "b", "c"]
    assert not [note for note in now.notes if "known only later" in note]


@pytest.mark.parametrize("when", [{}, {"temporal_mode": "full_history"}, {"known_at": to_datetime(ASKED)}])
async def test_a_question_that_sees_what_is_known_has_no_such_note(
    deps: Deps, fresh_citizen: str, when: dict[str, Any]
) -> None:
    await imported(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "tea", **when)
    assert not [note for note in stream.notes if "known only later" in note]


async def test_what_was_corrected_later_but_was_known_then_is_not_counted(deps: Deps, fresh_citizen: str) -> None:
    whose = {"citizen_id": fresh_citizen}
    for name in ("corrected", "portion", "moved", "again"):
        await stored(deps, remember(fresh_citizen, name, description="Tea.", valid_at=moment(2)), now=day(3))
    portion = {"valid_from": moment(10), "valid_to": moment(30)}
    await stored(
        deps,
        Correct.model_validate({**whose, "id": "corrected", "description": "Green tea."}),
        Correct.model_validate({**whose, "id": "portion", "description": "Black tea.", **portion}),
        Retract.model_validate({**whose, "id": "again", **portion}),
        remember(fresh_citizen, "late", description="Tea.", valid_at=moment(2)),
        now=NOW,
    )
    then = await ask(deps, fresh_citizen, "tea", as_of_time=moment(20))
    assert sorted(ids(found(then))) == ["again", "corrected", "moved", "portion"]
    assert len([note for note in then.notes if note.startswith("1 memory was true")]) == 1


async def test_what_was_known_but_only_later_to_hold_then_is_counted(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "tea", description="Tea.", valid_at=moment(60)), now=day(3))
    earlier = {"citizen_id": fresh_citizen, "id": "tea", "valid_at": moment(2), "description": "Green tea."}
    await stored(deps, Correct.model_validate(earlier), now=NOW)
    then = await ask(deps, fresh_citizen, "tea", as_of_time=moment(20))
    assert (found(then), len([note for note in then.notes if note.startswith("1 memory was true")])) == ([], 1)
