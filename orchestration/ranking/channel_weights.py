"""The weights of the channels of ranking. Pure.

Each was set on the development conversations of LoCoMo and BEAM and is flat around its value; `docs/retrieval.md`
has what each channel brings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from orchestration.question.reading import Question


@dataclass(frozen=True, slots=True)
class ChannelWeights:
    """The weight of each channel beside base relevance, which is in [0, 1]; 0 switches a channel off.

    `likeness`: share of likeness in base relevance; the rest is words. `named_apart`: the names of speakers are
    left out of the text that is embedded and out of the words of a turn. `time`: for a memory within a period that
    the question names; `seeking`: for the latest or earliest, where it asks for that. `gain`, `answer`: see
    `SpreadWeights`; where the asker's words are asked for and another side answers, `own_gain` takes the place of
    both. `session`: for the best memories of the same session. `speaker`: for the words of a speaker that the
    question names; `of_self`: for those in which they speak of themselves; `own`: for those of the asker, unless
    others' are asked for; `other`: for those of the answering side, in a question about these. `instruction`: for
    a standing instruction of the asker that shapes a request, at least: it is lifted to the most relevant memory.
    `breadth`: what a memory loses beside one of its own time, in a broad question. `opening`: for a turn of the
    asker that opens a session, in a question about an order of events or for a summary. `kind`: for a text that
    gives a thing of the kind that is asked for. `currency`: 1 where what is now stands above what was, in a
    question about the present, else 0. `use`: for a memory that the asker said to have used for a question like
    this one.
    """

    likeness: float = 0.5
    named_apart: bool = True
    time: float = 1.2
    seeking: float = 0.3
    gain: float = 0.85
    answer: float = 0.3
    own_gain: float = 0.3
    session: float = 0.45
    speaker: float = 0.2
    of_self: float = 0.3
    own: float = 0.5
    other: float = 0.1
    instruction: float = 0.5
    breadth: float = 0.15
    opening: float = 0.4
    kind: float = 0.1
    currency: float = 1.0
    use: float = 1.0

    @property
    def words(self) -> float:
        """The share of words in base relevance."""
        return 1.0 - self.likeness


CHANNEL_WEIGHTS: Final = ChannelWeights()


def weights_for(
    weights: ChannelWeights, question: Question, *, in_roles: bool = True, answered: bool = False
) -> ChannelWeights:
    """The weights for this question: where it asks for what was brought up, nothing spreads.

    There a neighbour of a hit belongs to the same event and is no new one. `in_roles`: somebody speaks as `user`;
    only in such a chat this holds for a summary too. `answered`: an answering side, such as an assistant, spoke,
    and the question names no speaker. Where it asks for the asker's words the neighbours are what the other side
    said, and less spreads.
    """
    if weights.opening and (question.orders or (question.whole and in_roles)):
        return replace(weights, gain=0.0, answer=0.0, session=0.0)
    if answered and not question.others and not question.whole:
        return replace(weights, gain=min(weights.gain, weights.own_gain), answer=0.0)
    return weights
