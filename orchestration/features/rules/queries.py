"""Reads the rules of a graph, and keeps how often each was checked: `RuleCheck` nodes in the graph of the citizen.

A check is no record: it moves no clock and has no version, and it is erased with the citizen and with the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.memory import GraphKey, Severity, Source
from schemas.temporal import Instant, Scope
from substrate.cypher.fragments import visible
from substrate.cypher.query import Query, QueryPair
from substrate.graphs.graph import Graph, GraphTarget
from substrate.language.text import name_key
from substrate.store.rows import shown_name

MOST_RULES: Final = 1_000
"""This many memories with a rule are read of a graph, the newest."""
MOST_CHECKS: Final = 1_000
"""This many pairs of a rule and an action are kept for a citizen, the latest."""
ACTION_KEPT: Final = 200
"""This many characters of an action are kept."""

_COLUMNS: Final = (
    "s.id, s.version, s.name, s.speaker, left(s.description, 100), s.rule, s.severity, s.source, s.author, "
    "s.result, s.valid_at, s.created_at, s.emotions"
)
_ALIKE: Final = "1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike"
_NEWEST: Final = "WITH s ORDER BY s.valid_at DESC, s.id LIMIT $limit "
_SHOWN: Final = f"OPTIONAL MATCH (s)-[:HAS_TRACE]->(t) WITH s, {_ALIKE} RETURN {_COLUMNS}, alike"

RULES: Final = QueryPair.of(
    "rules",
    f"MATCH (s:ConsciousnessNode) WHERE s.rule > '' WITH s WHERE {visible('s')} {_NEWEST}{_SHOWN}",
    f"CALL {{ MATCH (s:ConsciousnessNode) WHERE s.rule > '' WITH s WHERE {visible('s')} RETURN s "
    f"UNION ALL MATCH (s:PastVersion) WHERE s.rule > '' WITH s WHERE {visible('s')} RETURN s }} {_NEWEST}{_SHOWN}",
)
"""The memories with a rule, the newest first. The comparison, unlike `IS NOT NULL`, is answered by the index."""

RULES_AT: Final = Query(
    "rules_at_nodes",
    "MATCH (o:ConsciousnessNode) WHERE o.name_key IN $keys WITH o "
    f"MATCH (o)-[e:LINK|PAST_LINK]-(s:ConsciousnessNode) WHERE {visible('e')} AND s.rule > '' "
    f"RETURN s.id, count(DISTINCT o) LIMIT {MOST_RULES}",
)
"""The memories with a rule that are linked with memories of these names, and with how many."""

_CHECK: Final = "k.rule_id, k.graph, k.action_key, k.checked, k.blocked, k.overridden, k.streak, k.blocked_at"
CHECKS: Final = Query("rule_checks", f"MATCH (k:RuleCheck) RETURN {_CHECK}")
KEEP_CHECKS: Final = Query(
    "keep_rule_checks",
    "UNWIND $checks AS c MERGE (k:RuleCheck {key: c.key}) "
    "ON CREATE SET k.rule_id = c.rule_id, k.graph = c.graph, k.action_key = c.action_key, k.action = c.action "
    "SET k.checked = coalesce(k.checked, 0) + 1, k.at = $at, "
    "k.overridden = coalesce(k.overridden, 0) + c.overridden, "
    "k.streak = CASE WHEN c.blocked = 0 THEN coalesce(k.streak, 0) "
    "WHEN coalesce(k.blocked_at, 0) > $since THEN k.streak + 1 ELSE 1 END, "
    "k.blocked = coalesce(k.blocked, 0) + c.blocked, "
    "k.blocked_at = CASE WHEN c.blocked = 0 THEN k.blocked_at ELSE $at END "
    "WITH count(k) AS kept MATCH (k:RuleCheck) RETURN count(k)",
)
"""`streak`: blocks of one action by one rule, none of them longer than a day after the one before."""
DROP_CHECKS: Final = Query(
    "drop_rule_checks", "MATCH (k:RuleCheck) WITH k ORDER BY k.at LIMIT $rows DELETE k RETURN count(k)"
)
FORGET_CHECKS: Final = Query(
    "forget_rule_checks", "MATCH (k:RuleCheck) WHERE k.rule_id IN $ids DELETE k RETURN count(k)"
)


class StoredRule(NamedTuple):
    """A memory with a rule. `alike`: the cosine of its text and of what is asked; None without a vector."""

    key: GraphKey
    memory_id: str
    version: int
    name: str
    rule: str
    severity: Severity | None
    source: Source
    author: str | None
    result: str | None
    valid_at: Instant
    created_at: Instant
    emotions: tuple[str, ...]
    alike: float | None


class StoredCheck(NamedTuple):
    """How often an action was checked against a rule. `streak`: blocks in a row, the last at `blocked_at`."""

    rule_id: str
    graph: GraphKey
    action_key: str
    checked: int
    blocked: int
    overridden: int
    streak: int
    blocked_at: Instant


async def read_rules(target: GraphTarget, scope: Scope, embedding: Sequence[float] | None) -> list[StoredRule]:
    """The memories of a graph with a rule in the scope, the newest first, at most `MOST_RULES`."""
    vector = None if embedding is None else list(embedding)
    rows = await target.graph.read_typed(
        target.choose(RULES), **scope.bounds(), limit=MOST_RULES, embedding=vector
    )
    found: list[StoredRule] = []
    for memory_id, version, name, speaker, text, rule, severity, source, author, *rest in rows:
        result, valid_at, created_at, emotions, alike = rest
        shown = shown_name(memory_id, name, speaker, text)
        times = int(valid_at), int(created_at)
        of = target.key, memory_id, int(version or 1), shown, rule, severity, Source(source), author, result
        found.append(StoredRule(*of, *times, tuple(emotions or ()), None if alike is None else float(alike)))
    return sorted(found, key=lambda rule: (-rule.valid_at, rule.memory_id, rule.version))


async def read_rules_at(target: GraphTarget, scope: Scope, nodes: Sequence[str]) -> Mapping[str, int]:
    """With how many memories of these names each memory with a rule is linked."""
    keys = [key for name in nodes if (key := name_key(name))]
    rows = await target.graph.read(RULES_AT, **scope.bounds(), keys=keys) if keys else []
    return {row[0]: int(row[1]) for row in rows}


async def read_checks(graph: Graph) -> list[StoredCheck]:
    """All checks that are kept of a citizen."""
    checks = []
    for rule_id, key, action_key, *counts in await graph.read_typed(CHECKS):
        checks.append(StoredCheck(rule_id, key, action_key, *(int(count or 0) for count in counts)))
    return checks


async def keep_checks(graph: Graph, checks: Sequence[Mapping[str, Any]], *, at: Instant, since: Instant) -> None:
    """Keep checks, as the properties of their nodes and what is added to the counts. The oldest are dropped.

    A streak of blocks goes on where the one before was after `since`.
    """
    rows = await graph.write(KEEP_CHECKS, checks=list(checks), at=at, since=since)
    too_many = int(rows[0][0]) - MOST_CHECKS if rows else 0
    if too_many > 0:
        await graph.write(DROP_CHECKS, rows=too_many)


async def forget_checks(graph: Graph, ids: Sequence[str]) -> None:
    """Remove the checks of the rules of these memories."""
    await graph.write(FORGET_CHECKS, ids=list(ids))
