"""Appraises a text at writing: what its speaker feels, wants, has solved or is blocked on, and asks for. Pure.

Only what the words say is filled; the rest stays empty. Nothing is read as the speaker's own that is quoted,
pasted, asked, supposed, denied or told of somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from orchestration.appraisal import feelings
from orchestration.appraisal.speech import Owner, Sentence, SpeechHit, sentences
from orchestration.appraisal.standing_rules import read_rule
from schemas.memory import ResolutionState, Step
from substrate.language.text import language_of

STATES: Final = frozenset(("states", "states_others", "states_bare"))
"""The tables of phrases for states: of the speaker, of what others did about it, and without the word "I"."""
_ENDS: Final = frozenset((ResolutionState.RESOLVED.value, "good"))
LEAST_IMPORTANCE: Final = 0.3
"""The importance of a memory that nobody gave one (004: the default floor)."""
CONTEMPLATIVE: Final = 0.2
"""What the words of contemplation add to the importance (004, change 4, option A)."""
MOST_GOAL_WORDS: Final = 24

STEPS: Final[Sequence[Step]] = ("Decision", "Learning", "Action")
"""The steps of a solution, the weightier first: a text that tells several is the first of them."""
ENERGY: Final = 0.5
"""The energy of a text that says nothing of it (003, task 4)."""
BY_STATE: Final = {
    ResolutionState.BLOCKED: 0.15,
    ResolutionState.IN_PROGRESS: 0.05,
    ResolutionState.RESOLVED: -0.1,
}
"""What an open or a closed matter adds to the energy."""
BY_FEELING: Final = 0.35
BY_EMPHASIS: Final = 0.05
"""What each sentence in capitals, with several marks or stretched letters adds, at most three times."""


class Voice(StrEnum):
    """Whose words a text is: a person's own, or those of an assistant, a tool, a document."""

    OWN = "own"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What the words of a text say. Intensities, importance and energy are in [0, 1]; what is not said is empty.

    `tells_solution`: the text tells that something was solved, whatever else it tells.
    """

    emotions: Mapping[str, float] = field(default_factory=dict)
    result: str | None = None
    resolution_state: ResolutionState | None = None
    goal: str | None = None
    rule: str | None = None
    importance: float | None = None
    energy: float | None = None
    step: Step | None = None
    tells_solution: bool = False


NOTHING: Final = Appraisal()


def appraise(text: str, voice: Voice) -> Appraisal:
    """What the words of a text say of its speaker; nothing for another's voice. The time is bounded."""
    if voice is Voice.OTHER or not text:
        return NOTHING
    language = language_of(text)
    read = list(sentences(text, language))
    emotions = feelings.own_emotions(read)
    states = _states(read)
    # Work that goes on beside a blockage does not lift it.
    others = [state for state in states if state is not ResolutionState.IN_PROGRESS]
    state = next(reversed(states), None)
    if others and others[-1] is ResolutionState.BLOCKED:
        state = ResolutionState.BLOCKED
    outcomes: set[int] = {1} if ResolutionState.RESOLVED in states else set()
    steps: set[str] = set()
    for sentence in read:
        for hit in sentence.told():
            if hit.entry.kind == "outcomes" and _tells_turn(sentence, hit):
                outcomes |= {"good": {1}, "bad": {-1}}.get(hit.entry.value, {1, -1})
            elif _tells_step(sentence, hit):
                steps.add(hit.entry.value)
    return Appraisal(
        emotions=emotions,
        result=feelings.result_of(outcomes),
        resolution_state=state,
        goal=_goal(text, read),
        rule=read_rule(text, read),
        importance=LEAST_IMPORTANCE + CONTEMPLATIVE if any(map(_contemplates, read)) else None,
        energy=_energy(read, emotions, state),
        step=next((step for step in STEPS if step in steps), None),
        tells_solution=ResolutionState.RESOLVED in states,
    )


def _states(read: Sequence[Sentence]) -> list[ResolutionState]:
    """The states that the speaker tells of the own work, in the order of the text.

    A good outcome after a blockage resolves it: "I was blocked for weeks, but yesterday I got the permit".
    """
    found: list[ResolutionState] = []
    for sentence in read:
        for hit in sentence.told():
            if not _tells_turn(sentence, hit):
                continue
            if hit.entry.kind in STATES:
                found.append(ResolutionState(hit.entry.value))
            elif found and found[-1] is ResolutionState.BLOCKED and hit.entry.value == "good":
                found.append(ResolutionState.RESOLVED)
    return found


def _tells_turn(sentence: Sentence, hit: SpeechHit) -> bool:
    """Whether a phrase tells a state or an outcome of the speaker's own or shared work."""
    kind = hit.entry.kind
    if kind not in STATES and kind != "outcomes":
        return False
    if not (sentence.is_told_of_others(hit) if kind == "states_others" else sentence.is_told(hit)):
        return False
    if hit.entry.value in _ENDS and sentence.is_unfinished(hit):
        return False
    if kind == "states_bare":
        return sentence.opens_clause(hit)
    if kind == "states_others":
        before = sentence.texts[max(0, hit.start - 1) : hit.start]  # "I will not answer": the speaker does it
        is_others = sentence.words["own_subjects"].isdisjoint(before)
        return is_others or hit.entry.value != ResolutionState.BLOCKED
    return sentence.owner_of(hit) is not Owner.OTHER


def _goal(text: str, read: Sequence[Sentence]) -> str | None:
    """The first goal that the speaker tells, without its lead: "learn Spanish" of "I want to learn Spanish"."""
    for sentence in read:
        for hit in sentence.told():
            if hit.entry.kind == "goals" and not sentence.is_negated(hit):
                span = _goal_span(sentence, hit)
                if span is None or sentence.owner_of(hit) is Owner.OTHER:
                    continue
                if not sentence.is_supposed(hit):
                    return " ".join(text[span].split())
    return None


def _goal_span(sentence: Sentence, hit: SpeechHit) -> slice | None:
    tokens, texts, words = sentence.tokens, sentence.texts, sentence.words
    start = hit.end + (hit.end < len(tokens) and texts[hit.end] in ",:")
    if start >= len(texts) or texts[start] in words["goal_not"] | words["negations"]:
        return None
    if hit.entry.value == "doing" and not texts[start].endswith("ing"):
        return None
    end = start
    while end < len(tokens) and end - start < MOST_GOAL_WORDS:
        if sentence.begins_clause(end + 1) or (end > start and texts[end] in words["clause_breaks"]):
            break
        end += 1
    return slice(tokens[start].start, tokens[end - 1].end) if end > start else None


def _contemplates(sentence: Sentence) -> bool:
    deep = (hit for hit in sentence.hits if hit.entry.kind == "importance")
    return any(sentence.owner_of(hit) is not Owner.OTHER for hit in deep)


def _energy(
    read: Sequence[Sentence], emotions: Mapping[str, float], state: ResolutionState | None
) -> float | None:
    """The energy that the words tell, in [0.1, 1]: of the strongest feeling, of emphasis, of an open matter."""
    emphatic = sum("!!" in s.ending or s.elongated or _is_loud(s) for s in read)
    if not emotions and state is None and not emphatic:
        return None
    moved = max((felt * feelings.AROUSAL.get(name, 0.3) for name, felt in emotions.items()), key=abs, default=0.0)
    told = ENERGY + BY_FEELING * moved + BY_EMPHASIS * min(3, emphatic) + (BY_STATE[state] if state else 0.0)
    return round(max(0.1, min(1.0, told)), 2)


def _is_loud(sentence: Sentence) -> bool:
    """Whether at least two words are written in capitals, and more than half of all."""
    words = loud = 0
    for token in sentence.tokens:
        words += token.text.isalpha()
        loud += token.text.isalpha() and token.shape == "A" and len(token.text) > 2
    return loud >= 2 and 2 * loud > words


def _tells_step(sentence: Sentence, hit: SpeechHit) -> bool:
    if hit.entry.kind == "steps_bare":
        return sentence.opens_clause(hit)
    if hit.entry.kind != "steps" or not sentence.is_told(hit):
        return False
    return sentence.owner_of(hit) is not Owner.OTHER
