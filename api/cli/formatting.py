"""Dates, numbers and names as the command line prints them; stored texts made safe for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from schemas.collectives import owner_of
from schemas.memory import (
    STORED_DEFAULTS,
    ConsciousnessNode,
    NamesGraph,
    ResolutionState,
    collective_of,
    graph_key,
    level_of,
)
from schemas.temporal import long_date

STATES: Final = {
    ResolutionState.RESOLVED: "resolved",
    ResolutionState.IN_PROGRESS: "in progress",
    ResolutionState.BLOCKED: "blocked",
}
REASONS: Final = {"reality_changed": "the world changed", "discovered_false": "it was found to be false"}
CHANNELS: Final = {"mode": "state", "likeness": "meaning", "words": "words", "spread": "links"}
"""The printed name of each part of base relevance."""

_LEAST_PART: Final = 0.005


def strip_controls(text: str) -> str:
    """The text without control characters."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text.expandtabs(4))


def to_line(text: str) -> str:
    return " ".join(strip_controls(text).split())


def name_graph(graph: NamesGraph, citizen_id: str | None) -> str:
    """A graph in words: its level, and whose it is."""
    key = graph_key(graph.level, graph.collective)
    return f"{level_of(key)} of {owner_of(key, citizen_id)}" if citizen_id or collective_of(key) else key


def describe_missing(degraded: Sequence[str]) -> list[str]:
    """One line for each missing part of an answer: `degraded` holds names of queries and whole sentences."""
    return [part if " " in part else f"{part} was not answered" for part in degraded]


def shorten(text: str, width: int) -> str:
    """Cut a text to one line of `width` characters, between words, with an ellipsis for the rest."""
    line = to_line(text)
    if len(line) <= width:
        return line
    cut = line[: width - 2]
    whole = cut.rpartition(" ")[0]
    return f"{(whole if len(whole) > width // 2 else cut).rstrip(' ,;:')} …"


def format_time(moment: datetime | None) -> str:
    """A moment to the minute, in UTC; an open end is a dash."""
    return "–" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def format_moment(moment: datetime) -> str:
    """The day in UTC, and the time of day unless it is midnight."""
    utc = moment.astimezone(UTC)
    return long_date(utc) if utc.time() == datetime.min.time() else f"{long_date(utc)} {utc:%H:%M} UTC"


def choose_title(node: ConsciousnessNode) -> str:
    """The speaker of a memory, or else its name."""
    return to_line(node.speaker or node.name)


def choose_handle(node: ConsciousnessNode) -> str:
    """The name of a memory, with the speaker if there is one."""
    return to_line(f"{node.speaker} {node.name}" if node.speaker else node.name)


def format_emotions(felt: Mapping[str, float] | None, most: int = 3) -> str:
    """The strongest emotions: `joy 0.7, calm 0.4`."""
    strongest = sorted((felt or {}).items(), key=lambda item: (-item[1], item[0]))[:most]
    return ", ".join(f"{to_line(name)} {intensity:.2g}" for name, intensity in strongest if intensity > 0)


def describe_measures(node: ConsciousnessNode) -> list[str]:
    """Energy and confidence unless they have their defaults, then emotions and resolution state."""
    parts = [
        f"{name} {value:.2g}"
        for name, value in (("energy", node.energy), ("confidence", node.confidence))
        if value != STORED_DEFAULTS[name]
    ]
    felt = format_emotions(node.emotion_vector)
    if felt:
        parts.append(felt)
    if node.resolution_state is not None:
        parts.append(STATES[node.resolution_state])
    return parts


def describe_likeness(node: ConsciousnessNode) -> list[str]:
    """The cosine of a memory and the question; empty where likeness did not find it."""
    return [] if node.likeness is None else [f"likeness {node.likeness:.2f}"]


def describe_end(node: ConsciousnessNode) -> list[str]:
    """The ends of a record on both time axes, what seems to hold instead, and how often it was said."""
    reason = REASONS.get(node.invalidation_reason or "")
    parts = []
    if node.invalid_at is not None:
        parts.append(f"held until {long_date(node.invalid_at)}")
    if node.expired_at is not None:
        parts.append(f"believed until {long_date(node.expired_at)}")
    if parts and reason:
        parts[-1] += f": {reason}"
    parts += [f"contested by {each.by or 'somebody'}: {each.reason}" for each in node.contested]
    if node.overtaken_at is not None:
        parts.append(f"held until {long_date(node.overtaken_at)}, it seems: see {node.overtaken_by}")
    if node.duplicates:
        parts.append(f"said {len(node.duplicates) + 1} times")
    return parts


def explain_match(node: ConsciousnessNode, entities: Sequence[str]) -> str:
    """Why a memory was found: named in the question, by words, by meaning, over links, by plurality."""
    terms = node.score_terms or {}
    channels = sorted(
        ((terms.get(term, 0.0), word) for term, word in CHANNELS.items() if terms.get(term, 0.0) >= _LEAST_PART),
        reverse=True,
    )
    reasons = ["named in the question"] if node.name in entities and not node.speaker else []
    if channels:
        reasons.append("found by " + ", ".join(f"{word} {value:.2f}" for value, word in channels))
    if reasons or "vector" in node.retrieval_source:
        return ", ".join(reasons) or "found by meaning"
    return "found by plurality" if "plurality" in terms and not terms.get("spread") else "found over links"


def format_score(node: ConsciousnessNode) -> str:
    """The consciousness-aware score with each of its terms."""
    terms = {name: value for name, value in (node.score_terms or {}).items() if name not in CHANNELS}
    shown = " ".join(
        f"{'−' if value < 0 else '+'} {name.replace('_', ' ')} {abs(value):.2f}" for name, value in terms.items()
    )
    return f"score {node.consciousness_adjusted_score or 0.0:.2f} = {shown.removeprefix('+ ')}"
