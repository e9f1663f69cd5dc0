"""The rules that hold among memories, how they fared, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from orchestration.features.rules.judgement import Finding, HeldRule, Judgement, decide, find_rules
from orchestration.features.rules.queries import StoredCheck, StoredRule
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


@pytest.mark.parametrize("source", [Source.TOOL, Source.INGESTION, Source.UPKEEP])
def test_a_rule_of_an_untrusted_source_is_lowered_to_a_warning(source: Source) -> None:
    [rule] = rules_of([stored("Never pay Acme", severity="block", source=source)])
    assert (rule.severity, rule.lowered) == ("warn", f"its source is {source.value}, which may not block")
    assert decide([finding(rule)], (), 0).verdict == "warn"


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
