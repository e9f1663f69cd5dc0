"""Abstention: the area under the ROC curve, the report, and the fit of the weights."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import numpy as np
import pytest

from benchmarks.abstention import Outcome, area, reliability, report
from benchmarks.calibration import calibrate, fit, written
from benchmarks.chat_answers import ANSWERABLE, GIBBERISH, NEVER_SAID
from benchmarks.rated_questions import Rated, as_young
from orchestration.question.reading import read_question
from orchestration.ranking.confidence import PLAIN, WORDS_ALONE, Answer, Evidence, Hit, weigh_stems

NOW = datetime(2026, 1, 10, tzinfo=UTC)


def rated(kind: str, chat: str, text: str, *hits: Hit) -> Rated:
    question = read_question(text, NOW)
    evidence = Evidence(question, weigh_stems(question, {}, 200, ()), hits, 200)
    return Rated("chats", chat, kind, evidence, "some-model", holds=tuple(kind == ANSWERABLE for _ in hits))


def outcome(kind: str, confidence: float) -> Outcome:
    return Outcome(rated(kind, "a", "Where?"), Answer(confidence, fits=confidence > 0.5))


def test_the_area_counts_pairs_in_the_right_order_and_ties_by_half() -> None:
    assert area([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert area([0.1], [0.9]) == 0.0
    assert area([0.5, 0.9], [0.5]) == 0.75


def test_the_report_has_a_line_for_each_kind_with_its_count() -> None:
    lines = list(report([outcome(ANSWERABLE, 0.9), outcome(NEVER_SAID, 0.2), outcome(GIBBERISH, 0.1)]))
    assert "chats: 1 answerable against 1 never said: AUROC confidence 1.000, BM25 0.500, cosine 0.500" in lines
    assert "chats: 1 gibberish: empty focus 1.000" in lines


def test_reliability_is_the_share_of_answerable_questions_in_each_tenth() -> None:
    lines = list(reliability([outcome(ANSWERABLE, 0.95), outcome(NEVER_SAID, 1.0), outcome(GIBBERISH, 0.0)]))
    assert lines[1].split() == ["0.0", "to", "0.1", "1", "0.000"]
    assert lines[-1].split() == ["0.9", "to", "1.0", "2", "0.500"]


def test_the_fit_finds_the_feature_that_tells_and_not_the_one_that_does_not() -> None:
    chance = np.random.default_rng(1)
    features = chance.normal(size=(4000, 2))
    answerable = (chance.random(4000) < 1 / (1 + np.exp(-2 * features[:, 0]))).astype(float)
    fitted = fit(features, answerable, np.full(4000, 10.0))
    assert fitted.weights[1] == pytest.approx(2.0, abs=0.3)
    assert fitted.weights[2] == pytest.approx(0.0, abs=0.2)
    assert fitted.probabilities(np.array([[3.0, 0.0]]))[0] > 0.95


def test_a_young_store_keeps_what_answers() -> None:
    hits = [Hit(f"text {number}", 0.1) for number in range(10)]
    asked = rated(ANSWERABLE, "a", "Where?", *hits)
    asked = replace(asked, holds=(False,) * 9 + (True,))
    young = as_young(asked, 3, Random(1))
    assert young is not None
    assert (len(young.evidence.hits), young.memories, young.evidence.memories) == (3, 3, 3)
    assert hits[9] in young.evidence.hits
    assert as_young(rated(ANSWERABLE, "a", "Where?"), 3, Random(1)) is None


def test_calibration_writes_tables_that_can_be_read_and_keeps_those_of_other_models() -> None:
    asked = [
        each
        for chat in ("a", "b", "c")
        for number in range(10)
        for each in (
            rated(ANSWERABLE, chat, "Where is the dentist?", Hit(f"The dentist is in Rose Street {number}", 0.6)),
            rated(GIBBERISH, chat, f"flim quost {number}", Hit("It rained", 0.1)),
        )
    ]
    named = [replace(each, evidence=replace(each.evidence, speakers=frozenset(("maria",)))) for each in asked]
    tables = calibrate([*asked, *named])
    assert tables.keys() == {"some-model", WORDS_ALONE}
    assert {each.answer.fits for each in tables["some-model"][PLAIN].outcomes if not each.rated.is_answerable} == {
        False
    }
    known = {"other": {PLAIN: {"intercept": 1.0, "threshold": 0.2, "terms": {"likeness": [0.1, 0.2, 0.3]}}}}
    models = tomllib.loads(written(tables, known))["models"]
    assert models["other"] == known["other"]
    assert models.keys() == {"some-model", WORDS_ALONE, "other"}
