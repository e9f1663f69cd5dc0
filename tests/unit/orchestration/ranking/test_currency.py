"""What is now stands above what was, in a question about the present, and below in one about the past."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import read_question
from orchestration.question.tense import Tense
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.changes import DAY, Change, ComparedHit, find_changes, have_one_key
from orchestration.ranking.changes import KEYED as KEYED_CHANGE
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.currency import (
    Comparison,
    fold_duplicates,
    order_by_currency,
    order_scores,
)
from orchestration.ranking.texts import ReadText
from schemas.memory import Level
from substrate.language.text import stems
from tests.builders import key, stored_row

ASKED = stems("Where do I live?")


def hit(text: str, day: int, total: float, *, voice: str = "user", changes: int = 0) -> ComparedHit:
    read = ReadText(text)
    spoken = read.voice._replace(verbs=changes, changes=0, own=True, unreal=False)
    return ComparedHit(day * DAY, voice, total, total / 2, read, spoken, read.stems())


HOMES = (
    hit("I live in Berlin in a small flat by the canal", 1, 1.2),
    hit("since June I live in Lisbon, the flat by the canal is let", 150, 1.0, changes=2),
    hit("the baker has new rolls", 160, 0.5),
)


def compared_hits(hits: Sequence[ComparedHit]) -> Comparison:
    return Comparison([key(str(place)) for place in range(len(hits))], find_changes(hits, ASKED))


def orders(tense: Tense | None) -> list[int]:
    return order_by_currency(compared_hits(HOMES), tense, raising=True)


def test_for_the_present_the_later_of_one_thing_stands_above_the_earlier() -> None:
    assert orders(Tense.PRESENT)[:2] == [1, 0]


def test_of_three_homes_the_last_stands_first_however_likely_each_change_is() -> None:
    comparison = Comparison(
        [key(name) for name in "abc"], [Change(0, 1, 0.08), Change(0, 2, 0.07), Change(1, 2, 0.3)]
    )
    assert order_by_currency(comparison, Tense.PRESENT, raising=True) == [2, 1, 0]


def test_for_the_past_the_earlier_one_stands_above() -> None:
    turned = (HOMES[1], HOMES[0], HOMES[2])
    assert order_by_currency(compared_hits(turned), Tense.FORMER, raising=True)[:2] == [1, 0]


@pytest.mark.parametrize(("likely", "order"), [(0.9, [1, 0]), (0.1, [0, 1])])
def test_where_something_is_to_be_done_only_a_likely_change_counts(likely: float, order: list[int]) -> None:
    comparison = Comparison([key(name) for name in "ab"], [Change(0, 1, likely)])
    assert order_by_currency(comparison, None, raising=True) == order


def test_what_somebody_else_says_is_no_change_of_mine() -> None:
    other = (HOMES[0], hit("since June I live in Lisbon", 150, 1.0, voice="Noor"))
    assert find_changes(other, ASKED) == []


@pytest.mark.parametrize(
    ("change", "is_shown"),
    [
        (Change(0, 2, 0.5), True),
        (Change(1, 0, 0.5), True),
        (Change(1, 2, 0.5), False),
        (Change(1, 2, 0.7), True),
        (Change(0, 1, 0.3), False),
    ],
)
def test_of_what_answers_best_a_less_likely_change_is_shown(change: Change, is_shown: bool) -> None:
    assert bool(Comparison([key(name) for name in "abc"], [change]).held_before()) == is_shown


places = st.integers(0, 11)
changes = st.lists(
    st.builds(Change, places, places, st.floats(0, 1)).filter(lambda change: change.earlier != change.later)
)


@given(changes, st.sampled_from([None, *Tense]), st.booleans())
def test_nothing_is_dropped_or_doubled(found: list[Change], tense: Tense | None, raising: bool) -> None:
    comparison = Comparison([key(str(place)) for place in range(12)], found)
    assert sorted(order_by_currency(comparison, tense, raising=raising)) == list(range(12))


def found(*texts: tuple[str, str]) -> tuple[list[Score], Candidates]:
    """Memories of these ids and texts, best first."""
    candidates = Candidates()
    rows = [
        stored_row({"id": name, "description": text, "speaker": "user", "node_type": "Turn"}, score=0.2)
        for name, text in texts
    ]
    candidates.add(Level.N1, rows, likeness=True)
    return [Score(key(name), 0.5, 1.0, {}) for name, _ in texts], candidates


def test_words_that_differ_by_case_and_punctuation_are_shown_once_with_the_ids_of_the_others() -> None:
    order, candidates = found(
        ("a", "My sister has two dogs."), ("b", "the weather is fine today"), ("c", "my sister has TWO dogs")
    )
    kept, duplicates = fold_duplicates(order, candidates)
    assert [score.key[1] for score in kept] == ["a", "b"]
    assert duplicates == {key("a"): ("c",)}


def test_in_a_question_about_the_present_the_later_memory_comes_first_and_says_until_when_the_other_held() -> None:
    candidates = Candidates()
    texts = {
        "berlin": ("I live in Berlin in a flat by the canal", 1),
        "lisbon": ("since June I live in Lisbon, my flat by the canal in Berlin is let", 150),
    }
    rows = [
        stored_row(
            {"id": name, "description": text, "speaker": "user", "node_type": "Turn", "valid_at": day * DAY},
            score=score,
        )
        for (name, (text, day)), score in zip(texts.items(), (0.3, 0.4), strict=True)
    ]
    candidates.add(Level.N1, rows, likeness=True)
    question = read_question("Where do I live?", datetime(2025, 1, 1, tzinfo=UTC))
    activation = activate(candidates, {Level.N1: Lexicon(memories=2, traces=2)}, Asker(question))
    assert [score.key[1] for score in activation.order] == ["lisbon", "berlin"]
    assert activation.held_before == {key("berlin"): key("lisbon")}


def asked_of(question: str, *texts: tuple[str, int, float]) -> list[str]:
    """The texts, each with its day and its likeness, in the order of the answer."""
    candidates = Candidates()
    rows = [
        stored_row(
            {"id": text, "description": text, "node_type": "Memory", "valid_at": day * DAY}, score=1 - likeness
        )
        for text, day, likeness in texts
    ]
    candidates.add(Level.N1, rows, likeness=True)
    read = read_question(question, datetime(2025, 6, 1, tzinfo=UTC))
    order = activate(candidates, {Level.N1: Lexicon(memories=len(rows), traces=len(rows))}, Asker(read)).order
    return [score.key[1] for score in order]


TWO_THINGS = (
    ("What is the north gate code?", "The north gate code is 4410.", "The south gate code is 9921."),
    ("How long did run 17 take?", "Run 17 took 38 s.", "Run 18 took 41 s."),
    ("What is Ella allergic to?", "Ella is allergic to kiwi.", "Hugo is allergic to penicillin."),
    ("Wann hat Frieda Geige?", "Frieda hat montags Geige.", "Jonathan hat mittwochs Klavier."),
    ("What's the code of room 12?", "Room 12 has the code 1.", "Room 21 has the code 2."),
)


@pytest.mark.parametrize(("question", "asked", "other"), TWO_THINGS)
@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_things_of_one_kind_the_one_asked_for_stands_first(
    question: str, asked: str, other: str, is_first: bool
) -> None:
    days = (1, 32) if is_first else (32, 1)
    order = asked_of(question, (asked, days[0], 0.5), (other, days[1], 0.48))
    assert order == [asked, other]


CHANGES = (
    ("Where do I live?", "I live in Bergen.", "I moved to Oslo."),
    ("Who is our flour supplier?", "The flour supplier is A.", "I switched the flour supplier to B last week."),
    ("What is the gate code?", "The gate code is 4410.", "The gate code is 9921."),
    ("Wann ist Training?", "Training ist dienstags.", "Training wurde auf Mittwoch verschoben."),
)


@pytest.mark.parametrize(("question", "earlier", "later"), CHANGES)
def test_where_one_thing_changed_the_later_stands_first(question: str, earlier: str, later: str) -> None:
    assert asked_of(question, (earlier, 1, 0.5), (later, 60, 0.45)) == [later, earlier]


@pytest.mark.parametrize(
    "later", ["If I moved to Oslo I'd have to learn to ski.", "I moved to Oslo, haha, just kidding"]
)
def test_what_is_not_meant_changes_nothing(later: str) -> None:
    assert asked_of("Where do I live?", ("I live in Bergen.", 1, 0.5), (later, 60, 0.48))[0] == "I live in Bergen."


def test_a_question_that_names_a_time_does_not_prefer_what_came_later() -> None:
    keys = [key("then"), key("later")]
    comparison = Comparison(keys, [Change(0, 1, 0.9)])
    asked = read_question("What happened on 2 March 2025?", datetime(2025, 6, 1, tzinfo=UTC))
    scores = [Score(each, 0.5, 1.0, {}) for each in keys]
    assert order_scores(scores, comparison, asked) == scores


KEYED = (
    ("Where does Ada live?", "Ada lives in Lund.", "Ada lives in the old mill."),
    ("What is the budget of the fair?", "The budget of the fair is 9,800.", "The budget of the fair is 12,000."),
    ("Who is Rose's dentist?", "For teeth Rose is seen by Dr Eng.", "For teeth Rose is seen by Dr Mark."),
    ("Wann ist die Prüfung von Mia?", "Die Prüfung von Mia ist am 4. Mai.", "Die Prüfung von Mia ist am 9. Juni."),
)


def told_of(*texts: str) -> list[ComparedHit]:
    """Hits with these texts, a day after one another, best first."""
    return [
        hit(text, 1 + 30 * place, 1.2 - place / 10)._replace(voice=ReadText(text).voice)
        for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize(("question", "earlier", "later"), KEYED)
def test_the_same_words_with_another_value_are_a_change_and_what_has_another_key_is_none(
    question: str, earlier: str, later: str
) -> None:
    hits = told_of(earlier, later, f"{earlier.rstrip('.')} and more of it, the reviews of Ada, Rose, Mia, fair")
    [change] = find_changes(hits, stems(question))
    assert (change.earlier, change.later) == (0, 1)
    assert change.probability >= KEYED_CHANGE


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("What does Ada like?", "Ada likes figs in autumn.", "Ada likes plums in autumn."),
        ("What does Ada play?", "On Sundays Ada plays chess.", "On Sundays Ada plays bridge too."),
        ("Who leads the kiln?", "The north kiln is led by Hugo.", "The north kiln is supplied by Gower."),
        ("Where does Will live?", "In Bergen lives Will.", "In Bergen lives Mark."),
        ("Where does Ada live?", "Where in Lund does Ada live?", "Where in Graz does Ada live?"),
        ("Where does Will live?", "The sister of Will lives in Oslo.", "The sister of Mark lives in Oslo."),
    ],
)
def test_lists_other_relations_other_people_and_questions_have_no_key(question: str, one: str, other: str) -> None:
    earlier, later = told_of(one, other)
    assert not have_one_key(earlier, later, stems(question))


def test_of_what_was_told_in_the_same_second_none_is_later() -> None:
    earlier, later = told_of("Ada lives in Lund.", "Ada lives in Graz.")
    assert find_changes([earlier, later._replace(at=earlier.at)], stems("Where does Ada live?")) == []
