"""The prompt that asks for the names in a question."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from orchestration.question.lexicon import MAX_KIND, MAX_QUESTION, Names, build_messages
from substrate.store.vocabulary import Vocabulary


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_a_question_stands_in_one_json_text_whatever_it_says(question: str) -> None:
    role, content = build_messages(question, Vocabulary())[-1]
    assert role == "user"
    assert json.loads(content) == {"node_types": [], "relation_types": [], "question": question}


def test_a_long_question_and_long_types_are_cut() -> None:
    content = build_messages("q" * 9_000, Vocabulary(("T" * 99,), ("R" * 99,)))[-1][1]
    assert json.loads(content) == {
        "node_types": ["T" * MAX_KIND], "relation_types": ["R" * MAX_KIND], "question": "q" * MAX_QUESTION,
    }  # fmt: skip


def test_each_example_is_a_question_with_an_answer_of_the_demanded_form() -> None:
    (first, _), *examples, _ = build_messages("who?", Vocabulary())
    assert first == "system"
    assert [role for role, _ in examples] == ["user", "assistant"] * (len(examples) // 2)
    for _, answer in examples[1::2]:
        assert Names.model_validate_json(answer)


@pytest.mark.parametrize(
    "answer", ['{"names": []}', '{"entities": [""]}', '{"entities": [1]}', '{"entities": [], "x": 1}']
)
def test_an_answer_of_another_form_is_refused(answer: str) -> None:
    with pytest.raises(ValidationError):
        Names.model_validate_json(answer)
