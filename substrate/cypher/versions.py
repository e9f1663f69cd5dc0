"""What reads the records of memories that a question found."""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import felt, node_columns, records_of
from substrate.cypher.query import Query

RECORDS_OF: Final = Query(
    "records_of",
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i "
    f"{records_of('i', 'm')} WHERE {felt('m')} "
    "WITH i, m, (m.created_at IN $touching OR m.expired_at IN $touching) AS near "
    "ORDER BY near DESC, m.created_at DESC, m.version DESC "
    "WITH i, collect(m) AS records WITH records[..$most_of_one] AS kept, size(records) AS held "
    "UNWIND range(0, size(kept) - 1) AS place WITH place, kept[place] AS m, held "
    f"ORDER BY place, m.id LIMIT $most_of_all RETURN held, {node_columns('m')}",
)
"""The records of some memories in the scope: how many the memory has there, and the record.

Of each at most `$most_of_one`: those known from or until one of the instants `$touching`, then the newest.
"""
