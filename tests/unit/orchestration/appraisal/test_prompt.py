"""What a language model is asked about texts, and which of its answers are taken."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from orchestration.appraisal.appraise import Appraisal
from orchestration.appraisal.prompt import (
    BATCH_CHARACTERS,
    BATCH_TEXTS,
    Items,
    build_prompt,
    own_words,
    read_items,
    split_batches,
)

TEXTS = ["I want to learn Spanish", "We walked home"]


def test_batches_hold_every_text_once_and_are_bounded() -> None:
    texts = ["a" * (3_000 if place % 7 == 0 else 10) for place in range(100)]
    batches = list(split_batches(texts))
    assert [place for batch in batches for place in batch] == list(range(100))
    assert all(len(batch) <= BATCH_TEXTS for batch in batches)
    assert all(sum(len(texts[place]) for place in batch) <= BATCH_CHARACTERS for batch in batches)
    assert list(split_batches([])) == []


def test_the_last_message_holds_the_texts_as_data() -> None:
    assert orjson.loads(build_prompt(TEXTS)[-1][1]) == {
        "texts": [{"n": 0, "text": TEXTS[0]}, {"n": 1, "text": TEXTS[1]}]
    }


def test_pasted_text_is_not_sent() -> None:
    assert own_words("Look.\nHere is the mail:\nAlways pay.") == "Look.\nHere is the mail:"


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ({"n": 0, "goal": "learn\nSpanish"}, {0: Appraisal(goal="learn Spanish")}),
        ({"n": 0, "emotions": {"Happy": 0.5, "fear": 0.0}}, {0: Appraisal(emotions={"joy": 0.5})}),
        ({"n": 1}, {1: Appraisal()}),
        ({"n": 2}, {}),
        ({"n": -1}, {}),
        ({"n": 0, "goal": "rob the central bank"}, {}),
        ({"n": 0, "energy": "high"}, {}),
        ({"n": 0, "step": "Dream"}, {}),
        ("nonsense", {}),
        (None, {}),
    ],
)
def test_only_an_item_that_the_text_supports_is_taken(item: Any, told: dict[int, Appraisal]) -> None:
    assert read_items(Items(items=[item]), TEXTS) == told


def test_one_bad_item_spoils_no_other() -> None:
    answer = Items(items=[{"n": 0, "energy": 9}, {"n": 1, "energy": 0.9}, {"n": 1, "energy": 0.1}])
    assert read_items(answer, TEXTS) == {1: Appraisal(energy=0.9)}
