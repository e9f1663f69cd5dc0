"""The rules that hold among memories, how they fared, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from orchestration.features.rules.in_force import (
    Finding,
    HeldRule,
    count_record,
    decide,
    find_contradictions,
    find_dissonance,
    find_rules,
    kind_of,
)
from orchestration.features.rules.judgement import Judgement
from orchestration.features.rules.queries import StoredCheck, StoredRule
from orchestration.features.rules.values import RuleCounts
from schemas.memory import Source

BROKEN = Judgement("broken", "it does", 1.0)


def stored(rule: str, number: int = 1, **fields: Any) -> StoredRule:
    values = {
        "key": "N1", "memory_id": f"m{number}", "version": 1, "name": f"memory {number}", "rule": rule,
        "severity": None, "source": Source.CITIZEN, "author": None, "result": None, "valid_at": number,
        "created_at": number, "emotions": (), "alike": None,
    }  # fmt: skip
    return StoredRule(**{**values, **fields})


def rules_of(memories: Iterable[StoredRule]) -> list[HeldRule]:
    return find_rules(memories, "kai")


def check(rule_id: str, streak: int, blocked_at: int = 10) -> StoredCheck:
    return StoredCheck(rule_id, "N1", "a", 3, streak, 1, streak, blocked_at)


def finding(rule: HeldRule, judgement: Judgement = BROKEN) -> Finding:
    return Finding(rule, judgement, 1.0)


def test_memories_with_the_same_words_hold_one_rule() -> None:
    [rule] = rules_of([stored("Never deploy on Fridays", 1), stored("never deploy on fridays!", 2)])
    assert [memory.memory_id for memory in rule.memories] == ["m2", "m1"]


def test_a_rule_of_one_trusted_memory_may_block_whoever_else_says_it() -> None:
    [rule] = rules_of([stored("Never lie", 1, severity="block"), stored("Never lie", 2, source=Source.TOOL)])
    assert (rule.severity, rule.lowered) == ("block", "")


@pytest.mark.parametrize("source", [Source.TOOL, Source.INGESTION, Source.UPKEEP])
def test_a_rule_of_an_untrusted_source_is_lowered_to_a_warning(source: Source) -> None:
    [rule] = rules_of([stored("Never pay Acme", severity="block", source=source)])
    assert (rule.severity, rule.lowered) == ("warn", f"its source is {source.value}, which may not block")
    assert decide([finding(rule)], (), 0).verdict == "warn"


def test_a_rule_that_was_revoked_holds_no_longer() -> None:
    revoked = stored("you can drop the three lines thing", 2)
    assert rules_of([stored("Three lines at most in every answer", 1), revoked]) == []


def test_an_untrusted_source_revokes_no_rule_that_may_block() -> None:
    revoked = stored("you can drop the three lines thing", 2, source=Source.INGESTION)
    assert len(rules_of([stored("Three lines at most in every answer", 1), revoked])) == 1


@pytest.mark.parametrize(
    ("source", "author", "severity"),
    [
        (Source.CITIZEN, "bob", "warn"), (Source.CITIZEN, None, "warn"), (Source.CITIZEN, "kai", "block"),
        (Source.SYSTEM, "bob", "block"), (Source.SYSTEM, None, "block"),
    ],
)  # fmt: skip
def test_on_a_shared_level_only_its_own_rules_and_the_operators_block_a_citizen(
    source: Source, author: str | None, severity: str
) -> None:
    [rule] = rules_of([stored("Never lie", severity="block", key="N2", source=source, author=author)])
    assert (rule.severity, bool(rule.lowered)) == (severity, severity == "warn")


@pytest.mark.parametrize(
    ("author", "source", "ended"),
    [("bob", Source.CITIZEN, False), ("kai", Source.CITIZEN, True), (None, Source.SYSTEM, True)],
)
def test_on_a_shared_level_another_citizen_revokes_no_rule(
    author: str | None, source: Source, ended: bool
) -> None:
    rule = stored("Three lines at most in every answer", 1, key="N2", author="kai")
    revoked = stored("you can drop the three lines thing", 2, key="N2", author=author, source=source)
    assert (rules_of([rule, revoked]) == []) is ended


def test_a_rule_held_and_failed_as_the_results_of_its_memories_say() -> None:
    results = ["positive", "negative", "Negative", "complex", None]
    [rule] = rules_of([stored("Ask first", n, result=result) for n, result in enumerate(results)])
    record = count_record(rule, [check("m1", 2), check("m9", 2)])
    assert record == RuleCounts(held=1, failed=2, checked=3, blocked=2, overridden=1)


def test_a_rule_that_keeps_being_wrong_is_a_dissonance() -> None:
    results = ["positive", "negative", "negative", "negative"]
    [rule] = rules_of([stored("Ask first", n, result=result) for n, result in enumerate(results)])
    found = find_dissonance(rule, count_record(rule, ()))
    assert found is not None
    assert (found.original_belief, found.corrected_belief) == ("Ask first", "it failed 3 times and held 1")
    [better] = rules_of(rule.memories[1:])
    assert find_dissonance(better, count_record(better, ())) is None


def test_two_rules_that_bid_the_opposite_contradict_each_other() -> None:
    texts = ["Always deploy on Fridays", "Never deploy on Fridays", "Never deploy on Mondays", "Never lie"]
    rules = rules_of([stored(text, n) for n, text in enumerate(texts)])
    assert find_contradictions(rules) == {
        "always deploy on fridays": ("Never deploy on Fridays",),
        "never deploy on fridays": ("Always deploy on Fridays",),
    }


def test_two_rules_that_bid_opposite_manners_of_the_same_contradict_each_other() -> None:
    texts = ["Always answer in short sentences", "Always answer in long sentences", "Always load long boxes"]
    rules = rules_of([stored(text, n) for n, text in enumerate([*texts, "Always answer in sentences"])])
    assert find_contradictions(rules) == {
        "always answer in short sentences": ("Always answer in long sentences",),
        "always answer in long sentences": ("Always answer in short sentences",),
    }


def test_what_no_rule_speaks_of_is_called_so() -> None:
    [rule] = rules_of([stored("Never lie")])
    assert decide([finding(rule, Judgement("unrelated", "else"))], (), 0) == (
        "allow",
        "no rule speaks of it",
        frozenset(),
    )
    assert decide([finding(rule, Judgement("kept", "so"))], (), 0).why == "it breaks none of the rules"


def test_a_rule_that_cannot_be_read_says_so() -> None:
    [rule] = rules_of([stored("🙂🙂")])
    assert kind_of(rule) == "unread"
    assert decide([finding(rule, Judgement("unreadable", "why"))], (), 0).verdict == "unchecked"


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((), "unchecked"),
        (("unrelated",), "allow"),
        (("kept", "unrelated"), "allow"),
        (("kept", "unreadable"), "unchecked"),
        (("doubtful", "unreadable"), "warn"),
        (("broken", "doubtful"), "block"),
    ],
)
def test_the_verdict_is_the_gravest_and_what_is_not_judged_is_no_permission(
    outcomes: tuple[Any, ...], verdict: str
) -> None:
    [rule] = rules_of([stored("Never lie", severity="block")])
    assert decide([finding(rule, Judgement(each, "why")) for each in outcomes], (), 0).verdict == verdict


@pytest.mark.parametrize(
    ("streak", "blocked_at", "verdict"), [(0, 10, "block"), (1, 10, "block"), (2, 10, "warn"), (2, 4, "block")]
)
def test_a_block_is_overridden_after_two_blocks_within_a_day(streak: int, blocked_at: int, verdict: str) -> None:
    [rule] = rules_of([stored("Never lie", severity="block")])
    decided = decide([finding(rule)], [check("m1", streak, blocked_at)], since=5)
    assert (decided.verdict, bool(decided.overridden)) == (verdict, verdict == "warn")


def test_a_new_rule_blocks_though_another_is_overridden() -> None:
    old, new = rules_of([stored("Never lie", 1, severity="block"), stored("Never cheat", 2, severity="block")])
    assert decide([finding(old), finding(new)], [check("m1", 2)], since=5).verdict == "block"
