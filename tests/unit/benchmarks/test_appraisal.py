from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from benchmarks.appraisal import (
    SENTENCES,
    Count,
    Sentence,
    ask,
    band,
    count,
    count_bands,
    count_silent,
    main,
    read_sentences,
    same_goal,
    table,
    wrong,
)
from substrate.emotions import VOCABULARY

TEXT = "I want to sell the boat, and I am sad."


@dataclass(frozen=True)
class Told:
    emotions: Mapping[str, float] = field(default_factory=dict)
    result: str | None = None
    resolution_state: str | None = None
    goal: str | None = None
    rule: str | None = None
    importance: float | None = None
    step: str | None = None
    tells_solution: bool = False


def sentence(open_fields: tuple[str, ...] = (), bands: Mapping[str, str] | None = None, **labels: str) -> Sentence:
    said = {name: frozenset((value,)) for name, value in labels.items()}
    if bands:
        said["emotions"] = frozenset(bands)
    return Sentence("t1", "en", "plain", "own", TEXT, said, bands or {}, frozenset(open_fields))


def counts(labelled: Sentence, told: Told) -> dict[str, Count]:
    return count(ask([labelled], lambda _text, _voice: told))


def test_a_wrong_value_is_neither_precise_nor_recalled() -> None:
    one = counts(sentence(result="negative"), Told(result="positive"))["result"]
    assert (one.precision, one.recall) == (0.0, 0.0)


def test_what_is_left_empty_costs_recall_alone() -> None:
    one = counts(sentence(step="Action"), Told())["step"]
    assert (one.precision, one.recall) == (None, 0.0)


def test_what_is_filled_without_a_label_costs_precision_alone() -> None:
    one = counts(sentence(), Told(tells_solution=True))["tells_solution"]
    assert (one.precision, one.recall) == (0.0, None)


def test_a_field_in_which_readers_differ_is_not_counted() -> None:
    assert counts(sentence(("step",), step="Action"), Told(step="Learning"))["step"] == Count()


def test_emotions_count_one_by_one_in_normal_form() -> None:
    labelled = sentence(bands={"sadness": "low", "relief": "high"})
    assert counts(labelled, Told({"sad": 0.2, "anger": 0.5, "joy": 0.0}))["emotions"] == Count(2, 2, 1)


def test_importance_and_rules_are_right_when_there_is_one() -> None:
    found = counts(sentence(rule="told", importance="told"), Told(rule="any words", importance=0.0))
    assert (found["rule"], found["importance"]) == (Count(1, 1, 1), Count(1, 0, 0))


def test_all_is_the_sum_of_the_fields() -> None:
    labelled = sentence(bands={"sadness": "low"}, goal="sell the boat")
    assert counts(labelled, Told({"sadness": 0.2}, goal="buy bread", step="Action"))["all"] == Count(2, 3, 1)


@pytest.mark.parametrize(
    ("phrase", "same"),
    [
        ("sell the boat", True),
        ("to sell our old boat", True),
        ("boat", True),
        ("buy bread", False),
        ("sell the boat and sail another one across the ocean", False),
        ("", False),
    ],
)
def test_goals_are_the_same_when_half_of_the_longer_one_is_shared(phrase: str, same: bool) -> None:
    assert same_goal(phrase, "sell the boat") is same
    assert same_goal("sell the boat", phrase) is same


@pytest.mark.parametrize(
    ("intensity", "name"),
    [(0.01, "low"), (0.39, "low"), (0.4, "middle"), (0.7, "middle"), (0.71, "high"), (1, "high")],
)
def test_a_band_has_closed_middle_ends(intensity: float, name: str) -> None:
    assert band(intensity) == name


def test_bands_count_for_emotions_that_are_right_by_name() -> None:
    labelled = sentence(bands={"sadness": "low", "relief": "high"})
    pairs = ask([labelled], lambda _text, _voice: Told({"sadness": 0.9, "relief": 0.9, "joy": 0.9}))
    assert count_bands(pairs) == Count(2, 2, 1)


def test_an_open_intensity_leaves_out_the_band_alone() -> None:
    pairs = ask([sentence(("intensity",), {"sadness": "low"})], lambda _text, _voice: Told({"sadness": 0.9}))
    assert count_bands(pairs) == Count()
    assert count(pairs)["emotions"] == Count(1, 1, 1)


def test_a_sentence_that_says_nothing_is_silent_while_nothing_is_filled() -> None:
    assert count_silent(ask([sentence()], lambda _text, _voice: Told())) == Count(1, 1, 1)
    assert count_silent(ask([sentence()], lambda _text, _voice: Told(goal="boat"))) == Count(1, 1, 0)


def test_the_reader_is_told_the_voice() -> None:
    pairs = ask([sentence()], lambda _text, voice: Told(goal=voice))
    assert pairs[0].filled["goal"] == {"own"}


def test_what_is_wrong_is_named_with_label_and_value() -> None:
    pairs = ask([sentence(result="negative")], lambda _text, _voice: Told(result="positive"))
    assert wrong(pairs) == [f"t1 result: ['negative'], filled ['positive']: {TEXT}"]
    assert wrong(ask([sentence(step="Action")], lambda _text, _voice: Told(step="Action"))) == []


def test_the_table_has_a_dash_where_nothing_was_filled() -> None:
    lines = table(ask([sentence(goal="sell the boat")], lambda _text, _voice: Told())).splitlines()
    goal = next(line.split() for line in lines if line.split()[:2] == ["en", "goal"])
    assert goal == ["en", "goal", "1", "0", "0", "-", "0.000"]


def test_the_sealed_half_does_not_show_its_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--sealed", "--wrong"])
    assert ended.value.code == 2
    assert "not shown" in capsys.readouterr().err


@pytest.mark.parametrize("half", ["tune", "sealed"])
def test_each_half_has_its_mix_of_languages_hard_and_silent_ones(half: str) -> None:
    sentences = read_sentences(SENTENCES / f"{half}.json")
    assert len({one.id for one in sentences}) == 150
    assert sum(one.language == "de" for one in sentences) == 30
    assert sum(one.kind != "plain" for one in sentences) >= 75
    assert 55 <= sum(not one.labels for one in sentences) <= 65
    assert {name for one in sentences for name in one.bands} <= set(VOCABULARY)
    assert not [one.id for one in sentences if one.voice == "other" and one.labels]


def test_labelled_goals_stand_in_their_texts_and_no_text_stands_twice() -> None:
    sentences = [one for half in ("tune", "sealed") for one in read_sentences(SENTENCES / f"{half}.json")]
    assert all(goal in one.text for one in sentences for goal in one.labels.get("goal", ()))
    assert len({one.text for one in sentences}) == len(sentences)
