"""Parts of queries, each written once: columns of records, conditions of time, filters, hubs, nearest vectors."""

from __future__ import annotations

import re
from typing import Final

from schemas.memory import GENERALISATION, SILENCES

NODE_COLUMNS: Final = (
    "id", "node_type", "name", "description",
    "valid_at", "invalid_at", "created_at", "expired_at", "version",
    "invalidation_reason", "closed_reason", "correction_pattern_id", "discovery_energy",
    "energy", "confidence", "emotion_vector", "felt_quality", "body_sensation",
    "goal", "resolution_state", "tags", "buckets", "aliases",
    "importance", "intensity", "result", "rule", "severity", "abstraction", "step",
    "source", "author", "shared_from", "episode_id", "speaker", "extra", "unset",
)  # fmt: skip
"""The columns of a memory record, in the order in which every query returns them."""

NODE_UPKEEP: Final = (
    "search_text", "name_key", "entity_names", "emotions", "terms", "text_key", "passages",
    "command_id", "key_id", "known_as_happened", "fingerprint",
)  # fmt: skip
"""Properties of a memory that are not content: for search, and to recognise the command that wrote it."""

LINK_COLUMNS: Final = (
    "id", "relation_type", "goal", "mindstate", "energy", "confidence", "formation_trigger",
    "emotion_vector", "energy_transfer_coefficient", "resolution_state",
    "felt_quality", "emotion_description", "body_sensation", "spatial_context", "sensory_details",
    "valid_at", "invalid_at", "created_at", "expired_at", "version", "invalidation_reason", "closed_reason",
    "source", "author", "episode_id", "extra", "unset",
)  # fmt: skip
"""The columns of a link record, in the order in which every query returns them, after the ids of the two ends.

A link that never changed has no `version`.
"""

LINK_UPKEEP: Final = ("command_id", "key_id", "known_as_happened", "fingerprint")

PROVENANCE: Final = ("command_id", "key_id", "closed_by", "closed_source", "closed_key", "known_as_happened")
"""Columns of a history, after those of the record: the commands that opened and closed the record, the API keys
that sent them, the source of the closing command, and whether an import declared when it was known."""

RECEIPT_COLUMNS: Final = (
    "command_id", "fingerprint", "command", "id", "version", "valid_at", "invalid_at", "created_at", "warnings",
    "recognised", "told",
)  # fmt: skip
"""The columns of a receipt, in the order in which every query returns them."""

REPEATED: Final = frozenset(
    ("node_type", "goal", "mindstate", "formation_trigger", "resolution_state", "relation_type", "source",
     "author", "episode_id", "speaker", "unset", "step", "severity", "command_id", "key_id", "closed_key")
)  # fmt: skip
"""Properties with few different values in many records: `intern` makes the engine store each value once."""

REPEATED_STATE_TEXTS: Final = ("emotion_vector", "goal", "drives", "window", "focus", "senses", "writers")
"""Texts of a citizen's state that many records share; `intern` makes the engine store each text once."""

CLOCK: Final = (
    "MATCH (m:SubstrateMeta {key: 'stamp'}) "
    "WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at "
)
"""`m`: the stamp of the graph. `at`: the transaction time of the statement, which is `$at`, or one microsecond
after the last write when the clock of the graph is ahead."""


SHIFT: Final = (
    "OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'}) "
    "FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END | "
    "SET m.shifts = coalesce(m.shifts, 0) + 1, m.lately = null) "
    "WITH 1 AS shifted "
)
"""Before a change that moves no clock but may change answers: what processes keep of the graph is out of date."""


STATE: Final = ("clock", "shifts", "created_at", "generation")
"""The properties of the stamp that tell one state of a graph from another."""
SEEN: Final = (
    "MATCH (g:SubstrateMeta {key: 'stamp'}) "
    f"UNWIND [{', '.join(f"['{name}', coalesce(g.{name}, 0)]" for name in STATE)}] AS seen "
)
"""One row for each property of the state in which a query finds the graph: its name, and its value."""


NOTE_CHANGES: Final = (
    "FOREACH (_ IN CASE WHEN m.changes_until < $changes_until THEN [1] ELSE [] END | "
    "SET m.changes_until = $changes_until) "
)
"""Notes in the stamp `m` until when what is written begins or ends to hold; a stamp that has no note gets none."""

LATELY: Final = 8
"""Of so many writes the stamp says what they changed."""


TELL_FEED: Final = (
    "SET m.events = coalesce(m.events, 0) + size($told) FOREACH (x IN $told | CREATE (e:Event) SET e = x, "
    "e.created_at = coalesce(m.clock, 0), e.nth = m.events - x.left) "
)
"""Tells the feed of what is no command, within the statement that does it (`$told`: see `applied.event_of`). The
events of a graph have numbers and stand behind its last command: they move no clock, and end no kept answer."""


def note_lately(was: str, at: str) -> str:
    """Notes in the stamp `m`, before its clock is set, what a write changes that leads it from `was` to `at`: the
    text `$lately` (`GraphState.note`). Where that is null, nothing that is noted leads there."""
    note = f"toString({was}) + ' ' + toString({at}) + ' ' + $lately"
    return (
        f"m.lately = CASE WHEN $lately IS NULL THEN null ELSE "
        f"([x IN coalesce(m.lately, []) WHERE x <> {note}] + [{note}])[-{LATELY}..] END"
    )


ALONE: Final = 8
"""This many texts are searched by one query whose searches stand alone."""


def each_alone(list_name: str, one: str, body: str) -> str:
    """A query for each of the first `ALONE` values of a list parameter, bound as `one`. A procedure that is called
    for several rows of one query, and not read to its end for one of them, answers the rest of it for the next
    row. So a full-text search with a limit stands alone."""
    return " UNION ALL ".join(f"UNWIND ${list_name}[{n}..{n + 1}] AS {one} {body}" for n in range(ALONE))


HUB: Final = 64
"""A memory with this many links or more is a hub: no second hop begins at it or goes through it."""


def visible(name: str) -> str:
    """The condition that the record `name` overlaps the scope in valid time and in transaction time. Most records
    have begun: with the index of `valid_at` the engine would answer more slowly, so the sum hides it."""
    return (
        f"{name}.valid_at + 0 < $valid_to AND {name}.invalid_at > $valid_from "
        f"AND {name}.created_at < $known_to AND {name}.expired_at > $known_from"
    )


def past_of(identity: str, carried: str) -> str:
    """Binds `p`, the past records of the memory `identity`, in a row of nulls where it has none. The engine
    follows an optional edge for each row by itself, and most memories never changed: from null it follows none.
    `carried`: other variables that stay bound."""
    group = f"{carried}, {identity}" if carried else identity
    return (
        f"WITH {group}, CASE WHEN outdegree({identity}, 'HAD') > 0 THEN {identity} ELSE null END "
        "AS former OPTIONAL MATCH (former)-[:HAD]->(p) "
    )


def lasting(name: str) -> str:
    """The condition that the record is known in the scope, and holds at `$from` or later, from before `$until`.
    The sum hides the index of `valid_at`, as in `visible`."""
    return (
        f"{name}.valid_at + 0 < $until AND {name}.invalid_at > $from "
        f"AND {name}.created_at < $known_to AND {name}.expired_at > $known_from"
    )


def records_of(identity: str, record: str, carried: str = "") -> str:
    """One row for each record of the memory `identity` in the scope. `carried`: other variables that stay bound.
    No nested `CALL { ... UNION ... }` here: it crashes the engine."""
    group = f"{carried}, {identity}" if carried else identity
    past = past_of(identity, carried)
    return (
        f"{past}WHERE {visible('p')} "
        f"WITH {group}, collect(p) AS past "
        f"UNWIND (past + CASE WHEN {visible(identity)} THEN [{identity}] ELSE [] END) AS {record} "
        f"WITH {group}, {record} "
    )


def degree_now(name: str) -> str:
    """The number of links of a memory now, without the edges to its versions, tags and vectors."""
    return f"indegree({name}, 'LINK') + outdegree({name}, 'LINK')"


def uncrowded_now(name: str, carried: str, limit: int) -> str:
    """Keep the rows whose memory `name` has fewer than `limit` links now. `carried`: variables that stay bound.
    Each memory is counted once, even if many rows contain it, because the engine visits every link to count them.
    The count is bound to a variable first: otherwise the engine tests the condition before it groups the rows."""
    together, apart = _by_memory(name, carried)
    return f"{together} WITH {name}, ways, {degree_now(name)} AS held WHERE held < {limit} {apart}"


def uncrowded_then(name: str, carried: str, limit: int) -> str:
    """Keep the rows whose memory `name` has fewer than `limit` links in the scope, for any moment. `carried`:
    variables that stay bound, with `name` among them. The links in the scope are counted only for memories that
    ever had `limit` links: counting them for each neighbour of a hub took ten times as long."""
    together, apart = _by_memory(name, carried)
    ever = "['LINK', 'PAST_LINK']"
    return (
        f"{together} WITH {name}, ways, indegree({name}, {ever}) + outdegree({name}, {ever}) AS ever "
        f"OPTIONAL MATCH ({name})-[link:LINK|PAST_LINK]-() WHERE ever >= {limit} AND {visible('link')} "
        f"WITH {name}, ways, ever, count(link) AS held WHERE ever < {limit} OR held < {limit} {apart}"
    )


def _by_memory(name: str, carried: str) -> tuple[str, str]:
    """Two texts: the first groups the rows by memory `name`, the second restores the rows with their variables."""
    others = [other for other in carried.split(", ") if other != name]
    taken = "".join(f", way[{place}] AS {other}" for place, other in enumerate(others))
    together = f"WITH {name}, collect([{', '.join(others) or 'null'}]) AS ways"
    return together, f"UNWIND ways AS way WITH {name}{taken} "


def felt(name: str) -> str:
    """The place of the conditions on the record `name` other than time: energy, confidence, required emotions,
    filters. `fill_filters` fills it. The parameters come from `substrate.store.search.felt_values`."""
    return f"<felt {name}>"


def tells(name: str) -> str:
    """The condition that the record `name` says something: it was not only made of a name in some text. As
    `is_made` of `substrate.store.rows` reads `unset`."""
    described = f"coalesce({name}.description, '') <> ''"
    return f"({name}.unset IS NULL OR NOT {name}.unset STARTS WITH 'name,' OR {described})"


def is_evidence(name: str) -> str:
    """The condition that the record `name` may answer a question; with `$asked` also what was only asked."""
    return f"{tells(name)} AND ($asked OR {is_statement(name)})"


def is_statement(name: str) -> str:
    """The condition that the record `name` does not only ask, thank or repeat."""
    return f"NOT coalesce({name}.step, '') IN {list(SILENCES)}"


def fits(name: str) -> str:
    """The place of the filters on the record `name`. `fill_filters` fills it. The parameters come from
    `substrate.store.search.filter_values`."""
    return f"<fits {name}>"


_FILTER: Final = re.compile(r"<(felt|fits) (\w+)>")


def fill_filters(body: str, *, filtered: bool = True) -> str:
    """The text of a query: its conditions stand in the places that `felt` and `fits` left for them. Without
    `filtered`: those that every sound record meets where there are no filters. A damaged record, whose energy or
    confidence is no number of at least 0, is found by no question."""

    def fill(place: re.Match[str]) -> str:
        kind, name = place.groups()
        parts = []
        if kind == "felt" and filtered:
            parts.append(f"{name}.energy >= $min_energy AND {name}.confidence >= $min_confidence")
            wanted = f"[emotion IN $required_emotions WHERE emotion IN {name}.emotions]"
            parts.append(f"size({wanted}) >= $emotions_needed")
        elif kind == "felt":
            parts.append(f"{name}.energy >= 0.0 AND {name}.confidence >= 0.0")
        parts.append(_filters(name) if filtered else is_told(name))
        return " AND ".join(parts)

    return _FILTER.sub(fill, body)


def _filters(name: str) -> str:
    """Without filters `$unfiltered` is true and the engine evaluates nothing else."""
    return (
        f"{ordinary(name)} AND ($unfiltered OR {_one_of(name, 'node_type', '$node_types')} "
        f"AND {_one_of(name, 'speaker', '$speakers')} "
        f"AND {_one_of(name, 'episode_id', '$episodes')} AND {_one_of(name, 'source', '$sources')} "
        f"AND {name}.valid_at >= $began_from AND {name}.valid_at < $began_to "
        f"AND all(label IN $labels WHERE {name}[label[0]] CONTAINS label[1]))"
    )


def ordinary(name: str) -> str:
    """The condition that the record `name` is no generalisation, unless `$generalised` asks for these too."""
    return f"({is_told(name)} OR $generalised)"


def is_told(name: str) -> str:
    """The condition that the record `name` was told by somebody: upkeep did not make it of other memories."""
    return f"{name}.node_type <> '{GENERALISATION}'"


def _one_of(name: str, column: str, values: str) -> str:
    return f"(size({values}) = 0 OR {name}.{column} IN {values})"


def node_columns(name: str) -> str:
    """The columns of the memory `name`, in the order of `NODE_COLUMNS`."""
    return columns_of(name, NODE_COLUMNS)


BEGINNING: Final = 1000
"""This many characters of a long text are read where it is not known which passage of it answers."""
CUT_MARK: Final = "\x01"
"""Stands between the beginning of a long text and the number of all its characters; no text holds it."""


THIN_COLUMNS: Final = ("id", "version", "created_at", "expired_at")
"""By these, and by whether its text is cut, a process recognises a record that it has read before."""


def thin_columns(name: str) -> str:
    """The columns of `THIN_COLUMNS`, then 1 where `found_columns` would cut the text, else 0."""
    return f"{columns_of(name, THIN_COLUMNS)}, {is_cut(name)}"


def is_cut(name: str) -> str:
    """1 where `found_columns` would cut the text, else 0."""
    return f"CASE WHEN {name}.passages IS NULL THEN 0 ELSE 1 END"


def found_columns(name: str) -> str:
    """`node_columns`, with only the beginning of a long text: a question shows one passage of it."""
    return ", ".join(each_found_column(name))


def each_found_column(name: str) -> list[str]:
    """The columns of `found_columns`, one by one."""
    text = f"{name}.description"
    cut = (
        f"CASE WHEN {name}.passages IS NULL THEN {text} "
        f"ELSE left({text}, {BEGINNING}) + '{CUT_MARK}' + toString(size({text})) END"
    )
    return [cut if column == "description" else f"{name}.{column}" for column in NODE_COLUMNS]


def link_columns(name: str) -> str:
    """The columns of the link `name`, in the order of `LINK_COLUMNS`."""
    return columns_of(name, LINK_COLUMNS)


def columns_of(name: str, columns: tuple[str, ...]) -> str:
    """The `columns` of the variable `name`, in their order."""
    return ", ".join(f"{name}.{column}" for column in columns)


def assignments(row: str, columns: tuple[str, ...]) -> str:
    """The inside of a property map that copies `columns` from the map `row`. `created_at` is the transaction time
    `at` plus `row.nth` microseconds, so that each row has its own."""
    return (
        ", ".join(
            f"{column}: intern({row}.{column})" if column in REPEATED else f"{column}: {row}.{column}"
            for column in columns
            if column != "created_at"
        )
        + f", created_at: at + {row}.nth"
    )


IS_FOUND: Final = "coalesce(t.digest, '') = one[1]"
"""The condition that the trace `t` has the very vector that a search found, and not an earlier one."""

MOST_FELT: Final = 2000
"""This many of the newest records with one of the emotions are compared, in about 5 ms."""


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
