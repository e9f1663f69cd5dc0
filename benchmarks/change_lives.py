"""Wishes for context and changes of a life, on chats: the second half of `python -m benchmarks.change_pairs`.

Wishes are asked of four lives, a day after the last message, beside questions of fact that no message answers.
What changed is asked about in the mode `evolution`, with every other question of the chat: a change that an
answer infers is right when benchmarks/pairs/learning.json or the changes of the chat name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict

from api.runtime.runtime import Runtime, now
from benchmarks.change_cases import DIRECTORY
from benchmarks.chat import DIRECTORY as CHATS
from benchmarks.chat import HELD_BACK, Chat, load_chats
from benchmarks.chat_answers import open_store
from benchmarks.currency import message_id
from benchmarks.life import DIRECTORY as LIVES
from benchmarks.life import Life, Message, load_lives
from benchmarks.waking import wire
from orchestration.features.identity.learning import learning_moments
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.stream import ConsciousnessStream, TemporalDissonance
from schemas.temporal import TemporalMode, to_datetime

FOCUS: Final = 5
FOLDERS: Final = {"tune": (LIVES, CHATS), "sealed": (HELD_BACK,)}
"""Where the chats of a set are; a life that is held back, too, belongs to the sealed set alone."""
WISHES, NEVER_TOLD = "wishes", "never told"

type Pair = tuple[str, str]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Wish(_Value):
    """A request for context on a life, which asks for no fact; `about`: messages that belong to it."""

    life: str
    language: str
    wish: str
    about: tuple[str, ...]


class NeverTold(_Value):
    """A question of fact that a life does not answer."""

    life: str
    language: str
    question: str


class Label(_Value):
    """A later message that shows that what the earlier one said had changed. `question`: what is so now.

    Without a question it is right to infer the change, but nothing is missing without it.
    """

    folder: str
    chat: str
    kind: str
    earlier: str
    later: str
    question: str = ""


class Asked(NamedTuple):
    """What a wish or a question of fact got."""

    kind: str
    focus: int
    nothing_fits: bool
    confidence: float
    about: bool


class Moments(NamedTuple):
    """Of a set of chats: the changes that are labelled, and those that were inferred, by chat and messages."""

    labelled: frozenset[tuple[str, str, str]]
    accepted: frozenset[tuple[str, str, str]]
    inferred: frozenset[tuple[str, str, str]]
    listed: int


def read_wishes(name: str, directory: Path = DIRECTORY) -> tuple[list[Wish], list[NeverTold]]:
    """The wishes, and the facts never told, of the set of this name."""
    groups = orjson.loads((directory / "wishes.json").read_bytes())
    wishes = [Wish.model_validate(each) for each in groups[f"{WISHES} {name}"]]
    return wishes, [NeverTold.model_validate(each) for each in groups[f"{NEVER_TOLD} {name}"]]


def read_labels(directory: Path = DIRECTORY) -> list[Label]:
    """All labels: those to be found, then those that are right to find."""
    groups = orjson.loads((directory / "learning.json").read_bytes())
    return [Label.model_validate(each) for group in ("changed", "accepted") for each in groups[group]]


async def store_messages(citizen: str, name: str, messages: Sequence[Message], rt: Runtime) -> None:
    """Store one conversation as `POST /v1/episodes` does. Raises RuntimeError when a part was refused."""
    sent = orjson.dumps([wire(message) for message in messages]).decode()
    report = await ingest(parse("messages", FileSet(name, (File("messages", sent),), citizen)), rt.deps, now())
    if report.refused:
        raise RuntimeError(f"{name}: {report.refused} refused: {report.faults[:1]}")


async def ask_wishes(name: str) -> list[Asked]:
    """Ask the wishes and the facts never told of a set."""
    wishes, never_told = read_wishes(name)
    lives = {each.id: each for each in load_lives(sorted({wish.life for wish in wishes}))}
    async with open_store() as rt:
        for life in lives.values():
            await store_messages(life.citizen_id, life.id, life.messages, rt)
        asked = [await _ask(WISHES, lives[each.life], each.wish, each.about, rt) for each in wishes]
        return asked + [await _ask(NEVER_TOLD, lives[each.life], each.question, (), rt) for each in never_told]


async def _ask(kind: str, life: Life, text: str, about: Sequence[str], rt: Runtime) -> Asked:
    intention = RetrievalIntention(
        query_text=text,
        citizen_id=life.citizen_id,
        temporal_mode=TemporalMode.POINT_IN_TIME,
        as_of_time=life.messages[-1].time + timedelta(days=1),
        known_at=to_datetime(now()),
    )
    stream = await retrieve_consciousness_context(intention, rt.deps, now())
    focus = stream.activation_tiers.focus
    found = {message_id(node) for node in focus if node.speaker}
    confidence = stream.answer_confidence or 0.0
    return Asked(kind, len(focus), stream.nothing_fits, confidence, not found.isdisjoint(about))


def load_set(name: str) -> list[tuple[str, Chat | Life]]:
    """The chats of a set, each with the name of its folder."""
    held_back = {path.stem for path in HELD_BACK.glob("*.json")}
    loaded: list[tuple[str, Chat | Life]] = []
    for folder in FOLDERS[name]:
        if folder == LIVES:
            loaded += [(folder.name, each) for each in load_lives() if each.id not in held_back]
        else:
            loaded += [(folder.name, each) for each in load_chats((), folder)]
    return loaded


async def find_moments(name: str) -> Moments:
    """Ask each chat of a set all its questions in the mode `evolution`, and note what changes are inferred."""
    labelled, accepted, inferred, listed = set(), set(), set(), 0
    labels = read_labels()
    async with open_store() as rt:
        for folder, chat in load_set(name):
            own = [label for label in labels if (label.folder, label.chat) == (folder, chat.id)]
            steps, right = label_pairs(chat, own)
            labelled |= {(chat.id, *pair) for pair in steps}
            accepted |= {(chat.id, *pair) for pair in right}
            await store_messages(chat.citizen_id, chat.id, chat.messages, rt)
            found = await _infer(chat, own, rt)
            listed += len(found.listed)
            inferred |= {(chat.id, *pair) for pair in found.shown | found.listed}
    return Moments(frozenset(labelled), frozenset(accepted), frozenset(inferred), listed)


def label_pairs(chat: Chat | Life, labels: Sequence[Label]) -> tuple[set[Pair], set[Pair]]:
    """The changes to be found, and all that are right to find: those, others that hold, and what both imply."""
    changes = chat.changes if isinstance(chat, Chat) else ()
    steps = {(label.earlier, label.later) for label in labels if label.question}
    steps |= {pair for change in changes for pair in pairwise(change.values)}
    right = steps | {(label.earlier, label.later) for label in labels}
    return steps, right | {pair for change in changes for pair in combinations(change.values, 2)}


class _Inferred(NamedTuple):
    shown: set[Pair]
    listed: set[Pair]


async def _infer(chat: Chat | Life, labels: Sequence[Label], rt: Runtime) -> _Inferred:
    """The changes that answers infer, and those that the list of learning moments names."""
    changes = chat.changes if isinstance(chat, Chat) else ()
    questions = [label.question for label in labels if label.question]
    questions += [text for change in changes for text in change.present]
    questions += [each.question for each in chat.questions]
    shown: set[Pair] = set()
    ids: dict[str, str] = {}
    for text in dict.fromkeys(questions):
        intention = RetrievalIntention(
            query_text=text, citizen_id=chat.citizen_id, temporal_mode=TemporalMode.EVOLUTION
        )
        stream = await retrieve_consciousness_context(intention, rt.deps, now())
        ids |= _message_ids(stream)
        shown |= set(_pairs(stream.temporal_dissonances, ids))
    moments = await learning_moments(chat.citizen_id, rt.deps, now())
    return _Inferred(shown, set(_pairs(moments.dissonances, ids)))


def _message_ids(stream: ConsciousnessStream) -> dict[str, str]:
    return {node.node_id: message_id(node) for node in stream.activation_tiers.ordered() if node.speaker}


def _pairs(changes: Sequence[TemporalDissonance], ids: Mapping[str, str]) -> Iterator[Pair]:
    """The messages of each inferred change; a memory that no answer showed stands under its own id."""
    for change in changes:
        if change.inferred and change.corrected_by is not None:
            yield (
                ids.get(change.node_id, change.node_id),
                ids.get(change.corrected_by, change.corrected_by),
            )


def rate_wishes(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """The figures of the wishes and of the facts never told."""
    figures = {}
    for kind in (WISHES, NEVER_TOLD):
        own = [each for each in asked if each.kind == kind]
        figures[kind] = {
            "n": float(len(own)),
            "focus": fmean(each.focus for each in own),
            "full focus": fmean(each.focus >= FOCUS for each in own),
            "nothing fits": fmean(each.nothing_fits for each in own),
            "confidence": fmean(each.confidence for each in own),
            "about": fmean(each.about for each in own),
        }
    return figures


def rate_moments(moments: Moments) -> dict[str, float]:
    """Precision and recall of the inferred changes, with the counts behind them."""
    right = len(moments.inferred & moments.accepted)
    found = len(moments.inferred & moments.labelled)
    return {
        "labelled": float(len(moments.labelled)),
        "inferred": float(len(moments.inferred)),
        "right": float(right),
        "found": float(found),
        "listed": float(moments.listed),
        "precision": right / len(moments.inferred) if moments.inferred else 0.0,
        "recall": found / len(moments.labelled),
    }


def show_lives(wishes: Mapping[str, Mapping[str, float]], moments: Mapping[str, float]) -> Iterator[str]:
    """The lines of both tables."""
    yield f"{'':12}{'n':>4}{'focus':>8}{'five':>8}{'nothing fits':>14}{'confidence':>12}{'about':>8}"
    for kind, rated in wishes.items():
        cells = f"{rated['focus']:8.2f}{rated['full focus']:8.3f}{rated['nothing fits']:14.3f}"
        yield f"{kind:12}{rated['n']:4.0f}{cells}{rated['confidence']:12.3f}{rated['about']:8.3f}"
    yield ""
    counts = f"{moments['labelled']:.0f} labelled, {moments['inferred']:.0f} inferred"
    counts += f" ({moments['listed']:.0f} of them listed), {moments['right']:.0f} right"
    yield f"learning moments: {counts}: precision {moments['precision']:.3f}, recall {moments['recall']:.3f}"
