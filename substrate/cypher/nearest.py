"""Parts of queries that join what a search found to records, and that find records by what they felt. Pure.

`$near` has rows [owner, key, distance] (`substrate.likeness`). An owner without a record, and a vector that its
record has no more, join to nothing.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import SEEN, each_found_column, lasting, past_of, thin_columns

IS_FOUND: Final = "coalesce(t.digest, '') = one[1]"
"""The condition that the trace `t` has the very vector that a search found, and not an earlier one."""

MOST_FELT: Final = 2000
"""This many of the newest records with one of the emotions are compared, in about 5 ms."""


_NEAR: Final = ("'near'", "t.digest", "toLower(coalesce(s.speaker, ''))")


def vectors_now(condition: str) -> str:
    """One row for each property of the state of the graph, and one for each vector of those of the memories `$ids`
    that last and meet the condition, with its record: what was found is joined to them in Python."""
    row = (*_NEAR, *each_found_column("s"))
    return (
        f"{SEEN} RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, "
        f"{', '.join(f'null AS c{place}' for place in range(3, len(row)))} UNION ALL "
        f"{_vectors(condition)} RETURN {', '.join(f'{column} AS c{place}' for place, column in enumerate(row))}"
    )


def named_vectors_now(condition: str) -> str:
    """One row for each of these vectors, with the name of its record and when that holds."""
    row = (*_NEAR, "s.valid_at", "s.invalid_at", thin_columns("s"))
    return f"{_vectors(condition)} RETURN {', '.join(row)}"


def _vectors(condition: str) -> str:
    return (
        "MATCH (s:ConsciousnessNode) WHERE s.id IN $ids "
        f"WITH s WHERE {lasting('s')} AND {condition} MATCH (s)-[:HAS_TRACE]->(t) WHERE t:Trace"
    )


def found_now(condition: str) -> str:
    """Binds `s`, a record of the present that meets the condition, and its `score`, the cosine distance."""
    return (
        f"UNWIND $near AS one MATCH (s:ConsciousnessNode {{id: one[0]}}) WITH s, one WHERE {condition} "
        f"MATCH (s)-[:HAS_TRACE]->(t:Trace) WHERE {IS_FOUND} WITH s, one[2] AS score "
    )


def found_then(condition: str) -> str:
    """Binds `s`, any record that meets the condition, `i`, the memory whose record it is, and `score`."""
    return (
        "UNWIND $near AS one WITH one[0] AS id, collect(one) AS found "
        "MATCH (i:ConsciousnessNode {id: id}) WITH i, found "
        f"{past_of('i', 'found')}WITH i, found, collect(p) AS past "
        f"UNWIND (past + [i]) AS s WITH s, i, found WHERE {condition} MATCH (s)-[:HAS_TRACE]->(t) "
        "WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score "
        "WHERE score IS NOT NULL WITH s, i, score "
    )


def felt_alike(label: str, names: str, vector: str, condition: str) -> str:
    """Binds `s`, a record of the label with one of the emotions `names` that meets the condition, and its `score`:
    the distance of its emotions from the vector. Nothing that shares no emotion is near."""
    return (
        f"UNWIND {names} AS name MATCH (s:{label}) WHERE name IN s.emotions WITH DISTINCT s WHERE {condition} "
        f"WITH s ORDER BY s.valid_at DESC, s.id, s.version LIMIT {MOST_FELT} MATCH (s)-[:HAS_TRACE]->(t) "
        f"WITH s, vec.cosineDistance(t.emotion, vecf32({vector})) AS score "
    )
