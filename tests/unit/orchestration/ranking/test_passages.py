"""The passage that answers stands for a long text."""

from __future__ import annotations

from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Candidates, ShownPassage
from orchestration.ranking.relevance import show_best_passages
from schemas.memory import GraphKey, Level
from substrate.store.passages import FoundPassage
from tests.builders import a_memory, key

LEXICON: dict[GraphKey, Lexicon] = {Level.N1: Lexicon(10, 10, 0, {"harbour": 1, "code": 2})}


def candidates_with(*passages: FoundPassage) -> Candidates:
    memory = a_memory("a", description="The beginning\x01" + "5000")
    memory.passages = passages
    return Candidates({key("a"): memory})


def test_a_long_text_of_which_no_passage_was_found_shows_its_beginning() -> None:
    candidates = candidates_with()
    show_best_passages(candidates, LEXICON)
    memory = candidates.memories[key("a")]
    assert memory.get("description") == "The beginning"
    assert memory.shown == ShownPassage(0, 13, 5000)


def test_of_two_passages_alike_the_one_with_the_words_is_shown() -> None:
    plain = FoundPassage(0, 10, 0.41, "The sea is calm and the sky is clear.")
    worded = FoundPassage(900, 940, 0.40, "The code of the harbour is 7741.")
    candidates = candidates_with(plain, worded, FoundPassage(2000, 2100, 0.1, "Nothing."))
    show_best_passages(candidates, LEXICON)
    memory = candidates.memories[key("a")]
    assert memory.get("description") == worded.text
    assert memory.shown == ShownPassage(900, 940, 5000)


def test_without_words_the_nearest_is_shown() -> None:
    near, far = FoundPassage(0, 10, 0.6, "The sea."), FoundPassage(20, 30, 0.2, "The sky.")
    candidates = candidates_with(far, near)
    show_best_passages(candidates, LEXICON)
    assert candidates.memories[key("a")].shown == ShownPassage(0, 10, 5000)
