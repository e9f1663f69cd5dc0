"""The three pools of plural candidates (004). Rows have the shape of `substrate.cypher.search`, all of hop 0.

The pool of chance is drawn by internal ids, each a seek: no scan, however large the graph. The pool of the
recent is one scan; ids would be cheaper, but follow the order of writing, not of time.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import felt, link_columns, node_columns, visible
from substrate.cypher.query import Query

_IMPORTANCE: Final = (
    "CASE WHEN coalesce(m.importance, 0.0) > $importance_floor THEN m.importance ELSE $importance_floor END"
)


def _recent(label: str) -> str:
    return (
        f"MATCH (m:{label}) WHERE m.valid_at >= $recent_from AND {visible('m')} AND {felt('m')} "
        "RETURN m ORDER BY m.valid_at DESC, m.id, m.version LIMIT $recent "
    )


def _matching(label: str) -> str:
    return (
        f"CALL db.idx.fulltext.queryNodes('{label}', $words) YIELD node AS m, score "
        f"WITH m, score WHERE m.valid_at < $recent_from AND {visible('m')} AND {felt('m')} "
        f"RETURN m ORDER BY {_IMPORTANCE} DESC, score DESC, m.id, m.version LIMIT $matching "
    )


def _chance(label: str) -> str:
    return (
        "CALL db.meta.stats() YIELD nodeCount UNWIND range(0, size($lots) - 1) AS lot "
        "WITH lot, toInteger($lots[lot] * nodeCount) AS place "
        f"MATCH (m:{label}) WHERE id(m) = place "
        f"WITH m, min(lot) AS lot WHERE m.valid_at < $recent_from AND {visible('m')} AND {felt('m')} "
        "RETURN m ORDER BY lot LIMIT $chance "
    )


def _pools(*labels: str) -> str:
    pools = [pool(label) for pool in (_recent, _matching, _chance) for label in labels]
    return f"CALL {{ {'UNION ALL '.join(pools)} }} WITH DISTINCT m, null AS e "


_ROW: Final = (
    f"RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, {link_columns('e')}, {node_columns('m')}"
)

POOLS_NOW: Final = Query("pools_now", f"{_pools('ConsciousnessNode')} {_ROW}")
"""Recent, older and matching, older by chance: of the present."""

POOLS_THEN: Final = Query("pools_then", f"{_pools('ConsciousnessNode', 'PastVersion')} {_ROW}")
"""The same of another moment, from both sides."""
