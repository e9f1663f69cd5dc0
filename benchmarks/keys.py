"""Changes by key, and what was never said: the conversations of benchmarks/keys, and generated facts.

A key is a subject and a relation, "Paolo" and "drives for work"; a change tells another object of the same key.
Of a change the later object is asked for (`now`), and the earlier one, or the one between (`past`). Of what only
looks like a change (`partial`, `growing` lists, `two` people with one relation) the right turn is asked for too.
A `never` question asks of a conversation what it does not tell, and its twin what it tells of the same things.
Every other item of a kind is sealed: no rule was chosen on it.

Generated facts are told in one diary: some keys are told twice, now and then in other words.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Final, Literal, NamedTuple

import numpy as np
from pydantic import AwareDatetime, BaseModel, ConfigDict

from api.runtime.runtime import Runtime
from benchmarks.baselines import (
    BM25,
    COSINE,
    RRF,
    Bm25,
    indexed_text,
    rank_all,
    rank_standard_scores,
    standard_scores,
)
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.recall import answer, store, turns_shown
from benchmarks.scoring import area
from schemas.intention import RetrievalIntention

DIRECTORY: Final = Path(__file__).parent / "keys"
KEYED: Final = Path(__file__).parent / "facts" / "keyed.json"
Z_SCORES, NEWEST, RETRIEVE = "z-scores", "newest of five words", "retrieve"
NOW, PAST = "now", "past"
CHANGED: Final = ("replaced", "return")
OPENING: Final = 5
"""The rival takes the newest of the turns that begin with as many words as the best one of RRF."""
LIMIT: Final = 20
"""`max_results_per_level` of every question."""
REWORDED: Final = 0.15
"""The share of the generated changes that are told in other words than before."""
START: Final = datetime(2024, 1, 1, 8, tzinfo=UTC)


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Value):
    """A turn; `id` is unique in its conversation."""

    id: str
    session: str
    time: AwareDatetime
    speaker: str
    text: str


class Ask(_Value):
    """A question, and the turns of which one answers it."""

    text: str
    evidence: tuple[str, ...]


class KeyChange(_Value):
    """The turns that tell a key, in the order of time, and what is asked of it."""

    kind: Literal["replaced", "return", "partial", "growing", "two"]
    told: tuple[str, ...]
    now: tuple[Ask, ...]
    past: tuple[Ask, ...]
    sealed: bool


class NeverSaid(_Value):
    """A question that nothing answers, and one of the same things that a turn answers."""

    text: str
    twin: Ask
    sealed: bool


class KeyTalk(_Value):
    """A conversation of two people with its changes and with what it does not tell."""

    turns: tuple[Said, ...]
    changes: tuple[KeyChange, ...]
    never: tuple[NeverSaid, ...]


class Probe(NamedTuple):
    """A question; `told`: the turns of its key; `kind` and `when` say what it is of."""

    question: Question
    told: frozenset[str]
    kind: str
    when: str


class Told(NamedTuple):
    """A conversation as it is stored, with its questions."""

    conversation: Conversation
    probes: Sequence[Probe]
    twins: Sequence[Question] = ()


class _Relation(_Value):
    values: tuple[str, ...]
    asked: str
    told: tuple[str, ...]


class _Keyed(_Value):
    people: tuple[str, ...]
    things: tuple[str, ...]
    of_people: tuple[_Relation, ...]
    of_things: tuple[_Relation, ...]


@dataclass
class Found:
    """What a method brought, by kind and by now or past: whether the right turn was before the others of its key
    (`first`), whether before all (`top`), and whether one was told as overtaken by another (`told_over`).
    """

    first: defaultdict[tuple[str, str], list[bool]] = field(default_factory=lambda: defaultdict(list))
    top: defaultdict[tuple[str, str], list[bool]] = field(default_factory=lambda: defaultdict(list))
    told_over: defaultdict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def add(self, probe: Probe, ranking: Sequence[str]) -> None:
        """Add a ranking."""
        key = probe.kind, probe.when
        values = [turn for turn in ranking if turn in probe.told]
        self.first[key].append(bool(values) and values[0] in probe.question.evidence)
        self.top[key].append(bool(ranking) and ranking[0] in probe.question.evidence)


@dataclass
class Sureness:
    """How sure each method is of what was said, and of what was not; `silent`: whether nothing was shown."""

    said: list[float] = field(default_factory=list)
    never: list[float] = field(default_factory=list)
    silent_said: list[bool] = field(default_factory=list)
    silent_never: list[bool] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def load_keys(*, sealed: bool) -> list[Told]:
    """Read the conversations with the questions that are sealed, or that are not.

    Raises pydantic's ValidationError for another shape.
    """
    return [_read(file, sealed=sealed) for file in sorted(DIRECTORY.glob("*.json"))]


def _read(file: Path, *, sealed: bool) -> Told:
    talk = KeyTalk.model_validate_json(file.read_bytes())
    turns = tuple(Turn(each.id, each.speaker, each.text, each.time, each.session) for each in talk.turns)
    probes = [
        Probe(_question(ask, change.kind), frozenset(change.told), change.kind, when)
        for change in talk.changes
        if change.sealed is sealed
        for when, asks in ((NOW, change.now), (PAST, change.past))
        for ask in asks
    ]
    never = [each for each in talk.never if each.sealed is sealed]
    unanswerable = tuple(each.text for each in never)
    questions = (*(probe.question for probe in probes), *(_question(each.twin, "twin") for each in never))
    return Told(Conversation(file.stem, turns, questions, unanswerable), probes, questions[len(probes) :])


def _question(ask: Ask, kind: str) -> Question:
    return Question(ask.text, kind, frozenset(ask.evidence))


def generate_facts(asked: int, facts: int, seed: int) -> Told:
    """A diary of so many facts, in which as many keys as are asked change: the same for the same seed.

    Beyond the keys of `facts/keyed.json` the subjects are numbered, and no key of them is asked.
    """
    keyed = _Keyed.model_validate_json(KEYED.read_bytes())
    chance = random.Random(seed)
    keys = [(name, relation) for name in keyed.people for relation in keyed.of_people]
    keys += [(name, relation) for name in keyed.things for relation in keyed.of_things]
    chance.shuffle(keys)
    numbers = iter(range(2, facts))
    while len(keys) < facts - asked:
        number = next(numbers)
        keys += [(f"{name} {number}", relation) for name in keyed.things for relation in keyed.of_things]
    said: list[tuple[float, str, int]] = []
    for number, (name, relation) in enumerate(keys[: facts - asked]):
        words, values = chance.choice(relation.told), chance.sample(relation.values, 2)
        at = chance.random()
        said.append((at, words.format(s=name, v=values[0]), number))
        if number < asked:
            others = [each for each in relation.told if each is not words]
            later = chance.choice(others) if chance.random() < REWORDED else words
            said.append((at + (1.1 - at) * chance.uniform(0.2, 1.0), later.format(s=name, v=values[1]), number))
    said.sort()
    hours = 24 * 400 / len(said)
    turns = [
        Turn(f"f{place}", "user", f"{text[0].upper()}{text[1:]}.", START + timedelta(hours=hours * place), "diary")
        for place, (_, text, _) in enumerate(said)
    ]
    places: defaultdict[int, list[str]] = defaultdict(list)
    for turn, (_, _, number) in zip(turns, said, strict=True):
        places[number].append(turn.id)
    probes = [
        Probe(Question(relation.asked.format(s=name), NOW, frozenset(told[-1:])), frozenset(told), "replaced", NOW)
        for number, (name, relation) in enumerate(keys[:asked])
        for told in (places[number],)
    ]
    return Told(
        Conversation(f"diary-{facts}-{seed}", tuple(turns), tuple(probe.question for probe in probes)),
        tuple(probes),
    )


async def ask_all(told: Sequence[Told], rt: Runtime) -> tuple[dict[str, Found], dict[str, Sureness]]:
    """Store every conversation and ask its questions of all methods."""
    found: defaultdict[str, Found] = defaultdict(Found)
    sure: defaultdict[str, Sureness] = defaultdict(Sureness)
    for each in told:
        await _ask_rivals(each, rt, found, sure)
        await _ask_ours(each, rt, found[RETRIEVE], sure[RETRIEVE])
    return found, sure


async def _ask_rivals(told: Told, rt: Runtime, found: dict[str, Found], sure: dict[str, Sureness]) -> None:
    turns, embedder = told.conversation.turns, rt.deps.embedder
    questions = [probe.question for probe in told.probes]
    vectors = np.array(await embedder.embed_texts([indexed_text(turn) for turn in turns]))
    asked = np.array([await embedder.embed_query(question.text) for question in questions])
    ranked = rank_all(told.conversation, questions, vectors, asked)
    ranked[Z_SCORES] = rank_standard_scores(told.conversation, questions, vectors, asked)
    openings = {turn.id: tuple(turn.text.lower().split()[:OPENING]) for turn in turns}
    later_first = [turn.id for turn in reversed(turns)]
    ranked[NEWEST] = [
        [turn for turn in later_first if openings[turn] == openings[best[0]]] for best in ranked[RRF]
    ]
    for name in (BM25, COSINE, RRF, Z_SCORES, NEWEST):
        for probe, ranking in zip(told.probes, ranked[name], strict=True):
            found[name].add(probe, ranking)
    if not told.conversation.unanswerable:
        return
    words = Bm25([indexed_text(turn) for turn in turns])
    for text, is_said in [(each.text, True) for each in told.twins] + [
        (text, False) for text in told.conversation.unanswerable
    ]:
        vector = np.array([await embedder.embed_query(text)])
        alike = (vector @ vectors.T)[0] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vector)
        both = standard_scores(told.conversation, [text], vectors, vector)[0]
        for name, value in ((BM25, words.best(text)), (COSINE, float(alike.max())), (Z_SCORES, float(both.max()))):
            (sure[name].said if is_said else sure[name].never).append(value)


async def _ask_ours(told: Told, rt: Runtime, found: Found, sure: Sureness) -> None:
    citizen = f"keys-{told.conversation.id}"
    await store(told.conversation, citizen, rt)

    def asked(text: str) -> RetrievalIntention:
        return RetrievalIntention(query_text=text, citizen_id=citizen, max_results_per_level=LIMIT)

    for probe in told.probes:
        stream = await answer(asked(probe.question.text), rt.deps)
        found.add(probe, turns_shown(stream, told.conversation))
        ids = {f"{told.conversation.id}:{turn}" for turn in probe.told}
        nodes = [node for node in stream.activation_tiers.ordered() if node.node_id in ids]
        if probe.when == NOW:
            found.told_over[probe.kind].append(any(node.overtaken_by in ids for node in nodes))
    for question in told.twins:
        stream = await answer(asked(question.text), rt.deps)
        ranking = turns_shown(stream, told.conversation)
        sure.said.append(stream.answer_confidence or 0.0)
        sure.silent_said.append(stream.nothing_fits)
        sure.right.append(ranking[:1] != [] and ranking[0] in question.evidence)
    for text in told.conversation.unanswerable:
        stream = await answer(asked(text), rt.deps)
        sure.never.append(stream.answer_confidence or 0.0)
        sure.silent_never.append(stream.nothing_fits)


def rows(name: str, found: dict[str, Found], sure: dict[str, Sureness]) -> Iterator[list[str]]:
    """The lines of the table: changes by kind, the never said, and what was told as a change."""
    for kinds, when in (
        (CHANGED, NOW),
        (CHANGED, PAST),
        (("partial",), NOW),
        (("growing",), NOW),
        (("two",), NOW),
    ):
        for method, each in found.items():
            first = [value for kind in kinds for value in each.first[kind, when]]
            top = [value for kind in kinds for value in each.top[kind, when]]
            if first:
                label = f"{name}, {kinds[0]} {when} ({len(first)})"
                yield [label, method, f"first {fmean(first):.3f}", f"at 1 {fmean(top):.3f}"]
    for kind, told in found[RETRIEVE].told_over.items():
        yield [f"{name}, {kind}", RETRIEVE, f"told as changed {fmean(told):.3f}", ""]
    for method, values in sure.items():
        if values.never:
            line = f"{name}, never said ({len(values.never)})"
            yield [line, method, f"AUROC {area(values.said, values.never):.3f}", ""]
    silence = sure[RETRIEVE]
    if silence.never:
        never, said = fmean(silence.silent_never), fmean(silence.silent_said)
        yield [f"{name}, never said", RETRIEVE, f"silent {never:.3f}", f"of its twins {said:.3f}"]
        yield [f"{name}, twins", RETRIEVE, f"at 1 {fmean(silence.right):.3f}", ""]
