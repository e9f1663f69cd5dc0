"""Each channel alone, by its law; and the table that runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.lexicon import Entity, Lexicon
from orchestration.question.reading import Question, Request, read_question
from orchestration.question.time_expressions import Seeking
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.ranking.channels import (
    CHANNELS,
    INSTRUCTIONS_KEPT,
    ORDERS,
    Column,
    Table,
    fill,
    final_order,
    instruction_score,
    likeness_score,
    opening_score,
    own_score,
    seeking_score,
    session_score,
    table_of,
    time_score,
    word_score,
)
from orchestration.ranking.consciousness_score import Score
from schemas.memory import GraphKey, Level
from schemas.temporal import to_instant
from tests.builders import a_memory, key, stored_row

NOW = datetime(2023, 7, 12, tzinfo=UTC)
N1 = Level.N1
HOUR = 3_600_000_000
CAROLINE = Entity("person:caroline", "Caroline", True)


def of(*memories: Candidate) -> Candidates:
    return Candidates({memory.key: memory for memory in memories})


def asked(
    candidates: Candidates,
    question: Question,
    *,
    lexicon: Lexicon | None = None,
    base: Mapping[Key, float] | None = None,
    parts: Mapping[str, Column] | None = None,
) -> Table:
    table = table_of(question, candidates, {N1: lexicon or Lexicon()}, CHANNEL_WEIGHTS)
    of_each = base or {}
    return replace(table, base=[of_each.get(key, 0.0) for key in table.keys], parts=dict(parts or {}))


def by_key(table: Table, column: Column) -> dict[Key, float]:
    return {key: score for key, score in zip(table.keys, column, strict=False) if score is not None}


def parts_of(table: Table, name: str) -> dict[str, float]:
    fill(table)
    return table.row(table.keys.index(key(name)))


@given(st.lists(st.none() | st.floats(-1.0, 1.0), min_size=1, max_size=12))
def test_likeness_is_stretched_to_the_weight(likenesses: list[float | None]) -> None:
    candidates = of(*(a_memory(f"{place:02}", likeness=likeness) for place, likeness in enumerate(likenesses)))
    table = asked(candidates, Question("x"))
    scores = by_key(table, likeness_score(table, 0.5))
    known = {likeness for likeness in likenesses if likeness is not None}
    assert all(0.0 <= score <= 0.5 for score in scores.values())
    for memory in candidates.memories.values():
        if memory.likeness is None:
            assert scores[memory.key] == 0.0
        elif memory.likeness == max(known):
            assert scores[memory.key] == pytest.approx(0.5)


def test_the_name_of_a_speaker_is_no_word_of_a_turn_but_is_one_of_a_note() -> None:
    turn = a_memory("turn", speaker="Melanie", description="Thanks, Caroline!")
    note = a_memory("note", name="About Caroline", description="a singer")
    candidates = of(turn, note)
    lexicon = Lexicon(9, 9, frequencies={"caroline": 2}, entities=(CAROLINE,))
    assert word_score(asked(candidates, Question("Caroline"), lexicon=lexicon), 0.5) == [0.0, 0.5]


def test_words_count_for_less_where_no_candidate_has_most_of_them_and_likeness_leads() -> None:
    alike = a_memory("alike", description="I play the drums", likeness=0.4)
    by_chance = a_memory("by chance", description="We swam in the river in its youth", likeness=0.3)
    candidates = of(alike, by_chance)
    question = Question("percussion in one's youth")
    unknown = Lexicon(99, 99, frequencies={"percussion": 0, "youth": 9})
    table = asked(candidates, question, lexicon=unknown)
    fill(table)
    assert table.known == 0.0  # the text that shares a word is the one less like the question
    relevance = table.relevance()
    assert relevance[0] > relevance[1]
    also_alike = a_memory("also alike", description="She was a drummer in her youth", likeness=0.5)
    agreeing = asked(of(alike, by_chance, also_alike), question, lexicon=unknown)
    fill(agreeing)
    assert 0.0 < agreeing.known < 0.6
    all_known = asked(candidates, question, lexicon=Lexicon(99, 99, frequencies={"youth": 9}))
    assert word_score(all_known, 0.5) == [0.0, 0.5]
    assert all_known.known == 1.0
    without_vectors = asked(of(a_memory("by chance", description="in its youth")), question, lexicon=unknown)
    assert word_score(without_vectors, 0.5) == [0.5]


def test_a_candidate_within_the_named_time_counts_more() -> None:
    question = read_question("Who came on 7 May 2023?", NOW)
    within, later = (to_instant(datetime(2023, month, 7, 12, tzinfo=UTC)) for month in (5, 6))
    there, elsewhere = a_memory("there", valid_at=within), a_memory("elsewhere", valid_at=later)
    unlike, begun = a_memory("unlike", valid_at=within), a_memory("begun", valid_at=within)
    begun.begun = True
    candidates = of(there, elsewhere, unlike, begun)
    parts = {"words": [0.1, 0.1, 0.0, 0.0]}
    assert time_score(asked(candidates, question, parts=parts), 0.2) == [0.2, None, None, 0.2]
    assert time_score(asked(candidates, Question("x"), parts=parts), 0.2) == ()


@pytest.mark.parametrize(
    ("speaker", "question", "score"),
    [
        ("Caroline", Question("What did Caroline do?"), CHANNEL_WEIGHTS.speaker),
        ("Melanie", Question("What did Caroline do?"), None),
        ("user", Question("my plan", own=True), CHANNEL_WEIGHTS.own),
        ("assistant", Question("my plan", own=True), None),
        ("user", Question("the plan"), None),
        ("assistant", Question("did you tell me", own=True, others=True), CHANNEL_WEIGHTS.other),
        ("user", Question("did you tell me", own=True, others=True), None),
        ("user", Question("a summary of mine", own=True, whole=True), None),
    ],
)
def test_a_speaker_counts_by_whose_words_are_asked_for(
    speaker: str, question: Question, score: float | None
) -> None:
    candidates = of(a_memory("turn", speaker=speaker, description="I go"))
    lexicons: dict[GraphKey, Lexicon] = {N1: Lexicon(entities=(CAROLINE,))}
    parts = parts_of(table_of(question, candidates, lexicons, CHANNEL_WEIGHTS), "turn")
    assert parts.get("speaker") == score


def test_in_a_question_that_is_not_about_oneself_all_but_the_words_of_the_answering_side_count_more() -> None:
    asked_for, answer = a_memory("asked", speaker="user"), a_memory("answer", speaker="assistant")
    note, unlike = a_memory("note"), a_memory("unlike", speaker="user")
    base = {asked_for.key: 0.2, answer.key: 0.9, note.key: 0.1, unlike.key: 0.0}

    def favoured(*memories: Candidate, lexicon: Lexicon | None = None) -> dict[Key, float]:
        table = asked(of(*memories), Question("the limit"), lexicon=lexicon, base=base)
        return by_key(table, own_score(table, 0.5))

    assert favoured(asked_for, answer, note, unlike) == {asked_for.key: 0.5, note.key: 0.5}
    assert favoured(asked_for, note) == {}
    assert favoured(asked_for, answer, lexicon=Lexicon(entities=(CAROLINE,))) == {}


@pytest.mark.parametrize(
    ("speaker", "text", "score"),
    [
        ("Caroline", "I went to the lake", CHANNEL_WEIGHTS.of_self),
        ("Caroline", "Das war mein See", CHANNEL_WEIGHTS.of_self),
        ("Caroline", "That sounds great, Melanie!", None),
        ("Melanie", "I went to the lake", None),
    ],
)
def test_what_a_named_speaker_says_of_themselves_counts_more(speaker: str, text: str, score: float | None) -> None:
    candidates = of(a_memory("turn", speaker=speaker, description=text))
    lexicons: dict[GraphKey, Lexicon] = {N1: Lexicon(entities=(CAROLINE,))}
    table = table_of(Question("Where did Caroline go?"), candidates, lexicons, CHANNEL_WEIGHTS)
    assert parts_of(table, "turn").get("of_self") == score


def test_the_instructions_that_fit_best_are_lifted_to_the_most_relevant_memory_of_a_request() -> None:
    rule = "Always answer me in French."
    own = [a_memory(f"{n}", speaker="user", description=rule, rule=rule) for n in range(9)]
    others = [
        a_memory("said", speaker="assistant", description="Always tell me."),
        a_memory("note", description="Never tell me so."),
        a_memory("plain", speaker="user", description="Answer in French."),
    ]
    candidates = of(*own, *others)
    base = {key: float(place) for place, key in enumerate(candidates.memories)}
    parts = {"words": list(base.values())}
    greatest = max(base.values())
    to_do = asked(candidates, Question("help me", request=Request.SURE), base=base, parts=parts)
    fitting = [memory.key for memory in own[-INSTRUCTIONS_KEPT:]]
    expected = {key: max(0.5, greatest - base[key]) for key in fitting}
    assert by_key(to_do, instruction_score(to_do, 0.5)) == expected
    assert instruction_score(asked(candidates, Question("how many"), base=base, parts=parts), 0.5) == ()


def test_the_chosen_instructions_stand_after_the_first_that_stand_out() -> None:
    memories = [a_memory(name) for name in ("a", "b", "c")]
    candidates = of(*memories, a_memory("wish", rule="Answer in French."), a_memory("d"))
    scores = [
        Score(memory, activation, activation, {})
        for memory, activation in zip(candidates.memories, (1.0, 0.9, 0.8, 0.7, 0.1), strict=True)
    ]
    table = asked(candidates, Question("help me"), parts={"wish": [None, None, None, 0.5, None]})
    order = [score.key for score in final_order(scores, table)]
    assert order == [key(name) for name in ("a", "b", "wish", "c", "d")]


def test_a_session_shares_the_mean_of_its_two_best() -> None:
    began = {"a": 0, "b": HOUR, "c": 2 * HOUR, "alone": 9 * HOUR}
    candidates = of(*(a_memory(name, valid_at=at) for name, at in began.items()))
    base = dict(zip(candidates.memories, (0.8, 0.0, 0.4, 0.6), strict=True))
    scores = session_score(asked(candidates, Question("x"), base=base), 1.0)
    assert scores == pytest.approx([0.6, 0.6, 0.6, 0.3])


def test_what_the_asker_opened_wins_in_a_question_about_an_order() -> None:
    said = [("user", 0), ("assistant", 1), ("user", 2), ("user", 9 * HOUR)]
    turns = [
        a_memory(str(place), node_type="Turn", valid_at=at, speaker=speaker, description="a new roof")
        for place, (speaker, at) in enumerate(said)
    ]
    candidates = of(*turns)
    about_order = asked(candidates, Question("in which order", orders=True))
    assert opening_score(about_order, 1.0) == [1.5, None, pytest.approx(1 / 3 + 0.5), 1.5]
    assert opening_score(asked(candidates, Question("x")), 1.0) == ()


def test_in_a_question_about_an_order_nothing_spreads_within_a_session() -> None:
    candidates = Candidates()
    said = {"node_type": "Turn", "description": "a new roof"}
    turns = [{"id": who, "speaker": who, **said} for who in ("user", "assistant")]
    candidates.add(N1, [stored_row(turn, score=0.5) for turn in turns], likeness=True)
    table = asked(candidates, read_question("In which order did I build?", NOW))
    assert parts_of(table, "user")["opening"] >= CHANNEL_WEIGHTS.opening
    assert "opening" not in parts_of(table, "assistant")
    assert table.parts["sitting"] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("question", "less"),
    [
        (Question("my plan", own=True), True),
        (Question("did you tell me", own=True, others=True), False),
    ],
)
def test_less_spreads_to_what_the_other_side_said_where_the_words_of_the_asker_are_asked_for(
    question: Question, less: bool
) -> None:
    for speaker, answered in (("assistant", True), ("Tom", False)):
        candidates = of(a_memory("said", speaker="user"), a_memory("answer", speaker=speaker))
        weights = asked(candidates, question).weights
        expected = (CHANNEL_WEIGHTS.own_gain, 0.0) if less and answered else (0.85, 0.3)
        assert (weights.gain, weights.answer) == expected
    named = asked(candidates, question, lexicon=Lexicon(entities=(CAROLINE,))).weights
    assert named.gain == CHANNEL_WEIGHTS.gain


@pytest.mark.parametrize(("seeking", "scores"), [("latest", [0.5, 1.0, None]), ("earliest", [1.0, 0.5, None])])
def test_of_those_about_it_the_latest_or_earliest_fits_best(seeking: Seeking, scores: Column) -> None:
    days = {"old": 0, "new": 9, "newer elsewhere": 20}
    candidates = of(*(a_memory(name, valid_at=day * 24 * HOUR) for name, day in days.items()))
    base = dict(zip(candidates.memories, (0.9, 1.0, 0.1), strict=True))
    assert seeking_score(asked(candidates, Question("x", seeking=seeking), base=base), 1.0) == scores
    assert seeking_score(asked(candidates, Question("x"), base=base), 1.0) == ()


def test_every_channel_has_a_weight_and_every_weight_a_channel() -> None:
    no_row_of_their_own = {"named_apart", "answer", "own_gain"}
    in_table = ({channel.weight for channel in CHANNELS} | ORDERS.keys()) - {"words"}
    assert in_table == {field.name for field in fields(ChannelWeights)} - no_row_of_their_own
