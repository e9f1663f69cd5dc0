"""Reading the rows of the Tag-Walker, and the values of its walk."""

from __future__ import annotations

from orchestration.features.association.queries import (
    AnchorPath,
    WeighedTag,
    read_anchors,
    read_mean_terms,
    read_walk,
    walk_values,
)
from schemas.memory import Level
from substrate.connection.record_cache import Record
from substrate.cypher.fragments import NODE_COLUMNS

COLUMNS = {"id": "m", "node_type": "Memory", "name": "m", "energy": "0.5", "confidence": "0.5"}
MEMORY = Record([COLUMNS.get(column, 0 if column.endswith("_at") else None) for column in NODE_COLUMNS])


def test_an_anchor_has_the_length_that_was_stored() -> None:
    first, second = read_anchors([[4.5, 7, MEMORY], [4.5, None, MEMORY]], Level.N1)
    assert (first.memory.node_id, first.terms, second.terms) == ("m", 7, None)
    assert (first.memory.retrieval_source, first.paths) == ("association", ())


def test_the_mean_length_stands_in_every_row_and_is_none_where_nothing_is_measured() -> None:
    assert read_mean_terms([[4.5, 7, MEMORY]]) == 4.5
    assert read_mean_terms([[None, 7, MEMORY]]) is None
    assert read_mean_terms([]) is None


def test_paths_come_nearest_first_whatever_ids_the_anchors_have() -> None:
    (walked,) = read_walk([["2b|1turn-7|12", 3, MEMORY]], Level.N1)
    assert walked.paths == (AnchorPath(1, "2"), AnchorPath(1, "turn-7"), AnchorPath(2, "b"))
    (tagged,) = read_walk([["m12|1m|m3", 3, MEMORY]], Level.N1)
    assert (tagged.paths, tagged.made) == ((AnchorPath(1, "m"),), (3, 12))
    (alone,) = read_walk([[None, 3, MEMORY]], Level.N1)
    assert alone.paths == ()


def test_a_walk_starts_from_the_best_hits_and_looks_for_tags_as_json_writes_them() -> None:
    tags = [WeighedTag(name, 0.5) for name in ('#so "quoted"', "@garden", "~lamp")]
    values = walk_values(["a", "a", "b", "c"], tags, starts=3, pool=9)
    assert values["tags"] == [['#so "quoted"', 0.5, 0], ["@garden", 0.5, 1], ["~lamp", 0.5, 2]]
    assert (values["from"], values["held"], values["pool"]) == (["a", "b"], ["a", "b", "c"], 9)
    assert (values["quoted_tags"], values["quoted_buckets"]) == (['so \\"quoted\\"'], ["garden"])
