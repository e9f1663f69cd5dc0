"""The channels that rank candidates, one function each, and the one table that lists them. Pure.

A channel takes the candidates, the question and its own weight, and gives a score to each candidate it speaks for.
To remove a channel, remove its function, its row and its weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal, NamedTuple

from orchestration.algorithms import maximal_marginal_relevance
from orchestration.appraisal.standing_rules import is_conditional, is_revocation, matter_of
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ANSWERING, ASKING, AnswerKind, Question, Request
from orchestration.ranking import currency
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.channel_weights import ChannelWeights, weights_for
from orchestration.ranking.consciousness_score import Score, greatest_activation, levelled, places_of, stands_out
from orchestration.ranking.learned import NOTHING_LEARNED, Learned, adjusted, question_words, use_priors
from orchestration.ranking.relevance import word_relevance
from orchestration.ranking.spreading import SpreadWeights, spread
from orchestration.ranking.texts import told_by
from orchestration.ranking.times import Sessions, period_fits, seeking_fits, session_numbers, with_answers
from orchestration.traversal.paths import NO_STATE, State
from schemas.memory import GraphKey, Level
from schemas.temporal import Instant
from substrate.language.text import name_key, stems, words

NEAR_IN_TIME: Final = 0.05
"""Share of all candidates, in the order of time, within which two of them are of one time."""
DIVERSIFIED: Final = 40
"""How many of a broad question's candidates are chosen one by one; the rest keep their order."""


@dataclass(frozen=True, slots=True)
class RankingQuestion:
    """A question with all that a channel may read.

    `speakers`: the speakers that the question names, and `speaker_of`: the speaker of each candidate that has one,
    both by `name_key`. `state`: goal and emotions that links are weighed by. While channels run, `parts` holds the
    scores of those before, by candidate and part; `base` the sum of the base parts of each candidate; `scores` the
    final order, best first. `comparison`: which of them tell of a change. `learned`: from feedback.
    """

    question: Question
    lexicons: Mapping[GraphKey, Lexicon]
    weights: ChannelWeights
    speakers: Collection[str]
    speaker_of: Mapping[Key, str]
    state: State = NO_STATE
    parts: Mapping[Key, Mapping[str, float]] = field(default_factory=dict)
    base: Mapping[Key, float] = field(default_factory=dict)
    scores: Sequence[Score] = ()
    comparison: currency.Comparison = currency.NO_COMPARISON
    learned: Learned = NOTHING_LEARNED

    @property
    def keys(self) -> list[Key]:
        """The candidates in the final order."""
        return [score.key for score in self.scores]

    @property
    def relevance(self) -> dict[Key, float]:
        """The sum of the parts of each candidate so far."""
        return {key: sum(scores.values()) for key, scores in self.parts.items()}


def ranking_question(
    question: Question,
    candidates: Candidates,
    lexicons: Mapping[GraphKey, Lexicon],
    weights: ChannelWeights,
    *,
    state: State = NO_STATE,
    learned: Learned = NOTHING_LEARNED,
) -> RankingQuestion:
    """The question with the weights for it and its asker, and the speakers that it and the candidates name."""
    speakers = frozenset(name_key(name) for lexicon in lexicons.values() for name in lexicon.speakers())
    spoken = ((key, told_by(memory).speaker) for key, memory in candidates.memories.items())
    speaker_of = {key: speaker for key, speaker in spoken if speaker is not None}
    roles = frozenset(speaker_of.values())
    answered = not speakers and not ANSWERING.isdisjoint(roles)
    weights = adjusted(weights, learned.factors)
    weights = weights_for(weights, question, in_roles=not ASKING.isdisjoint(roles), answered=answered)
    return RankingQuestion(question, lexicons, weights, speakers, speaker_of, state, learned=learned)


def likeness_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """Likeness to the question, stretched to [0, 1] between the least and the greatest of the candidates.

    A candidate that no search by likeness found has 0. One that was found for its time alone does not stretch.
    """
    memories = candidates.memories
    stretching = [memory for memory in memories.values() if memory.likeness_rank or not memory.begun]
    values = [memory.likeness for memory in stretching if memory.likeness is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    low, width = (low, high - low) if high > low else (high - 1.0, 1.0)
    return {
        key: 0.0 if memory.likeness is None else weight * min(1.0, max(0.0, (memory.likeness - low) / width))
        for key, memory in memories.items()
    }


def word_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """BM25 as a share of the best candidate's, in [0, 1].

    In a turn the name of a speaker says only that the other one was speaking: it is no word of a turn.
    """
    memories = candidates.memories
    named = question.speakers if question.weights.named_apart else ()
    names = {word for name in named for word in words(name)}
    turns: dict[Key, Candidate] = {}
    others: dict[Key, Candidate] = {}
    for key, memory in memories.items():
        (turns if names and key in question.speaker_of else others)[key] = memory
    scores = word_relevance(others, question.lexicons, ())
    if turns:
        scores |= word_relevance(turns, question.lexicons, names)
    best = max(scores.values(), default=0.0) or 1.0
    return {key: weight * scores[key] / best for key in memories}


def time_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """How well a candidate that was not only linked fits a period that the question names, in [0, 1] × weight."""
    read, memories = question.question, candidates.memories
    if not weight or not read.periods:
        return {}
    fits = period_fits(memories, read.periods, alone=read.of_time_alone, plans=read.plans)
    found = {key for key, memory in memories.items() if memory.begun or any(question.parts[key].values())}
    return {key: weight * fit for key, fit in fits.items() if key in found}


def seeking_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """How late a candidate is among those about what the question asks the latest of, in [0, 1] × weight; how
    early where it asks for the earliest."""
    if not weight:
        return {}
    fits = seeking_fits(candidates.memories, question.base, question.question.seeking)
    return {key: weight * fit for key, fit in fits.items()}


def spread_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """Base relevance of the neighbours, over the links between candidates."""
    weights = SpreadWeights(weight, question.weights.answer, inferred=False)
    return spread(candidates, question.base, weights, question.state)


def session_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The mean of the two greatest base relevances of its session, its own among them; in [0, 1] × weight.

    One good hit may be chance; two of one session say that the session was about it.
    """
    memories = candidates.memories
    if not memories:
        return {}
    sessions = session_numbers(memories)
    best, next_best = ([0.0] * (max(sessions) + 1) for _ in range(2))
    for session, key in zip(sessions, memories, strict=True):
        relevance = question.base[key]
        if relevance > best[session]:
            best[session], next_best[session] = relevance, best[session]
        elif relevance > next_best[session]:
            next_best[session] = relevance
    shared = [weight * ((one + other) / 2.0) for one, other in zip(best, next_best, strict=True)]
    return {key: shared[session] for key, session in zip(memories, sessions, strict=True)}


def speaker_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The weight for the words of a speaker that the question names."""
    if not weight:
        return {}
    return {key: weight for key, speaker in question.speaker_of.items() if speaker in question.speakers}


def self_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The weight for what a speaker that the question names says of themselves.

    What somebody is asked about tells more often "I went" than "that sounds great".
    """
    if not weight or not question.speakers:
        return {}
    theirs = (key for key, speaker in question.speaker_of.items() if speaker in question.speakers)
    return {key: weight for key in theirs if told_by(candidates.memories[key]).text.own_words}


def own_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The weight for the asker's own words, unless the question asks for those of the other side or for all.

    A question that says neither "I" nor "my" may be about what nobody said, such as a document: there all but the
    words of the answering side have the weight, and none has it where the question names a speaker.
    """
    read = question.question
    if not weight or read.others or read.whole:
        return {}
    if read.own:
        return _role_score(question, ASKING, weight)
    speakers = question.speaker_of
    if question.speakers or ANSWERING.isdisjoint(speakers.values()):
        return {}
    return {key: weight for key, base in question.base.items() if base and speakers.get(key) not in ANSWERING}


def other_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The weight for the words of the answering side, in a question about them."""
    return _role_score(question, ANSWERING, weight) if question.question.others else {}


def _role_score(question: RankingQuestion, role: Collection[str], weight: float) -> dict[Key, float]:
    if not weight:
        return {}
    speakers = question.speaker_of.items()
    return {key: weight for key, speaker in speakers if speaker in role and speaker not in question.speakers}


def instruction_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """What lifts the chosen rules of the asker to the most relevant memory, for a request.

    What the asker only prefers gets the weight.
    """
    if not weight or not is_request(question.question, question.lexicons.values()):
        return {}
    relevance = question.relevance
    greatest = max(relevance.values(), default=0.0) or weight
    found = find_instructions(candidates, question.speaker_of, question.base)
    preferred = sorted(found, key=lambda each: (each.is_rule, -each.relevance, each.key))[:INSTRUCTIONS_KEPT]
    scores = {each.key: weight for each in preferred if not each.is_rule}
    for key in choose_instructions(found):
        scores[key] = max(weight, greatest - relevance[key])
    return scores


def kind_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The weight for a text that gives a thing of the kind that is asked for: a number for "how many".

    What tells for what a name stands is lifted above the most relevant memory: others only have the name.
    """
    kind = question.question.answer_kind
    if kind is None or not weight:
        return {}
    asked = stems(question.question.text)
    relevant = (key for key, base in question.base.items() if base)
    giving = {key: weight for key in relevant if told_by(candidates.memories[key]).text.gives(kind, asked)}
    if kind.kind is AnswerKind.NAME:
        relevance = question.relevance
        greatest = max(relevance.values())
        for key in giving:
            giving[key] += greatest - relevance[key]
    return giving


def opening_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """What the asker's turns win as openings of a subject, in (0, 2] × weight; see `Sessions.openings`.

    For a question about an order of events or for a summary, in a chat of roles: what is asked for is what the
    asker brought up.
    """
    asked = _brought_up(question)
    if not asked or not weight:
        return {}
    openings = Sessions(candidates.memories).openings(asked, whole=question.question.whole)
    return {key: weight * opening for key, opening in openings.items()}


def exchange_order(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The place of each candidate, from 0, with each answer behind the turn of the asker; for a summary."""
    if not question.question.whole or not weight:
        return {}
    answers = Sessions(candidates.memories).answers(_brought_up(question))
    return places_of(with_answers(question.keys, answers))


def _brought_up(question: RankingQuestion) -> frozenset[Key]:
    """The asker's turns in a chat of roles, where the question asks for an order or a summary of them."""
    read = question.question
    if not question.weights.opening or not (read.orders or read.whole):
        return frozenset()
    return frozenset(key for key, speaker in question.speaker_of.items() if speaker in ASKING)


def use_score(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """What the asker's feedback says of a memory for questions like this one, in [−0.5, 1] × weight.

    A wrong memory loses at most the relevance that it has.
    """
    if not weight or not question.learned.lessons:
        return {}
    priors = use_priors(question.learned.lessons, question_words(question.lexicons))
    told = ((key, weight * priors[key[1]]) for key in candidates.memories if priors.get(key[1]))
    return {key: max(score, -sum(question.parts[key].values())) for key, score in told}


def breadth_order(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The place of each candidate, from 0, in an order that spreads the best over time; for a broad question.

    Maximal marginal relevance of the first `DIVERSIFIED`. Two candidates are alike by exp(−distance / 0.05), in
    (0, 1], the distance being that of their places in the order of `valid_at`, as a share of all. Where openings
    count nothing is spread.
    """
    if not question.question.broad or not weight or _brought_up(question):
        return {}
    memories, keys = candidates.memories, question.keys
    in_time = sorted(keys, key=lambda key: (int(memories[key].get("valid_at")), key))
    places = places_of(in_time)
    shares = [places[key] / len(in_time) for key in keys]

    def nearness(place: int, others: Sequence[int]) -> list[float]:
        here = shares[place]
        return [math.exp(-abs(shares[other] - here) / NEAR_IN_TIME) for other in others]

    totals = [score.total for score in question.scores]
    chosen = list(islice(maximal_marginal_relevance(totals, nearness, weight), DIVERSIFIED))
    order = dict.fromkeys((*chosen, *range(len(keys))))
    return places_of(map(keys.__getitem__, order))


def currency_order(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The place of each candidate, from 0, with what is now above what was, or below in a question about the past.

    Memories that do not speak, such as a session, keep their places.
    """
    if not weight or not question.comparison.changes:
        return {}
    return currency.places_by_currency(question.comparison, question.keys, question.question)


def instruction_order(candidates: Candidates, question: RankingQuestion, weight: float) -> dict[Key, float]:
    """The place of each candidate, from 0, with the chosen rules after the first others that stand out."""
    memories, parts = candidates.memories, question.parts
    wishes = [key for key in question.keys if WISH_PART in parts.get(key, ()) and memories[key].get("rule")]
    if not wishes:
        return {}
    greatest = greatest_activation(question.scores)
    others = [score for score in question.scores if score.key not in wishes]
    before = [score.key for score in others[:LEFT_BEFORE] if stands_out(score, greatest)]
    return places_of(dict.fromkeys((*before, *wishes, *question.keys)))


class Channel(NamedTuple):
    """A row of the table. `weight` names its field of `ChannelWeights`, `part` the score as `explain` shows it.

    `stage`: the parts of `base` channels sum to base relevance, which the `relevance` channels read and add to; an
    `order` channel gives each candidate its place in the final order instead of a score.
    """

    weight: str
    score: Callable[[Candidates, RankingQuestion, float], dict[Key, float]]
    part: str
    stage: Literal["base", "relevance", "order"]


SPEAKER_PART: Final = "speaker"
WISH_PART: Final = "wish"
CHANNELS: Final = (
    Channel("likeness", likeness_score, "likeness", "base"),
    Channel("words", word_score, "words", "base"),
    Channel("time", time_score, "time", "base"),
    Channel("seeking", seeking_score, "seeking", "relevance"),
    Channel("gain", spread_score, "spread", "relevance"),
    Channel("session", session_score, "sitting", "relevance"),
    Channel("speaker", speaker_score, SPEAKER_PART, "relevance"),
    Channel("of_self", self_score, "of_self", "relevance"),
    Channel("own", own_score, SPEAKER_PART, "relevance"),
    Channel("other", other_score, SPEAKER_PART, "relevance"),
    Channel("kind", kind_score, "kind", "relevance"),
    Channel("opening", opening_score, "opening", "relevance"),
    Channel("instruction", instruction_score, WISH_PART, "relevance"),
    Channel("use", use_score, "use", "relevance"),
    Channel("currency", currency_order, currency.PART, "order"),
    Channel("breadth", breadth_order, "breadth", "order"),
    Channel("opening", exchange_order, "exchange", "order"),
    Channel("instruction", instruction_order, WISH_PART, "order"),
)
"""In the order in which they run and in which their parts are added up."""


def relevance_parts(candidates: Candidates, question: RankingQuestion) -> dict[Key, dict[str, float]]:
    """The scores of all channels for each candidate, by part; their sum, at least 0, is its relevance."""
    parts: dict[Key, dict[str, float]] = {key: {} for key in candidates.memories}
    question = replace(question, parts=parts)
    _run_stage("base", candidates, question, parts)
    question = replace(question, base=question.relevance)
    _run_stage("relevance", candidates, question, parts)
    return parts


def _run_stage(
    stage: str, candidates: Candidates, question: RankingQuestion, parts: Mapping[Key, dict[str, float]]
) -> None:
    for channel in CHANNELS:
        if channel.stage == stage:
            scores = channel.score(candidates, question, getattr(question.weights, channel.weight))
            for key, score in scores.items():
                parts[key][channel.part] = score


def final_order(scores: Sequence[Score], candidates: Candidates, question: RankingQuestion) -> list[Score]:
    """The scores, best first, as the `order` channels place them; see `levelled`."""
    order = list(scores)
    question = replace(question, scores=order)
    for channel in CHANNELS:
        if channel.stage == "order":
            places = channel.score(candidates, question, getattr(question.weights, channel.weight))
            if places:
                order = sorted(order, key=lambda score: places.get(score.key, 0.0))
                if channel.part == currency.PART:
                    order = levelled(order, currency.PART)
                question = replace(question, scores=order)
    return order


INSTRUCTIONS_KEPT: Final = 3
"""More standing instructions than these would fill an answer that is about something else."""
LEFT_BEFORE: Final = 2
"""This many of the other memories stay before the instructions: what is asked for may be remembered after all."""
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
