"""How well the memories that were found answer a question."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.lexicon import Entity, Lexicon
from orchestration.question.reading import read_question
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.confidence import (
    FEATURES,
    HITS,
    NAMED,
    PLAIN,
    WORDS_ALONE,
    Answer,
    Evidence,
    EvidenceHit,
    Weights,
    gather_evidence,
    rate_answer,
    read_features,
    read_tables,
    weigh_stems,
)
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.texts import ReadText
from schemas.memory import GraphKey
from tests.builders import N1, stored_row

MODEL = "all-MiniLM-L6-v2"
NOW = datetime(2026, 1, 10, tzinfo=UTC)
DENTIST = EvidenceHit("The dentist is in Rose Street. I go there on 3 May.", 0.62, "user")
SMALL_TALK = EvidenceHit("It rained all day and I read a novel.", 0.11, "user")


def evidence(
    text: str, *hits: EvidenceHit, memories: int = 200, speakers: frozenset[str] = frozenset()
) -> Evidence:
    question = read_question(text, NOW)
    counts = {word: sum(word in hit.text.lower() for hit in hits) for word in text.lower().strip("?").split()}
    return Evidence(question, weigh_stems(question, counts, memories, speakers), hits, memories, speakers)


def confidence(text: str, *hits: EvidenceHit, model: str = MODEL) -> float:
    return rate_answer(evidence(text, *hits), model).confidence


@pytest.mark.parametrize("text", ["!!!", "{}", "…"])
def test_nothing_fits_a_text_without_a_word(text: str) -> None:
    assert rate_answer(evidence(text, DENTIST), MODEL) == Answer(0.0, fits=False)


@pytest.mark.parametrize("question", ["yesterday", "gestern", "on 9 January 2026"])
@pytest.mark.parametrize("model", [MODEL, WORDS_ALONE])
def test_what_began_in_the_time_that_is_asked_for_alone_fits(question: str, model: str) -> None:
    began = int(datetime(2026, 1, 9, 12, tzinfo=UTC).timestamp() * 1_000_000)
    found = EvidenceHit("It leaves from the north quay.", 0.01, began=began)
    assert rate_answer(evidence(question, found, memories=1), model).fits
    assert not rate_answer(evidence(question, found._replace(began=1), memories=1), MODEL).fits


@pytest.mark.parametrize(
    "question", ["What do you know about me?", "What did we discuss?", "Was weißt du über mich?"]
)
def test_whatever_is_known_fits_a_question_that_names_no_subject(question: str) -> None:
    assert rate_answer(evidence(question, SMALL_TALK, memories=1), MODEL).fits


def test_function_words_in_two_languages_and_names_of_speakers_weigh_nothing() -> None:
    german = read_question("Wann hat die Werkstatt auf?", NOW)
    assert weigh_stems(german, {}, 10, ()).keys() == {"werkstatt"}
    named = read_question("What did Maria cook?", NOW)
    assert weigh_stems(named, {}, 10, ("maria",)).keys() == {"cook"}


def test_evidence_is_the_best_hits_with_words_of_their_own() -> None:
    rows = [
        stored_row({"id": "s", "node_type": "Session", "description": "day one"}),
        stored_row({"id": "t", "node_type": "Turn", "speaker": "Maria", "description": "I adopted a cat."}),
        *(stored_row({"id": f"n{number}", "name": "note", "description": "text"}) for number in range(30)),
    ]
    candidates = Candidates()
    candidates.add(N1, rows, likeness=True)
    order = [Score(key, 1.0, 1.0, {}) for key in candidates.memories]
    lexicons: dict[GraphKey, Lexicon] = {
        N1: Lexicon(memories=40, frequencies={"cat": 1}, entities=(Entity("p", "Maria", speaks=True),))
    }
    found = gather_evidence(read_question("Which cat?", NOW), candidates, order, lexicons)
    assert len(found.hits) == HITS
    assert found.hits[0][:4] == EvidenceHit("I adopted a cat.", 1.0, "maria", 1)[:4]
    assert found.hits[1].text == "note text"
    assert (found.memories, found.speakers) == (40, frozenset(("maria",)))


def test_each_table_has_terms_that_are_read_and_a_threshold_that_empties_little() -> None:
    tables = read_tables()
    assert tables.keys() == {(model, kind) for model in (MODEL, WORDS_ALONE) for kind in (PLAIN, NAMED)}
    for (model, _), weights in tables.items():
        assert weights.terms.keys() <= FEATURES.keys()
        assert 0.0 < weights.threshold < 0.5
        assert (model == WORDS_ALONE) == ("likeness" not in weights.terms)


TEO = EvidenceHit("Teo is my grandson, he is in the fourth form.", 0.4, "dolores")


def test_what_a_name_shares_with_a_memory_says_nothing_of_what_is_asked_about_it() -> None:
    form = EvidenceHit("Which form is that?", 0.2, "hanif")
    asked = read_features(evidence("Which form is Teo in?", TEO))
    assert asked["subject"] == 1.0
    assert read_features(evidence("What surname does Teo have?", TEO))["subject"] == 0.0
    other = EvidenceHit("My surname is Okafor.", 0.3, "iris")
    assert read_features(evidence("What surname does Teo have?", TEO, other))["subject"] == 0.0
    assert read_features(evidence("Which form is it?", form))["subject"] == 1.0
    assert read_features(evidence("Who is Teo?", TEO))["subject"] == 0.5


@pytest.mark.parametrize("mark", ["?", "？", "? "])
def test_a_memory_that_only_asks_is_heard_as_a_question_where_it_is_the_best(mark: str) -> None:
    asking = EvidenceHit(f"Does the dentist in Rose Street take cards{mark}", 0.7, "user")
    assert read_features(evidence("Where is the dentist?", asking, DENTIST))["asks"] == 1.0
    assert read_features(evidence("Where is the dentist?", DENTIST, asking))["asks"] == 0.0


def test_a_memory_is_of_whom_the_question_names_where_they_say_it_or_it_names_them() -> None:
    def lead(*hits: EvidenceHit) -> float:
        return read_features(evidence("What does Ana sell?", *hits, speakers=frozenset(("ana",))))["theirs"]

    own = EvidenceHit("I sell bread.", 0.5, "ana")
    said_of = EvidenceHit("Ana sells bread.", 0.5, "ben")
    of_another = EvidenceHit("I sell bread.", 0.5, "ben")
    assert lead(own) > 0.0
    assert lead(said_of) > 0.0
    assert lead(of_another) < 0.0
    assert lead(own, said_of) > lead(own, of_another)


def test_the_confidence_in_what_was_said_is_greater_than_in_what_was_not() -> None:
    assert confidence("Which form is Teo in?", TEO) > confidence("What surname does Teo have?", TEO) + 0.1


def test_the_probability_is_that_of_a_logistic_regression() -> None:
    weights = Weights({"likeness": 20.0}, intercept=-9.0, threshold=0.5)
    assert weights.probability({"likeness": 0.45}) == pytest.approx(0.5)
    assert weights.probability({"likeness": 1e9}) == 1.0
    assert weights.probability({"likeness": -1e9}) == pytest.approx(0.0)


texts = st.text(max_size=300)
hits = st.lists(
    st.builds(
        EvidenceHit,
        texts,
        st.none() | st.floats(-1, 1),
        st.sampled_from(("", "user", "maria")),
        read=st.none() | texts.map(ReadText),
    ),
    max_size=5,
)


@given(texts, hits, st.integers(0, 10**9))
def test_any_question_about_anything_has_a_confidence_in_its_range(
    text: str, found: list[EvidenceHit], memories: int
) -> None:
    asked = replace(evidence(text, *found, memories=memories), speakers=frozenset(("maria",)))
    answer = rate_answer(asked, MODEL)
    assert 0.0 <= answer.confidence <= 1.0
    assert answer == rate_answer(asked, MODEL)


@pytest.mark.parametrize("text", ["context on the dentist", "the dentist, teeth", "what's new with the dentist?"])
def test_a_wish_for_context_is_served_by_what_shares_a_word_with_it(text: str) -> None:
    answer = rate_answer(evidence(text, DENTIST), MODEL)
    assert (answer.fits, answer.wished) == (True, True)
