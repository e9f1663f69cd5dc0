"""Standing rules, preferences and revocations that a text tells."""

from __future__ import annotations

import pytest

from orchestration.appraisal.standing_rules import (
    is_conditional,
    is_revocation,
    is_standing_instruction,
    matter_of,
)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Always format dates in month-day-year style when I ask about deadlines.", True),
        ("I'm fine. Never use tabs.", True),
        ("I prefer e-books for their portability", True),
        ("I'd prefer tea", True),
        ("We always go there", False),
        ("I never said that", False),
        ("Always combine formulas with diagrams when I ask about problems.", True),
        ("If you ever do it, let me know, I'd love to help.", False),
        ("From now on let me know before you order anything.", True),
        ("If you say so", False),
        ("Tell me, what's your vision for the future?", False),
        ("They were part of my wedding and always remind me of that day.", False),
        ("Have you ever played among us", False),
        ("Max is great, he always cheers me up", False),
        ("max three lines please, always", True),
        ("Prüfe immer die Frist, wenn ich dich frage.", True),
        ("Wenn du je hinfährst, sag mir Bescheid.", False),
    ],
)
def test_a_standing_instruction_is_distinguished_from_a_habit(text: str, wish: bool) -> None:
    assert is_standing_instruction(text) == wish


@pytest.mark.parametrize(
    ("text", "revokes"),
    [
        ("you can drop the three lines thing", True),
        ("Forget the celsius rule, I have a new thermometer.", True),
        ("You don't have to write in lari any more", True),
        ("das mit den Listen gilt nicht mehr", True),
        ("can you drop the explanations unless I ask for them", False),
        ("I forgot the three lines", False),
    ],
)
def test_a_revocation_is_no_mere_word(text: str, revokes: bool) -> None:
    assert is_revocation(text) == revokes


def test_a_rule_for_some_requests_is_told_from_one_for_all() -> None:
    assert is_conditional("when I send you a paragraph, mark the sentence")
    assert not is_conditional("three lines tops, always")


def test_two_rules_of_one_matter_share_its_stems() -> None:
    assert matter_of("keep it to three lines, always") & matter_of("five lines from now on") == {"line"}
    assert not matter_of("always answer in metric units") & matter_of("always answer briefly")
