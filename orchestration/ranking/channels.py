"""The channels that rank candidates, one function each, and the two tables that list them. Pure.

A channel takes the table of the candidates and its own weight, and gives a column: the score of each candidate. An
order takes them with the scores so far, best first, and gives these in its order. To remove one, remove its
function, its row and its weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, NamedTuple

from orchestration.algorithms import correlation, maximal_marginal_relevance
from orchestration.appraisal.standing_rules import is_conditional, is_revocation, matter_of
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ANSWERING, ASKING, AnswerKind, Question, Request
from orchestration.ranking import currency
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.channel_weights import ChannelWeights, weights_for
from orchestration.ranking.consciousness_score import Score, greatest_activation, stands_out
from orchestration.ranking.learned import NOTHING_LEARNED, Learned, adjusted, question_words, use_priors
from orchestration.ranking.relevance import word_relevance
from orchestration.ranking.spreading import SpreadWeights, spread
from orchestration.ranking.texts import MemoryText, told_by
from orchestration.ranking.times import Sessions, fit_to_periods, session_numbers, with_answers
from orchestration.traversal.paths import NO_STATE, State
from schemas.memory import GraphKey, Level
from schemas.temporal import Instant
from substrate.language.text import name_key, stems, word_language, words

NEAR_IN_TIME: Final = 0.05
"""Share of all candidates, in the order of time, within which two of them are of one time."""
DIVERSIFIED: Final = 40
"""How many of a broad question's candidates are chosen one by one; the rest keep their order."""
COVERED: Final = 0.7
"""Where the best candidate covers less of the question's words, by their rarity, words count for less: they find
what shares a word by chance, and so do the links of what they find."""
DOUBTED, AGREEING = 0.6, 0.3
"""Where so little of a question is known, its words count in full if BM25 and likeness correlate by so much among
the candidates: a word that is shared by chance stands in texts that are not like the question."""
SHARED_SESSION: Final = 3.0
"""A third of what the words of a question can say is enough to tell which session is about it."""
ABOUT: Final = 0.8
"""Of the greatest base relevance: a candidate with this share is about what the question asks the latest of."""

type Column = Sequence[float | None]
"""The score of each candidate, in their order; None for one of which nothing is said. Empty where none has one."""


@dataclass(slots=True, kw_only=True)
class Table:
    """A question and its candidates in columns: what stands in one place of each is of one candidate.

    `weights`: for this question and its asker. `speakers`: those that the question names, and `spoken`: the
    speaker of each candidate, both by `name_key`. `told`: what each tells. `state`: goal and emotions that links
    are weighed by. `learned`: from feedback. `parts`: the columns of the channels so far, by part. `base`: the sum
    of those of the `base` channels. `comparison`: which candidates tell of a change. `known`: how much the words
    of the question say of where to look, in [0, 1], once they are scored.
    """

    question: Question
    candidates: Candidates
    lexicons: Mapping[GraphKey, Lexicon]
    weights: ChannelWeights
    speakers: Collection[str]
    keys: Sequence[Key]
    memories: Sequence[Candidate]
    told: Sequence[MemoryText]
    spoken: Sequence[str | None]
    state: State = NO_STATE
    learned: Learned = NOTHING_LEARNED
    parts: dict[str, Column] = field(default_factory=dict)
    base: Sequence[float] = ()
    known: float = 1.0
    comparison: currency.Comparison = currency.NO_COMPARISON

    def relevance(self) -> list[float]:
        """The sum of the parts of each candidate so far."""
        return [sum(filter(None, row), 0.0) for row in zip(*self.parts.values(), strict=True)]

    def row(self, place: int) -> dict[str, float]:
        """The parts of one candidate, by name."""
        row: dict[str, float] = {}
        for part, column in self.parts.items():
            score = column[place]
            if score is not None:
                row[part] = score
        return row

    def repeats(self) -> bool:
        """Whether two candidates say the very same words."""
        return len({told.lexical.flat for told in self.told}) < len(self.told)


def table_of(
    question: Question,
    candidates: Candidates,
    lexicons: Mapping[GraphKey, Lexicon],
    weights: ChannelWeights,
    *,
    state: State = NO_STATE,
    learned: Learned = NOTHING_LEARNED,
) -> Table:
    """The table of the candidates, with the weights for the question and its asker."""
    memories = list(candidates.memories.values())
    told = list(map(told_by, memories))
    spoken = [each.speaker for each in told]
    speakers = frozenset(name_key(name) for lexicon in lexicons.values() for name in lexicon.speakers())
    roles = frozenset(filter(None, spoken))
    answered = not speakers and not ANSWERING.isdisjoint(roles)
    weights = adjusted(weights, learned.factors)
    return Table(
        question=question,
        candidates=candidates,
        lexicons=lexicons,
        weights=weights_for(weights, question, in_roles=not ASKING.isdisjoint(roles), answered=answered),
        speakers=speakers,
        keys=list(candidates.memories),
        memories=memories,
        told=told,
        spoken=spoken,
        state=state,
        learned=learned,
    )


def likeness_score(table: Table, weight: float) -> list[float]:
    """Likeness to the question, stretched to [0, 1] between the least and the greatest of the candidates.

    A candidate that no search by likeness found has 0. One that was found for its time alone does not stretch.
    """
    values: list[float] = []
    for memory in table.memories:
        if memory.likeness is not None and (memory.likeness_rank or not memory.begun):
            values.append(memory.likeness)
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    low, width = (low, high - low) if high > low else (high - 1.0, 1.0)
    scores: list[float] = []
    for memory in table.memories:
        likeness = memory.likeness
        scores.append(0.0 if likeness is None else weight * min(1.0, max(0.0, (likeness - low) / width)))
    return scores


def word_score(table: Table, weight: float) -> list[float]:
    """BM25 as a share of the best candidate's, in [0, 1] × weight; less where no candidate has most of the words,
    and the less the fewer of those that have some are like the question.

    In a turn the name of a speaker says only that the other one was speaking: it is no word of a turn.
    """
    named = table.speakers if table.weights.named_apart else ()
    names = {word for name in named for word in words(name)}
    turns: list[int] = []
    others: list[int] = []
    for place, speaker in enumerate(table.spoken):
        (turns if names and speaker is not None else others).append(place)
    scores = [0.0] * len(table.keys)
    coverage = 0.0
    for places, left_out in ((others, ()), (turns, names)):
        memories, told = list(map(table.memories.__getitem__, places)), list(map(table.told.__getitem__, places))
        relevance, covered = word_relevance(memories, told, table.lexicons, left_out)
        coverage = max(coverage, covered if places else 0.0)
        for place, score in zip(places, relevance, strict=True):
            scores[place] = score
    both = zip(table.memories, scores, strict=True)
    alike = [(memory.likeness, said) for memory, said in both if memory.likeness is not None]
    # Without likeness nothing but words can lead, and the local model was made for English alone.
    if alike and word_language(table.question.text) == "en":
        table.known = min(1.0, coverage / COVERED)
        if table.known < DOUBTED:
            table.known *= min(1.0, max(0.0, correlation(alike)) / AGREEING)
    best = max(scores, default=0.0) or 1.0
    return [weight * table.known * score / best for score in scores]


def time_score(table: Table, weight: float) -> Column:
    """How well a candidate that was not only linked fits a period that the question names, in [0, 1] × weight."""
    read = table.question
    if not weight or not read.periods:
        return ()
    fits = fit_to_periods(table.memories, read.periods, alone=read.of_time_alone, plans=read.plans)
    found = zip(table.memories, map(any, zip(*table.parts.values(), strict=True)), fits, strict=True)
    return [weight * fit if fit and (relevant or memory.begun) else None for memory, relevant, fit in found]


def seeking_score(table: Table, weight: float) -> Column:
    """How late a candidate is among those about what the question asks the latest of, in [0, 1] × weight; how
    early where it asks for the earliest."""
    seeking = table.question.seeking
    if not weight or seeking is None:
        return ()
    least = ABOUT * max(table.base)
    about = [place for place, relevance in enumerate(table.base) if relevance >= least > 0.0]
    about.sort(key=lambda place: (table.told[place].began, table.keys[place]), reverse=seeking == "earliest")
    scores: list[float | None] = [None] * len(table.keys)
    for nth, place in enumerate(about, 1):
        scores[place] = weight * (nth / len(about))
    return scores


def spread_score(table: Table, weight: float) -> list[float]:
    """Base relevance of the neighbours, over the links between candidates."""
    weights = SpreadWeights(weight * table.known, table.weights.answer, inferred=False)
    return spread(table.candidates, table.base, weights, table.state)


def session_score(table: Table, weight: float) -> list[float]:
    """The mean of the two greatest base relevances of its session, its own among them; in [0, 1] × weight.

    One good hit may be chance; two of one session say that the session was about it.
    """
    sessions = session_numbers(table.keys, table.told)
    best, next_best = ([0.0] * (max(sessions) + 1) for _ in range(2))
    for session, relevance in zip(sessions, table.base, strict=True):
        if relevance > best[session]:
            best[session], next_best[session] = relevance, best[session]
        elif relevance > next_best[session]:
            next_best[session] = relevance
    weight *= min(1.0, SHARED_SESSION * table.known)
    shared = [weight * ((one + other) / 2.0) for one, other in zip(best, next_best, strict=True)]
    return [shared[session] for session in sessions]


def speaker_score(table: Table, weight: float) -> Column:
    """The weight for the words of a speaker that the question names."""
    if not weight or not table.speakers:
        return ()
    return [weight if speaker in table.speakers else None for speaker in table.spoken]


def self_score(table: Table, weight: float) -> Column:
    """The weight for what a speaker that the question names says of themselves.

    What somebody is asked about tells more often "I went" than "that sounds great".
    """
    if not weight or not table.speakers:
        return ()
    return [weight if told.speaker in table.speakers and told.text.own_words else None for told in table.told]


def own_score(table: Table, weight: float) -> Column:
    """The weight for the asker's own words, unless the question asks for those of the other side or for all.

    A question that says neither "I" nor "my" may be about what nobody said, such as a document: there all but the
    words of the answering side have the weight, and none has it where the question names a speaker.
    """
    read = table.question
    if not weight or read.others or read.whole:
        return ()
    if read.own:
        return _role_score(table, ASKING, weight)
    if table.speakers or ANSWERING.isdisjoint(table.spoken):
        return ()
    spoken = zip(table.base, table.spoken, strict=True)
    return [weight if base and speaker not in ANSWERING else None for base, speaker in spoken]


def other_score(table: Table, weight: float) -> Column:
    """The weight for the words of the answering side, in a question about them."""
    return _role_score(table, ANSWERING, weight) if table.question.others and weight else ()


def _role_score(table: Table, role: Collection[str], weight: float) -> Column:
    speaking = frozenset(role).difference(table.speakers)
    return [weight if speaker in speaking else None for speaker in table.spoken]


def instruction_score(table: Table, weight: float) -> Column:
    """What lifts the chosen rules of the asker to the most relevant memory, for a request.

    What the asker only prefers gets the weight.
    """
    if not weight or not is_request(table.question, table.lexicons.values()):
        return ()
    relevance = table.relevance()
    greatest = max(relevance) or weight
    found = find_instructions(table)
    preferred = sorted(found, key=lambda each: (each.is_rule, -each.relevance, each.key))[:INSTRUCTIONS_KEPT]
    chosen = {*choose_instructions(found)}
    scores: list[float | None] = [None] * len(table.keys)
    for each in found:
        if each.key in chosen:
            scores[each.place] = max(weight, greatest - relevance[each.place])
        elif each in preferred and not each.is_rule:
            scores[each.place] = weight
    return scores


def kind_score(table: Table, weight: float) -> Column:
    """The weight for a text that gives a thing of the kind that is asked for: a number for "how many".

    What tells for what a name stands is lifted above the most relevant memory: others only have the name.
    """
    kind = table.question.answer_kind
    if kind is None or not weight:
        return ()
    asked = stems(table.question.text)
    told = zip(table.base, table.told, strict=True)
    giving = [weight if base and each.text.gives(kind, asked) else None for base, each in told]
    if kind.kind is not AnswerKind.NAME:
        return giving
    relevance = table.relevance()
    greatest = max(relevance)
    both = zip(giving, relevance, strict=True)
    return [None if given is None else given + (greatest - relevant) for given, relevant in both]


def opening_score(table: Table, weight: float) -> Column:
    """What the asker's turns win as openings of a subject, in (0, 2] × weight; see `Sessions.openings`.

    For a question about an order of events or for a summary, in a chat of roles: what is asked for is what the
    asker brought up.
    """
    asked = _brought_up(table)
    if not asked or not weight:
        return ()
    openings = Sessions(table.candidates.memories).openings(asked, whole=table.question.whole)
    return [weight * openings[key] if key in openings else None for key in table.keys]


def _brought_up(table: Table) -> frozenset[Key]:
    """The asker's turns in a chat of roles, where the question asks for an order or a summary of them."""
    read = table.question
    if not table.weights.opening or not (read.orders or read.whole):
        return frozenset()
    return frozenset(key for key, speaker in zip(table.keys, table.spoken, strict=True) if speaker in ASKING)


def use_score(table: Table, weight: float) -> Column:
    """What the asker's feedback says of a memory for questions like this one, in [−0.5, 1] × weight.

    A wrong memory loses at most the relevance that it has.
    """
    if not weight or not table.learned.lessons:
        return ()
    priors = use_priors(table.learned.lessons, question_words(table.lexicons))
    told = zip((priors.get(key[1]) for key in table.keys), table.relevance(), strict=True)
    return [max(weight * prior, -relevance) if prior else None for prior, relevance in told]


def currency_order(table: Table, scores: Sequence[Score], weight: float) -> Sequence[Score]:
    """What is now above what was, or below in a question about the past.

    Memories that do not speak, such as a session, keep their places.
    """
    if not weight or not table.comparison.changes:
        return scores
    return currency.order_scores(scores, table.comparison, table.question)


def breadth_order(table: Table, scores: Sequence[Score], weight: float) -> Sequence[Score]:
    """An order that spreads the best over time, for a broad question.

    Maximal marginal relevance of the first `DIVERSIFIED`. Two candidates are alike by exp(−distance / 0.05), in
    (0, 1], the distance being that of their places in the order of `valid_at`, as a share of all. Where openings
    count nothing is spread.
    """
    if not table.question.broad or not weight or _brought_up(table):
        return scores
    in_time = sorted(zip((told.began for told in table.told), table.keys, strict=True))
    shares_of = {key: place / len(in_time) for place, (_, key) in enumerate(in_time)}
    shares = [shares_of[score.key] for score in scores]

    def nearness(place: int, others: Sequence[int]) -> list[float]:
        here = shares[place]
        return [math.exp(-abs(shares[other] - here) / NEAR_IN_TIME) for other in others]

    totals = [score.total for score in scores]
    chosen = islice(maximal_marginal_relevance(totals, nearness, weight), DIVERSIFIED)
    return [scores[place] for place in dict.fromkeys((*chosen, *range(len(scores))))]


def exchange_order(table: Table, scores: Sequence[Score], weight: float) -> Sequence[Score]:
    """Each answer behind the turn of the asker; for a summary."""
    if not table.question.whole or not weight:
        return scores
    by_key = {score.key: score for score in scores}
    answers = Sessions(table.candidates.memories).answers(_brought_up(table))
    return [by_key[key] for key in with_answers(by_key, answers)]


def instruction_order(table: Table, scores: Sequence[Score], weight: float) -> Sequence[Score]:
    """The chosen rules after the first others that stand out."""
    wished = table.parts.get(WISH_PART, ())
    chosen = zip(table.memories, wished, strict=False)
    rules = {memory.key for memory, score in chosen if score is not None and memory.get("rule")}
    if not rules:
        return scores
    greatest = greatest_activation(scores)
    wishes = [score for score in scores if score.key in rules]
    others = [score for score in scores if score.key not in rules]
    before = [score for score in others[:LEFT_BEFORE] if stands_out(score, greatest)]
    return [*before, *wishes, *(score for score in others if score not in before)]


class Channel(NamedTuple):
    """A row of the table of channels. `weight` names its field of `ChannelWeights`, `part` the score as `explain`
    shows it.

    `stage`: the parts of `base` channels sum to base relevance, which the `relevance` channels read and add to.
    """

    weight: str
    score: Callable[[Table, float], Column]
    part: str
    stage: Literal["base", "relevance"] = "relevance"


SPEAKER_PART: Final = "speaker"
WISH_PART: Final = "wish"
CHANNELS: Final = (
    Channel("likeness", likeness_score, "likeness", "base"),
    Channel("words", word_score, "words", "base"),
    Channel("time", time_score, "time", "base"),
    Channel("seeking", seeking_score, "seeking"),
    Channel("gain", spread_score, "spread"),
    Channel("session", session_score, "sitting"),
    Channel("speaker", speaker_score, SPEAKER_PART),
    Channel("of_self", self_score, "of_self"),
    Channel("own", own_score, SPEAKER_PART),
    Channel("other", other_score, SPEAKER_PART),
    Channel("kind", kind_score, "kind"),
    Channel("opening", opening_score, "opening"),
    Channel("instruction", instruction_score, WISH_PART),
    Channel("use", use_score, "use"),
)
"""In the order in which they run and in which their parts are added up."""
ORDERS: Final[Mapping[str, Callable[[Table, Sequence[Score], float], Sequence[Score]]]] = {
    "currency": currency_order,
    "breadth": breadth_order,
    "opening": exchange_order,
    "instruction": instruction_order,
}
"""By the weight of each, in the order in which they run."""


def fill(table: Table) -> None:
    """Run all channels: the table gains the parts of each candidate; their sum, at least 0, is its relevance."""
    for stage in ("base", "relevance"):
        for channel in CHANNELS:
            column = channel.score(table, getattr(table.weights, channel.weight)) if channel.stage == stage else ()
            if column and channel.part in table.parts:
                both = zip(column, table.parts[channel.part], strict=True)
                column = [former if score is None else score for score, former in both]
            if column:
                table.parts[channel.part] = column
        if stage == "base":
            table.base = table.relevance()


def final_order(scores: Sequence[Score], table: Table) -> Sequence[Score]:
    """The scores, best first, in the order that is left when each of the `ORDERS` has run."""
    for weight, order in ORDERS.items():
        scores = order(table, scores, getattr(table.weights, weight))
    return scores


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

    `is_rule`: it bids; else it only tells what its speaker prefers. `place`: where the table has it.
    """

    key: Key
    text: str
    said_at: Instant
    relevance: float
    is_rule: bool
    place: int = 0


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


def find_instructions(table: Table) -> list[Instruction]:
    """The candidates that are standing instructions of the asker: what was kept as a rule in the own graph, and
    what else the asker said with a word such as `always`."""
    found: list[Instruction] = []
    for place, (memory, told) in enumerate(zip(table.memories, table.told, strict=True)):
        key, said = memory.key, told.text
        rule = memory.get("rule") if key[0] == Level.N1 and told.speaker not in ANSWERING else None
        if rule or (told.speaker in ASKING and said.bids):
            text, relevance = rule or said.text, table.base[place]
            found.append(Instruction(key, text, told.began, relevance, is_rule=bool(rule), place=place))
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
