"""Which standing instructions of the asker shape a request, and which were revoked or replaced since. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.standing_rules import (
    is_conditional,
    is_revocation,
    matter_of,
)
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ANSWERING, ASKING, Question, Request
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.texts import told_by
from schemas.memory import Level
from schemas.temporal import Instant

INSTRUCTIONS_KEPT: Final = 3
"""More standing instructions than these would fill an answer that is about something else."""
LEFT_BEFORE: Final = 2
"""So many of the other memories stay before the instructions: what is asked for may be remembered after all."""
GENERAL: Final = 0.2
"""What an instruction without a condition gains in relevance: it shapes every request."""
SAME_MATTER: Final = 0.3
"""Of two instructions that share so much of the stems of the shorter one, the later replaces the earlier."""


class Instruction(NamedTuple):
    """A standing instruction. `text`: the sentence that bids. `relevance`: to the request, by likeness and words.

    `is_rule`: it bids; else it only tells what its speaker prefers.
    """

    key: Key
    text: str
    said_at: Instant
    relevance: float
    is_rule: bool


def is_request(question: Question, lexicons: Iterable[Lexicon]) -> bool:
    """Whether instructions shape the answer. A question that may be about the world is a request when at most half
    of its words were ever said."""
    if question.request is not Request.POSSIBLE:
        return question.request is Request.SURE
    held: dict[str, bool] = {}
    for lexicon in lexicons:
        for word, count in (lexicon.frequencies or {}).items():
            held[word] = held.get(word, False) or count > 0
    return 2 * sum(held.values()) <= len(held)


def find_instructions(
    candidates: Candidates, speaker_of: Mapping[Key, str], relevance: Mapping[Key, float]
) -> list[Instruction]:
    """The candidates that are standing instructions of the asker: what was kept as a rule in the own graph, and
    what else the asker said with a word such as `always`."""
    found = []
    for key, memory in candidates.memories.items():
        speaker, told = speaker_of.get(key), told_by(memory)
        rule = memory.get("rule") if key[0] == Level.N1 and speaker not in ANSWERING else None
        if not rule and not (speaker in ASKING and told.text.bids):
            continue
        found.append(Instruction(key, rule or told.text.text, told.began, relevance[key], is_rule=bool(rule)))
    return found


def choose_instructions(instructions: Sequence[Instruction]) -> list[Key]:
    """The rules that stand and fit a request best, the best first, at most `INSTRUCTIONS_KEPT`.

    One that was revoked later is left out, one that was replaced later comes after all that stand.
    """
    in_time = sorted((each for each in instructions if each.is_rule), key=lambda each: (each.said_at, each.key))
    standing: list[Instruction] = []
    replaced: set[Key] = set()
    for each in in_time:
        same = [other for other in standing if _is_same_matter(each, other)]
        if is_revocation(each.text) and (ended := _find_ended(each, standing)):
            standing.remove(ended)
            continue
        replaced |= {other.key for other in same}
        standing.append(each)

    def order(each: Instruction) -> tuple[bool, float, Instant, Key]:
        gain = 0.0 if is_conditional(each.text) else GENERAL
        return each.key in replaced, -each.relevance - gain, -each.said_at, each.key

    return [each.key for each in sorted(standing, key=order)[:INSTRUCTIONS_KEPT]]


def choose_preferences(instructions: Sequence[Instruction]) -> list[Key]:
    """What the asker only prefers, and is nearest to a request, at most `INSTRUCTIONS_KEPT`."""
    preferences = [each for each in instructions if not each.is_rule]
    nearest = sorted(preferences, key=lambda each: (-each.relevance, each.key))
    return [each.key for each in nearest[:INSTRUCTIONS_KEPT]]


def _find_ended(revocation: Instruction, standing: Sequence[Instruction]) -> Instruction | None:
    """The instruction that a revocation means: the one that shares the most with it, of those the latest."""
    matter = matter_of(revocation.text)
    shared = [(len(matter & matter_of(each.text)), each.said_at, each.key, each) for each in standing]
    best = max(shared, default=None)
    return best[-1] if best is not None and best[0] else None


def _is_same_matter(one: Instruction, other: Instruction) -> bool:
    ours, theirs = matter_of(one.text), matter_of(other.text)
    shorter = min(len(ours), len(theirs))
    return shorter > 0 and len(ours & theirs) / shorter >= SAME_MATTER
