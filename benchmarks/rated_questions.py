"""Asks chats what they answer and what they do not, and keeps what confidence in an answer is read from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from random import Random
from typing import Final

import orjson

from api.runtime.runtime import Runtime, now
from benchmarks.baselines import Bm25
from benchmarks.chat import Chat
from benchmarks.chat_answers import (
    ANSWERABLE,
    GIBBERISH,
    INSTRUCTION,
    NEVER_SAID,
    NONSENSE,
    OTHER_CHAT,
    OTHERS,
    PAST,
    PRESENT,
    TIME,
    foreign_probes,
    intention,
    own_probes,
    store_chat,
)
from benchmarks.datasets import Conversation
from benchmarks.recall import store
from orchestration.question.reading import Question
from orchestration.ranking.confidence import HITS, Evidence, EvidenceHit, weigh_stems
from orchestration.ranking.texts import BARE_TYPES
from orchestration.retrieval import RankedCandidates, rank_candidates
from schemas.intention import RetrievalIntention
from substrate.language.text import words

CATEGORY_5, ABSTENTION = "LoCoMo category 5", "BEAM abstention"
ANSWERED: Final = frozenset((ANSWERABLE, PRESENT, PAST, TIME, INSTRUCTION))
"""The kinds of questions that the chat answers."""
UNANSWERED: Final = (NEVER_SAID, CATEGORY_5, ABSTENTION, OTHER_CHAT, GIBBERISH)


@dataclass(frozen=True, slots=True)
class Rated:
    """A question that was asked of a chat of the set.

    `holds`: whether each hit of the evidence answers it. `memories`: of a young store, 0 of the whole chat. `bm25`
    and `cosine`: the greatest score of any message by the two baselines.
    """

    group: str
    chat: str
    kind: str
    evidence: Evidence
    model: str
    holds: tuple[bool, ...] = ()
    memories: int = 0
    bm25: float = 0.0
    cosine: float = 0.0

    @property
    def is_answerable(self) -> bool:
        """Whether the chat answers it."""
        return self.kind in ANSWERED


@dataclass(frozen=True, slots=True)
class _Probe:
    kind: str
    intention: RetrievalIntention
    expected: frozenset[str] = frozenset()


async def rate_chats(group: str, chats: Sequence[Chat], rt: Runtime) -> list[Rated]:
    """Store the chats and ask each its own questions, those of others and gibberish."""
    rated = []
    for chat in chats:
        await store_chat(chat, rt)
        asked = (*own_probes(chat), *foreign_probes(chat, chats))
        probes = [_Probe(each.kind, intention(chat, each), frozenset(each.expected)) for each in asked]
        bm25 = Bm25([message.text for message in chat.messages])
        rated += [await _rate(group, chat.id, probe, bm25, rt) for probe in probes]
    return rated


async def rate_conversations(
    group: str, conversations: Sequence[Conversation], rt: Runtime, *, unanswered: str
) -> list[Rated]:
    """The same for LoCoMo and BEAM. `unanswered`: the kind of what their authors call unanswerable."""
    rated = []
    for number, one in enumerate(conversations):
        citizen = f"{group.lower()}-{number}"
        await store(one, citizen, rt)
        probes = [
            *(
                _Probe(ANSWERABLE, RetrievalIntention(query_text=each.text, citizen_id=citizen), each.evidence)
                for each in one.questions
            ),
            *(_unanswerable(unanswered, text, citizen) for text in one.unanswerable),
            *(_unanswerable(OTHER_CHAT, text, citizen) for text in _questions_of_others(one, conversations)),
            *(_unanswerable(GIBBERISH, text, citizen) for text in NONSENSE),
        ]
        bm25 = Bm25([turn.text for turn in one.turns])
        rated += [await _rate(group, f"{group} {one.id}", probe, bm25, rt) for probe in probes]
    return rated


def _unanswerable(kind: str, text: str, citizen: str) -> _Probe:
    return _Probe(kind, RetrievalIntention(query_text=text, citizen_id=citizen))


def _questions_of_others(one: Conversation, conversations: Sequence[Conversation]) -> Iterator[str]:
    """Questions of other conversations, evenly taken; the names of their speakers become those of this one."""
    others = [(other, question) for other in conversations if other is not one for question in other.questions]
    step = max(1, len(others) // (2 * OTHERS))
    for other, question in others[::step][: 2 * OTHERS]:
        text, here = question.text, cycle(_speakers(one))
        for name in _speakers(other):
            text = text.replace(name, next(here))
        yield text


def _speakers(conversation: Conversation) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in conversation.turns))


async def _rate(group: str, chat: str, probe: _Probe, bm25: Bm25, rt: Runtime) -> Rated:
    ranked = await rank_candidates(probe.intention, rt.deps, now())
    return Rated(
        group,
        chat,
        probe.kind,
        ranked.evidence,
        rt.deps.embedder.model,
        holds=tuple(bool(names & probe.expected) for names in _names_of_hits(ranked)),
        bm25=bm25.best(probe.intention.query_text),
        cosine=max((memory.likeness or 0.0 for memory in ranked.candidates.memories.values()), default=0.0),
    )


def _names_of_hits(ranked: RankedCandidates) -> Iterator[frozenset[str]]:
    """The names by which each hit may be expected: the ends of its id, and the id of its message."""
    memories = ranked.candidates.memories
    keys = [score.key for score in ranked.activation.order]
    for key in [key for key in keys if memories[key].get("node_type") not in BARE_TYPES][:HITS]:
        extra = orjson.loads(memories[key].get("extra") or "{}")
        yield frozenset((str(extra.get("id")), key[1].partition(":")[2], key[1].rpartition(":")[2]))


def as_young(rated: Rated, memories: int, chance: Random) -> Rated | None:
    """The question as a store of so few memories hears it: with what answers it, and others of its hits by chance.

    None where none of the hits answers an answerable question.
    """
    hits = rated.evidence.hits
    answering = [place for place, holds in enumerate(rated.holds) if holds]
    others = [place for place in range(len(hits)) if place not in answering]
    if not hits or (rated.is_answerable and not answering):
        return None
    added = chance.sample(others, min(len(others), max(0, memories - len(answering))))
    chosen = [hits[place] for place in sorted((*answering, *added))]
    return replace(rated, evidence=_evidence_of(rated.evidence.question, chosen, rated), memories=memories)


def _evidence_of(question: Question, hits: Sequence[EvidenceHit], rated: Rated) -> Evidence:
    speakers = rated.evidence.speakers & {hit.speaker for hit in hits}
    frequencies = Counter(word for hit in hits for word in set(words(hit.text)))
    weights = weigh_stems(question, frequencies, len(hits), speakers)
    return Evidence(question, weights, hits, len(hits), speakers)
