"""Read the LoCoMo and BEAM evaluation files into one shape: conversations of turns, and questions on them."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dateutil import parser

from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.messages import parse_locomo
from orchestration.ingestion.formats.reader import File, FileSet
from schemas.errors import InvalidRequest

LOCOMO_CATEGORIES: Final[Mapping[int, str]] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
}
ADVERSARIAL: Final = 5
"""The category of LoCoMo whose questions nothing answers: mostly the other speaker said it."""
CATEGORY_5: Final = "adversarial"
"""The name of that category."""
ABSTENTION: Final = "abstention"
"""The ability of BEAM whose questions nothing answers."""
DIALOGUE_ID: Final = re.compile(r"D\d+:\d+")
MIDNIGHT_UTC: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Turn:
    """One utterance; `id` is unique in its conversation, and evidence refers to it."""

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
    """Turns in order, and the questions about them. `unanswerable`: those that its authors say nothing answers.

    `adversarial`: those of them (category 5 of LoCoMo) for which the authors name the turns they play on.
    """

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    unanswerable: tuple[str, ...] = ()
    adversarial: tuple[Question, ...] = ()

    @property
    def asked(self) -> tuple[Question, ...]:
        """All questions with evidence, the adversarial ones last."""
        return (*self.questions, *self.adversarial)


def load_locomo(path: Path) -> list[Conversation]:
    """Read one conversation per sample of a LoCoMo file, in its order, with the product's own parser."""
    text = path.read_text(encoding="utf-8")
    parsed = parse_locomo(FileSet(path.stem, (File(path.name, text),), citizen_id="benchmark"))
    questions = {str(sample["sample_id"]): sample["qa"] for sample in json.loads(text)}
    episodes = [item for item in parsed.items if isinstance(item, Episode)]
    return [_locomo_conversation(episode, questions[episode.id]) for episode in episodes]


def load_beam(directory: Path) -> list[Conversation]:
    """Read a directory of BEAM chats: one conversation per JSON file, by file name.

    Raises FileNotFoundError when there is no such file, ValueError for one that is no BEAM chat.
    """
    files = sorted(directory.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"no BEAM chat (*.json) in {directory}")
    return [_read_beam(file) for file in files]


def _read_beam(file: Path) -> Conversation:
    try:
        return _beam_conversation(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is no BEAM chat: {error!r}") from error


def load_sets(locomo: Sequence[Path], beam: Sequence[Path]) -> dict[str, list[Conversation]]:
    """Read each file of LoCoMo and each directory of BEAM as a set, by its name, or by its path if names repeat.

    Raises FileNotFoundError when a path holds no conversation, ValueError when no question of it has evidence.
    """
    paths = [(path, load_locomo) for path in locomo] + [(path, load_beam) for path in beam]
    sets: dict[str, list[Conversation]] = {}
    for path, load in paths:
        name = path.resolve().stem
        loaded = load(path)
        if not any(conversation.questions for conversation in loaded):
            raise ValueError(f"no question of {path} names evidence")
        sets[str(path) if name in sets else name] = loaded
    return sets


def add_sets(parser: ArgumentParser) -> None:
    """Add the arguments that name sets of conversations."""
    for name, what in (("--locomo", "a LoCoMo file"), ("--beam", "a directory of BEAM chats")):
        parser.add_argument(name, type=Path, action="append", default=[], help=f"{what}; repeatable")


def read_sets(parser: ArgumentParser, arguments: Namespace) -> dict[str, list[Conversation]]:
    """Return the sets that the arguments name; end with a message when there is none, or one cannot be read."""
    try:
        sets = load_sets(arguments.locomo, arguments.beam)
    except (OSError, ValueError, InvalidRequest) as error:
        parser.error(str(error))
    if not sets:
        parser.error("give --locomo FILE, --beam DIRECTORY, or both")
    return sets


def _locomo_conversation(episode: Episode, items: Sequence[Mapping[str, Any]]) -> Conversation:
    turns = tuple(
        Turn(turn.key, turn.speaker, turn.text, session.date, session.key)
        for session in episode.sessions
        for turn in session.turns
    )
    known = {turn.id for turn in turns}
    names = {**LOCOMO_CATEGORIES, ADVERSARIAL: CATEGORY_5}
    read = [
        Question(item["question"], names[item["category"]], _locomo_evidence(item, known))
        for item in items
        if item["category"] in names
    ]
    with_evidence = [question for question in read if question.evidence]
    return Conversation(
        episode.id,
        turns,
        tuple(question for question in with_evidence if question.category != CATEGORY_5),
        tuple(question.text for question in read if question.category == CATEGORY_5),
        tuple(question for question in with_evidence if question.category == CATEGORY_5),
    )


def _locomo_evidence(item: Mapping[str, Any], known: Collection[str]) -> frozenset[str]:
    """Return the known turn ids of a question; one string may contain several ("D8:6; D9:17")."""
    return frozenset(
        turn_id for entry in item.get("evidence", ()) for turn_id in DIALOGUE_ID.findall(entry) if turn_id in known
    )


def _beam_conversation(chat: Mapping[str, Any]) -> Conversation:
    turns = tuple(_beam_turns(chat["chat"]))
    known = {turn.id for turn in turns}
    questions = (
        Question(item["question"], ability, _beam_evidence(item, known))
        for ability, items in chat["probing_questions"].items()
        for item in items
    )
    abstention = tuple(item["question"] for item in chat["probing_questions"].get(ABSTENTION, ()))
    return Conversation(str(chat["chat_id"]), turns, tuple(q for q in questions if q.evidence), abstention)


def _beam_turns(batches: list[Mapping[str, Any]]) -> Iterator[Turn]:
    """Yield every message as a turn, with the time of the nearest anchor at or before it."""
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
    """Yield the leaves of lists and dicts of any depth; BEAM uses both, and nests lists in some chats."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for inner in value:
        yield from _leaves(inner)


def _time(text: str | None) -> datetime | None:
    """Parse a date such as "March-15-2024" to an instant in UTC; a date without a zone is taken as UTC."""
    return parser.parse(text, default=MIDNIGHT_UTC).astimezone(UTC) if text else None
