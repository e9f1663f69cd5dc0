"""Read the LoCoMo and BEAM evaluation files into one shape: conversations of turns, and questions on them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dateutil import parser

LOCOMO_CATEGORIES: Final[Mapping[int, str]] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
}
SESSION: Final = re.compile(r"session_(\d+)")
DIALOGUE_ID: Final = re.compile(r"D\d+:\d+")
MIDNIGHT_UTC: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Turn:
    """One utterance; `id` is unique within its conversation and is what evidence points to."""

    id: str
    speaker: str
    text: str
    time: datetime | None
    session: str


@dataclass(frozen=True)
class Question:
    """A question and the ids of the turns that answer it, never empty."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    """Turns in the order they were said, and the questions asked about them."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load_locomo(path: Path) -> list[Conversation]:
    """Take one LoCoMo file, a list of samples; give one conversation per sample, in file order."""
    return [_locomo_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]


def load_beam(directory: Path) -> list[Conversation]:
    """Take a directory of BEAM chats, one JSON file each; give one conversation per file, by file name."""
    files = sorted(directory.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"no BEAM chat (*.json) in {directory}")
    return [_beam_conversation(json.loads(file.read_text(encoding="utf-8"))) for file in files]


def _locomo_conversation(sample: Mapping[str, Any]) -> Conversation:
    turns = tuple(_locomo_turns(sample["conversation"]))
    known = {turn.id for turn in turns}
    asked = (
        Question(item["question"], LOCOMO_CATEGORIES[item["category"]], _locomo_evidence(item, known))
        for item in sample["qa"]
        if item["category"] in LOCOMO_CATEGORIES
    )
    return Conversation(str(sample["sample_id"]), turns, tuple(q for q in asked if q.evidence))


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
    for number in numbers:
        session = f"session_{number}"
        time = _time(conversation.get(f"{session}_date_time"))
        for turn in conversation[session]:
            yield Turn(turn["dia_id"], turn["speaker"], _locomo_text(turn), time, session)


def _locomo_text(turn: Mapping[str, Any]) -> str:
    text, caption = turn["text"], turn.get("blip_caption")
    return f"{text} [shares {caption}]" if caption else str(text)


def _locomo_evidence(item: Mapping[str, Any], known: Collection[str]) -> frozenset[str]:
    """Give the known turn ids of a question; one string may hold several ("D8:6; D9:17")."""
    return frozenset(
        turn_id for entry in item.get("evidence", ()) for turn_id in DIALOGUE_ID.findall(entry) if turn_id in known
    )


def _beam_conversation(chat: Mapping[str, Any]) -> Conversation:
    turns = tuple(_beam_turns(chat["chat"]))
    known = {turn.id for turn in turns}
    asked = (
        Question(item["question"], ability, _beam_evidence(item, known))
        for ability, items in chat["probing_questions"].items()
        for item in items
    )
    return Conversation(str(chat["chat_id"]), turns, tuple(q for q in asked if q.evidence))


def _beam_turns(batches: list[Mapping[str, Any]]) -> Iterator[Turn]:
    """Give every role message as a turn; it has the time of the nearest anchor at or before it."""
    time: datetime | None = None
    for batch in batches:
        session = f"batch_{batch['batch_number']}"
        time = _time(batch.get("time_anchor")) or time
        for exchange in batch["turns"]:
            for message in exchange:
                time = _time(message.get("time_anchor")) or time
                yield Turn(str(message["id"]), message["role"], message["content"], time, session)


def _beam_evidence(item: Mapping[str, Any], known: Collection[str]) -> frozenset[str]:
    return frozenset(str(leaf) for leaf in _leaves(item.get("source_chat_ids"))) & frozenset(known)


def _leaves(value: Any) -> Iterator[Any]:
    """Give what lies in lists and dicts of any depth; BEAM uses both, and nests lists in some chats."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for inner in value:
        yield from _leaves(inner)


def _time(text: str | None) -> datetime | None:
    """Take a written date such as "March-15-2024"; give the instant in UTC, which is assumed if unsaid."""
    return parser.parse(text, default=MIDNIGHT_UTC).astimezone(UTC) if text else None
