"""How the channels of a question combine: the weights, and what each memory has from them. Pure.

The only place that knows the weights. Each was found on the development conversations of LoCoMo and BEAM, is flat
around its value, and brings what `docs/retrieval.md` says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from orchestration.question.reading import ANSWERING, ASKING, Question, is_wish
from orchestration.ranking.candidates import Candidate, Key
from substrate.text import name_key


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights beside base relevance, which is in [0, 1]; 0 switches a channel off.

    `likeness`: share of likeness in base relevance, the rest is words. `named_apart`: likeness is measured to
    the question without the speakers that it names, and their names are no words of it. `time`: for what lies in
    a period that the question names. `gain`: how much of a memory's relevance a link of traversal probability 1
    carries; `answer`: how much more goes from a turn that asks to the next one; `sitting`: how much of its best
    a sitting shares. `speaker`: for the words of whom the question names; `own`: for those of the asker, in a
    question of the first person; `other`: for those of the answering side, where the question is about these.
    `wish`: for a wish of the asker, where something is to be done. `breadth`: what a memory loses beside one of
    its own time, in a broad question. `opening`: for the new words of what was said by whom an order is asked of;
    there nothing is lent over links or within a sitting.
    """

    likeness: float = 0.5
    named_apart: bool = True
    time: float = 0.2
    gain: float = 0.85
    answer: float = 0.3
    sitting: float = 0.45
    speaker: float = 0.4
    own: float = 0.5
    other: float = 0.1
    wish: float = 0.5
    breadth: float = 0.15
    opening: float = 0.8


FUSION = Fusion()


def suited(fusion: Fusion, question: Question) -> Fusion:
    """The weights for this question. In an order of aspects what stands beside a hit is of the same aspect."""
    aspects = question.orders and fusion.opening
    return replace(fusion, gain=0.0, answer=0.0, sitting=0.0) if aspects else fusion


WISHES_KEPT = 3
"""More wishes than these would fill an answer that is about something else."""


def said(memory: Candidate, question: Question, speakers: Collection[str], fusion: Fusion) -> float:
    """What a memory has because of who said it: `speakers` are whom the question names, by `name_key`."""
    said_by = memory.get("speaker")
    speaker = name_key(said_by) if said_by else None
    if speaker in speakers:
        return fusion.speaker
    if speaker in ASKING and question.own and not question.others and not question.whole:
        return fusion.own
    return fusion.other if speaker in ANSWERING and question.others else 0.0


def wished(
    memories: Mapping[Key, Candidate], relevance: Mapping[Key, float], question: Question, fusion: Fusion
) -> dict[Key, float]:
    """What the standing wishes of the asker have: the `WISHES_KEPT` most relevant ones, if any bears on this."""
    if not question.wishes:
        return {}
    wishes = [
        key
        for key, memory in memories.items()
        if (speaker := memory.get("speaker"))
        and name_key(speaker) in ASKING
        and is_wish(memory.get("description") or "")
    ]
    kept = sorted(wishes, key=lambda key: (-relevance[key], key))[:WISHES_KEPT]
    return dict.fromkeys(kept, fusion.wish)


def timed(memory: Candidate, question: Question, fusion: Fusion) -> float:
    """What a memory has for lying in a period that the question names."""
    if not question.windows:
        return 0.0
    began = int(memory.get("valid_at"))
    return fusion.time if any(window.contains(began) for window in question.windows) else 0.0
