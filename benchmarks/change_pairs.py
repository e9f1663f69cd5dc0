"""Whether a change puts the later first, and two things of one kind stay two: the cases of benchmarks/pairs.

    python -m benchmarks.change_pairs [--set tune|sealed] [--only KIND...] [--wrong] [--json]

Each case is stored among unrelated messages for a citizen of its own, as `POST /v1/episodes` does, and asked a day
after its last message. `first`: the right message is the first of all turns, here and by BM25 over the same
messages. `words`: of the questions that BM25 answers first, the share that is answered first here. `nothing`: the
answer says that nothing fits.

`overtaken`: one message of the case says that another one of it has overtaken it. `moment`: the same question in
the mode `evolution` infers a change between two of them. Both are right for changes and false for all else; they
are not counted for questions about the past and for what was told twice or taken back. All are shares of n.

Then benchmarks/change_lives.py: wishes (`five`: the focus is full, `about`: a message that belongs to the wish is
in it) beside facts never told, and the learning moments of lives and chats.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Final, NamedTuple

import orjson

from api.runtime.runtime import Runtime, now
from benchmarks.baselines import rank_bm25
from benchmarks.change_cases import CHANGES, KINDS, SETS, TWO, Ask, Laid, lay_all, read_cases, read_filler
from benchmarks.change_lives import (
    ask_wishes,
    find_moments,
    rate_moments,
    rate_wishes,
    show_lives,
    store_messages,
)
from benchmarks.chat_answers import open_store
from benchmarks.currency import message_id, rank_turns
from benchmarks.datasets import Conversation, Question, Turn
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.stream import ConsciousnessStream
from schemas.temporal import TemporalMode, to_datetime

CHANGING: Final = frozenset(("told twice", "taken back"))
"""Cases without a change at the end, in which one was told all the same."""


class Outcome(NamedTuple):
    """What one question got. `ours`, `bm25`: whether the right message is first; `found`: what is first instead.

    `overtaken`: a message of the case says that another one of it has overtaken it. `moment`: `evolution` infers a
    change between two of them; None where it was not asked.
    """

    laid: Laid
    ask: Ask
    ours: bool
    bm25: bool
    found: str
    nothing: bool
    overtaken: bool
    moment: bool | None


class Part(NamedTuple):
    """A line of the table: the outcomes of some questions of a kind."""

    kind: str
    name: str
    outcomes: Sequence[Outcome]


def intention(laid: Laid, question: str, mode: TemporalMode) -> RetrievalIntention:
    """The question as of the moment after a case, or about how it came."""
    if mode is TemporalMode.EVOLUTION:
        return RetrievalIntention(query_text=question, citizen_id=laid.id, temporal_mode=mode)
    return RetrievalIntention(
        query_text=question,
        citizen_id=laid.id,
        temporal_mode=TemporalMode.POINT_IN_TIME,
        as_of_time=laid.end,
        known_at=to_datetime(now()),
    )


def rank_words(laid: Laid) -> list[list[str]]:
    """The rankings of BM25 over all messages of a case, one a question."""
    turns = tuple(Turn(each.id, each.role, each.text, each.time, laid.id) for each in laid.messages)
    questions = tuple(Question(ask.question, ask.part, frozenset(ask.expected)) for ask in laid.asks)
    return rank_bm25(Conversation(laid.id, turns, questions), questions)


def is_overtaken(laid: Laid, stream: ConsciousnessStream) -> bool:
    """Whether a message of the case says that another one of it has overtaken it."""
    nodes = [node for node in stream.activation_tiers.ordered() if node.speaker]
    told = {node.node_id for node in nodes if message_id(node) in laid.told}
    return any(node.overtaken_by in told for node in nodes if node.node_id in told)


def infers_change(laid: Laid, stream: ConsciousnessStream) -> bool:
    """Whether a stream infers that a message of the case changed what another one of it said."""
    ids = {node.node_id: message_id(node) for node in stream.activation_tiers.ordered()}
    pairs = (
        (ids.get(each.node_id), ids.get(each.corrected_by or ""))
        for each in stream.temporal_dissonances
        if each.inferred
    )
    return any(was in laid.told and now_so in laid.told for was, now_so in pairs)


async def ask_case(laid: Laid, rt: Runtime) -> list[Outcome]:
    """Store a case and ask its questions, those about the present in the mode `evolution`, too."""
    for number, messages in enumerate(laid.conversations):
        await store_messages(laid.id, f"{laid.id}-{number}", messages, rt)
    texts = {message.id: message.text for message in laid.messages}
    outcomes = []
    for ask, words in zip(laid.asks, rank_words(laid), strict=True):
        moment_asked = intention(laid, ask.question, TemporalMode.POINT_IN_TIME)
        stream = await retrieve_consciousness_context(moment_asked, rt.deps, now())
        ranking = rank_turns(stream)
        moment = None
        if ask.part != "past":
            whole = intention(laid, ask.question, TemporalMode.EVOLUTION)
            moment = infers_change(laid, await retrieve_consciousness_context(whole, rt.deps, now()))
        outcomes.append(
            Outcome(
                laid=laid,
                ask=ask,
                ours=ranking[:1] != [] and ranking[0] in ask.expected,
                bm25=words[0] in ask.expected,
                found=texts.get(ranking[0], "") if ranking else "",
                nothing=stream.nothing_fits,
                overtaken=is_overtaken(laid, stream),
                moment=moment,
            )
        )
    return outcomes


async def measure(cases: Iterable[Laid]) -> list[Outcome]:
    """Ask all cases, in one store."""
    async with open_store() as rt:
        return [outcome for laid in cases for outcome in await ask_case(laid, rt)]


def divide(outcomes: Sequence[Outcome]) -> Iterator[Part]:
    """The lines of the table: each kind as a whole, then by what was asked, span, language and manner."""
    for kind in KINDS:
        own = [each for each in outcomes if each.laid.kind == kind]
        if not own:
            continue
        yield Part(kind, "all", own)
        labels = [
            [each.ask.part for each in own],
            [f"{each.laid.span} {each.ask.part}" for each in own] if kind in (CHANGES, TWO) else [],
            [f"{each.laid.language} {each.ask.part}" for each in own],
            [each.laid.manner for each in own] if kind not in (TWO, CHANGES) else [],
        ]
        for names in labels:
            for name in dict.fromkeys(names):
                chosen = [each for each, label in zip(own, names, strict=True) if label == name]
                if len(chosen) < len(own):
                    yield Part(kind, name, chosen)


def rate(part: Part) -> dict[str, float | int | None]:
    """The figures of a line, by name; None where nothing was asked."""
    counted = [each for each in part.outcomes if each.laid.manner not in CHANGING]
    told = [each for each in counted if each.ask.part != "past"]
    return {
        "n": len(part.outcomes),
        "first": _share([each.ours for each in part.outcomes]),
        "bm25": _share([each.bm25 for each in part.outcomes]),
        "by_words": sum(each.bm25 for each in part.outcomes),
        "words": _share([each.ours for each in part.outcomes if each.bm25]),
        "nothing": _share([each.nothing for each in part.outcomes]),
        "overtaken": _share([each.overtaken for each in told]),
        "moment": _share([each.moment for each in told if each.moment is not None]),
    }


def _share(values: Sequence[bool]) -> float | None:
    return fmean(values) if values else None


def show(name: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The table of a set, then what a word search answers."""
    yield f"{name}: {len({each.laid.id for each in outcomes})} cases as laid, {len(outcomes)} questions"
    titles = f"{'first':>8}{'BM25':>8}{'words':>8}{'nothing':>9}{'overtaken':>11}{'moment':>8}"
    yield f"{'kind':16}{'part':26}{'n':>5}{titles}"
    for part in divide(outcomes):
        rated = rate(part)
        cells = [f"{_cell(rated[each]):>8}" for each in ("first", "bm25", "words")]
        cells += [
            f"{_cell(rated['nothing']):>9}",
            f"{_cell(rated['overtaken']):>11}",
            f"{_cell(rated['moment']):>8}",
        ]
        yield f"{part.kind:16}{part.name:26}{rated['n']:5}{''.join(cells)}"
    yield ""
    for kind in KINDS:
        own = [each for each in outcomes if each.laid.kind == kind]
        by_words = [each for each in own if each.bm25]
        if by_words:
            ours = sum(each.ours for each in by_words)
            yield f"{kind}: BM25 first {len(by_words)} of {len(own)}, of these ours {ours}"
            yield f"{kind}: ours first {sum(each.ours for each in own)} of {len(own)}"


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def show_wrong(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Say of each question that was answered wrongly what came first."""
    for each in outcomes:
        if not each.ours:
            words = "BM25 right" if each.bm25 else "BM25 wrong"
            where = f"{each.laid.id} {each.laid.span} {each.ask.part} ({words})"
            yield f"{where}: {each.ask.question} -> {each.found or 'nothing'}"


def as_json(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The figures of the cases by kind and part."""
    return {f"{part.kind} / {part.name}": rate(part) for part in divide(outcomes)}


async def run(name: str, kinds: Sequence[str], *, show_wrongly: bool, json: bool) -> None:
    """Measure a set and print its tables; the lives only with the cases of every kind."""
    cases = [each for each in lay_all(read_cases(name), read_filler()) if each.kind in kinds]
    outcomes = await measure(cases)
    figures = {"cases": as_json(outcomes)}
    lines = [*show(name, outcomes), *(show_wrong(outcomes) if show_wrongly else ())]
    if set(kinds) == set(KINDS):
        wishes, moments = rate_wishes(await ask_wishes(name)), rate_moments(await find_moments(name))
        figures |= {"wishes": {**wishes}, "learning": {**moments}}
        lines += ["", *show_lives(wishes, moments)]
    print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() if json else "\n".join(lines))


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="tune")
    parser.add_argument("--only", choices=KINDS, nargs="+", default=KINDS, help="only these cases, no lives")
    parser.add_argument("--wrong", action="store_true", help="show what was answered wrongly")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    asyncio.run(run(options.set, options.only, show_wrongly=options.wrong, json=options.json))


if __name__ == "__main__":
    main()
