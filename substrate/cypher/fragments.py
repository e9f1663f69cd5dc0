"""The columns of a record, the predicates of time and felt quality: each written once."""

from __future__ import annotations

from typing import Final

NODE_COLUMNS: Final = (
    "id", "node_type", "name", "description",
    "valid_at", "invalid_at", "created_at", "expired_at", "version",
    "invalidation_reason", "closed_reason", "correction_pattern_id", "discovery_energy",
    "energy", "confidence", "emotion_vector", "felt_quality", "body_sensation",
    "goal", "resolution_state", "tags", "buckets", "aliases",
    "importance", "intensity", "result", "rule", "abstraction",
    "source", "author", "episode_id", "speaker", "extra", "unset",
)  # fmt: skip
"""What is read of a memory."""

NODE_UPKEEP: Final = (
    "search_text",
    "name_key",
    "entity_names",
    "emotions",
    "terms",
    "text_key",
    "command_id",
    "key_id",
    "fingerprint",
)
"""What is stored beside it: for search, and for telling one command from another."""

LINK_COLUMNS: Final = (
    "id", "relation_type", "goal", "mindstate", "energy", "confidence", "formation_trigger",
    "emotion_vector", "energy_transfer_coefficient", "resolution_state",
    "felt_quality", "emotion_description", "body_sensation", "spatial_context", "sensory_details",
    "valid_at", "invalid_at", "created_at", "expired_at", "version", "invalidation_reason", "closed_reason",
    "source", "author", "episode_id", "extra",
)  # fmt: skip
"""What is read of a link, beside the ids of its two ends. A link that never changed has no `version`."""

LINK_UPKEEP: Final = ("command_id", "key_id", "fingerprint")

PROVENANCE: Final = ("command_id", "key_id", "closed_by", "closed_source", "closed_key")
"""What a history shows beside the columns of a record: the commands that opened and closed it, the keys that
they came with, and the source of the latter."""

RECEIPT_COLUMNS: Final = (
    "command_id", "fingerprint", "command", "id", "version", "valid_at", "invalid_at", "created_at", "warnings",
    "recognised",
)  # fmt: skip
"""What is kept of a command."""

REPEATED: Final = frozenset(
    ("node_type", "goal", "mindstate", "formation_trigger", "resolution_state", "relation_type", "source",
     "author", "episode_id", "speaker", "unset", "command_id", "key_id", "closed_key")
)  # fmt: skip
"""Properties whose few values repeat over many records; the engine keeps one copy of each."""

REPEATED_STATE_TEXTS: Final = ("emotion_vector", "goal", "drives")
"""Texts of a citizen's state that go from record to record; the engine keeps one copy of each."""


HUB: Final = 64
"""A memory with this many links or more is a hub: no second hop begins at it or goes through it."""


def visible(name: str) -> str:
    """The time predicate on the variable `name`: both axes overlap the scope's periods."""
    return (
        f"{name}.valid_at < $valid_to AND {name}.invalid_at > $valid_from "
        f"AND {name}.created_at < $known_to AND {name}.expired_at > $known_from"
    )


def records_of(identity: str, record: str, carried: str = "") -> str:
    """The records that the identity had in the scope, for any moment; `carried` are other variables still needed.

    Not a nested `CALL { ... UNION ... }`: that crashes the engine.
    """
    group = f"{carried}, {identity}" if carried else identity
    return (
        f"OPTIONAL MATCH ({identity})-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
        f"WITH {group}, collect(p) AS past "
        f"UNWIND (past + CASE WHEN {visible(identity)} THEN [{identity}] ELSE [] END) AS {record} "
        f"WITH {group}, {record} "
    )


def degree_now(name: str) -> str:
    """How many links the memory has; its versions, tags and traces are none."""
    return f"indegree({name}, 'LINK') + outdegree({name}, 'LINK')"


def uncrowded_now(name: str, carried: str, limit: int) -> str:
    """Keeps the rows whose memory `name` has fewer than `limit` links now; `carried` are the variables needed.

    Each memory is counted once, however many rows lead to it, for the engine walks over a hub's links to count
    them. The number has a name of its own: any other condition the engine checks before it collects.
    """
    together, apart = _by_memory(name, carried)
    return f"{together} WITH {name}, ways, {degree_now(name)} AS held WHERE held < {limit} {apart}"


def uncrowded_then(name: str, carried: str, limit: int) -> str:
    """Keeps the rows whose memory `name` has fewer than `limit` links in the scope, for any moment.

    `carried` are the variables needed, `name` among them. Links are counted one by one only where all that were
    ever made are so many: counting them for each of a hub's neighbours took ten times as long.
    """
    together, apart = _by_memory(name, carried)
    ever = "['LINK', 'PAST_LINK']"
    return (
        f"{together} WITH {name}, ways, indegree({name}, {ever}) + outdegree({name}, {ever}) AS ever "
        f"OPTIONAL MATCH ({name})-[link:LINK|PAST_LINK]-() WHERE ever >= {limit} AND {visible('link')} "
        f"WITH {name}, ways, ever, count(link) AS held WHERE ever < {limit} OR held < {limit} {apart}"
    )


def _by_memory(name: str, carried: str) -> tuple[str, str]:
    """One row for each memory `name` with all that is carried beside it, and back to one row each."""
    others = [other for other in carried.split(", ") if other != name]
    taken = "".join(f", way[{place}] AS {other}" for place, other in enumerate(others))
    together = f"WITH {name}, collect([{', '.join(others) or 'null'}]) AS ways"
    return together, f"UNWIND ways AS way WITH {name}{taken} "


def felt(name: str) -> str:
    """What a question asks of a memory beside its time: energy, confidence, every required emotion, its filters.

    The engine stops at `$unfiltered`, so that a question without filters pays for none.
    """
    return (
        f"{name}.energy >= $min_energy AND {name}.confidence >= $min_confidence "
        f"AND all(emotion IN $required_emotions WHERE emotion IN {name}.emotions) AND {fits(name)}"
    )


def fits(name: str) -> str:
    """The filters on the variable `name`, with the values of `substrate.store.filters`."""
    return (
        f"($unfiltered OR (size($node_types) = 0 OR {name}.node_type IN $node_types) "
        f"AND all(label IN $labels WHERE {name}[label[0]] CONTAINS label[1]))"
    )


def node_columns(name: str) -> str:
    """The columns of the memory `name`, in the order of `NODE_COLUMNS`."""
    return ", ".join(f"{name}.{column}" for column in NODE_COLUMNS)


def link_columns(name: str) -> str:
    """The columns of the link `name`, in the order of `LINK_COLUMNS`."""
    return ", ".join(f"{name}.{column}" for column in LINK_COLUMNS)


def columns_of(name: str, columns: tuple[str, ...]) -> str:
    """The `columns` of the variable `name`, in their order."""
    return ", ".join(f"{name}.{column}" for column in columns)


def assignments(row: str, columns: tuple[str, ...]) -> str:
    """A property map that copies `columns` from the map `row`; known from the transaction time `at` on, by so many
    microseconds later as the row is the `nth`.
    """
    return (
        ", ".join(
            f"{column}: intern({row}.{column})" if column in REPEATED else f"{column}: {row}.{column}"
            for column in columns
            if column != "created_at"
        )
        + f", created_at: at + {row}.nth"
    )
