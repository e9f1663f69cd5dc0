"""What a question says beside its content, and what a memory has from it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.question.lexicon import Entity, Lexicon
from orchestration.question.reading import Question, is_asking, is_wish, read, without_names
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.breadth import CHOSEN, spread_out
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.channels import FUSION, WISHES_KEPT, Fusion, said, timed, wished
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.novelty import opened
from orchestration.ranking.sessions import of_sittings
from schemas.memory import Level
from schemas.temporal import to_instant
from tests.unit.orchestration.ranking.test_activation import a_memory, stored_link, stored_row

NOW = datetime(2023, 7, 12, tzinfo=UTC)
N1 = Level.N1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("When is my deadline?", {"own", "wishes"}),
        ("Could you show me how to log in?", {"own", "wishes"}),
        ("How many days did I need?", {"own"}),
        ("What did you recommend to me?", {"own", "others"}),
        ("In which order did we go?", {"own", "broad", "orders"}),
        ("List what I brought up, in order", {"own", "broad", "orders"}),
        ("What did Ann change in order to win?", set()),
        ("Summarize the timeline of my project", {"own", "broad", "whole"}),
        ("Give me a summary of my project", {"own", "broad", "whole"}),
        ("What did Caroline research?", set()),
    ],
)
def test_a_question_is_read(text: str, said: set[str]) -> None:
    question = read(text, NOW)
    flags = ("own", "others", "broad", "whole", "orders", "wishes")
    assert {name for name in flags if getattr(question, name)} == said


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("What did Caroline research?", "What did research?"),
        ("What is Caroline's identity?", "What is identity?"),
        ("What did caroline and Carolines dog do?", "What did and Carolines dog do?"),
        ("Caroline?", "Caroline?"),
        ("What did Ann do?", "What did Ann do?"),
    ],
)
def test_a_question_without_a_name_is_what_else_it_says(text: str, left: str) -> None:
    assert without_names(text, {"Caroline"}) == left
    assert without_names(text, ()) == text


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Always format dates in month-day-year style when I ask about deadlines.", True),
        ("I'm fine. Never use tabs.", True),
        ("I prefer e-books for their portability", True),
        ("I'd prefer tea", True),
        ("We always go there", False),
        ("I never said that", False),
    ],
)
def test_a_standing_wish_is_told_from_a_habit(text: str, wish: bool) -> None:
    assert is_wish(text) == wish


def test_a_turn_asks_when_it_ends_with_a_question() -> None:
    assert is_asking("That's great! What's your favourite?")
    assert not is_asking(f"Really? {'I went on and on. ' * 10}")


@pytest.mark.parametrize(
    ("speaker", "question", "has"),
    [
        ("Caroline", Question("What did Caroline do?"), FUSION.speaker),
        ("Melanie", Question("What did Caroline do?"), 0.0),
        ("user", Question("my plan", own=True), FUSION.own),
        ("assistant", Question("my plan", own=True), 0.0),
        ("user", Question("the plan"), 0.0),
        ("assistant", Question("did you tell me", own=True, others=True), FUSION.other),
        ("user", Question("did you tell me", own=True, others=True), 0.0),
        ("user", Question("a summary of mine", own=True, whole=True), 0.0),
    ],
)
def test_who_said_it_counts_by_whose_words_are_asked_for(speaker: str, question: Question, has: float) -> None:
    memory = a_memory("turn", speaker=speaker, description="I go")
    assert said(memory, question, {"caroline"}, FUSION) == has


def test_the_standing_wishes_nearest_to_it_count_where_something_is_to_be_done() -> None:
    told = [a_memory(f"{n}", speaker="user", description="Always answer in French.") for n in range(9)]
    others = [
        a_memory("said", speaker="assistant", description="Always wear a hat."),
        a_memory("note", description="Never so."),
        a_memory("plain", speaker="user", description="Answer in French."),
    ]
    memories = {memory.key: memory for memory in (*told, *others)}
    relevance = {key: float(place) for place, key in enumerate(memories)}
    asked = Question("help me", own=True, wishes=True)
    nearest = [memory.key for memory in told[-WISHES_KEPT:]]
    assert wished(memories, relevance, asked, FUSION) == dict.fromkeys(nearest, FUSION.wish)
    assert wished(memories, relevance, Question("how many have I", own=True), FUSION) == {}


def test_what_lies_in_the_time_that_is_named_counts_more() -> None:
    question = read("Who came on 7 May 2023?", NOW)
    there = a_memory("there", valid_at=to_instant(datetime(2023, 5, 7, 12, tzinfo=UTC)))
    elsewhere = a_memory("elsewhere", valid_at=to_instant(datetime(2023, 6, 7, tzinfo=UTC)))
    assert (timed(there, question, FUSION), timed(elsewhere, question, FUSION)) == (FUSION.time, 0.0)


def test_the_name_of_a_speaker_is_no_word_of_a_turn_but_is_one_of_a_note() -> None:
    found = Candidates()
    turn = {"id": "turn", "speaker": "Melanie", "description": "Thanks, Caroline!"}
    note = {"id": "note", "name": "About Caroline", "description": "a singer"}
    found.add(N1, [stored_row(turn, score=0.5), stored_row(note, score=0.5)], likeness=True)
    lexicon = Lexicon(9, 9, frequencies={"caroline": 2}, entities=(Entity("person:caroline", "Caroline", True),))
    parts = activate(found, {N1: lexicon}, Asker("Caroline", question=Question("Caroline"))).parts
    assert parts[N1, "turn", 1]["words"] == 0.0
    assert parts[N1, "note", 1]["words"] > 0.0


def test_what_follows_a_turn_that_asks_has_more_of_it() -> None:
    def gained(description: str) -> float:
        found = Candidates()
        found.add(N1, [stored_row({"id": "one", "description": description}, score=0.1)], likeness=True)
        link = stored_link("next")
        found.add(N1, [stored_row({"id": "two"}, link, hop=1, ends=("one", "two"))], likeness=False)
        return activate(found, {N1: Lexicon()}, Asker("x")).parts[N1, "two", 1]["spread"]

    assert gained("Where was it?") == pytest.approx(gained("It was there.") + FUSION.answer * FUSION.likeness)


def test_what_was_said_in_one_sitting_shares_its_two_best() -> None:
    hour = 3_600_000_000
    began = {"a": 0, "b": hour, "c": 2 * hour, "alone": 9 * hour}
    memories = {memory.key: memory for memory in (a_memory(name, valid_at=at) for name, at in began.items())}
    relevance = dict(zip(memories, (0.8, 0.0, 0.4, 0.6), strict=True))
    assert list(of_sittings(memories, relevance).values()) == [pytest.approx(x) for x in (0.6, 0.6, 0.6, 0.3)]


def test_a_channel_without_weight_adds_nothing() -> None:
    memory = a_memory("turn", speaker="user", description="I go")
    assert said(memory, Question("help me", own=True), (), Fusion(own=0.0)) == 0.0


def test_a_broad_answer_is_spread_over_time() -> None:
    memories = {memory.key: memory for memory in (a_memory(f"{n:02}", valid_at=n) for n in range(60))}
    order = [Score(key, 1.0, 1.0 - place / 600, {}) for place, key in enumerate(memories)]
    broad = spread_out(order, memories, 0.5)
    assert sorted(broad) == sorted(order)
    assert broad[0] == order[0]
    assert int(broad[1].key[1]) > 5
    assert spread_out(order, memories, 0.0) == order
    assert list(broad[CHOSEN:]) == [s for s in order if s in broad[CHOSEN:]]


def test_what_says_other_words_than_the_speakers_last_turn_opens_an_aspect() -> None:
    said = [("user", "I paint walls"), ("assistant", "red?"), ("user", "painting the walls"), ("user", "red roof")]
    turns = [
        a_memory(str(place), valid_at=place, speaker=speaker, description=text)
        for place, (speaker, text) in enumerate(said)
    ]
    memories = {turn.key: turn for turn in turns}
    asked = [turn.key for turn in reversed(turns) if turn.get("speaker") == "user"]
    assert opened(memories, asked) == {turns[0].key: 1.0, turns[2].key: 0.0, turns[3].key: 1.0}


def test_an_order_is_asked_of_those_whose_words_count() -> None:
    found = Candidates()
    turns = [{"id": who, "speaker": who, "description": "a new roof"} for who in ("user", "assistant")]
    found.add(N1, [stored_row(turn, score=0.5) for turn in turns], likeness=True)
    text = "In which order did I build?"
    parts = activate(found, {N1: Lexicon()}, Asker(text, question=read(text, NOW))).parts
    assert parts[N1, "user", 1]["opening"] == FUSION.opening
    assert "opening" not in parts[N1, "assistant", 1]
    assert {part["sitting"] for part in parts.values()} == {0.0}
