"""Imagination on histories with known rates of outcome, and on ordinary chats: is it better than the base rate?

    python -m benchmarks.imagination [--seeds tuning|held_back|all|none] [--told] [--chats NAME|FILE [...]]

A history is a generated year: 6 kinds of actions, each told in 4 wordings, under one of 3 feelings, 300 contexts
in all, each written as `POST /v1/contexts` writes it. The rates of the results positive, negative and complex
belong to the action and the feeling, and half of them drift over the year from one draw to another. At the end of
the year each kind of action is imagined under each feeling, in 2 wordings that the history never used. The score
is the expected Brier score under the true rates of that day: what an endless number of outcomes would give.

`imagined` are the shares told (where it is too few to say, what is usual); `base` always tells how often each
result came in the history; `base of the action` knows the kinds of actions, which no store does, but not the
feelings and the drift; `oracle` tells the true rates. The constants of the feature's `formulas.py` were
chosen on the seeds `tuning`; `held_back` took no part in that.

With `--told` the same years are told as chats of two people: one tells what it did and felt, the other answers in
plain words (`REPLIES`), every fifth time with words that tell no outcome. Nobody gives a result.

With chats (of benchmarks/lives, benchmarks/chats and benchmarks/held_back, or files of LoCoMo and RealMem): each
text of the last third of which a result is known, its own or by the next turn of the other side, is imagined as of
the moment before it, and compared with that result. `base` is how often each result came before it. `said` is the
share of the goals told in the last third, at most `GOALS` of a chat, of which enough was known to say.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product, zip_longest
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final, NamedTuple

import orjson

from api.client import AsyncSubstrate
from benchmarks.datasets import load_locomo
from benchmarks.energy import store
from orchestration.appraisal.feelings import read_reply
from orchestration.features.imagination import formulas
from orchestration.features.imagination.flow import THINGS
from orchestration.features.imagination.formulas import brier
from orchestration.features.imagination.values import Imagination
from orchestration.writing.appraised_rows import replied_to
from schemas.memory import ConsciousnessNode

SEEDS: Final[Mapping[str, Sequence[int]]] = {"tuning": range(4), "held_back": range(100, 106)}
RESULTS: Final = ("positive", "negative", "complex")
FEELINGS: Final = ("calm", "frustration", "loneliness")
CONTEXTS: Final = 300
DAYS: Final = 360
START: Final = datetime(2025, 1, 1, tzinfo=UTC)
CITIZEN: Final = "lives"
ASKED: Final = 300
"""So many characters of a text of a chat are an action."""
GOALS: Final = 20


class Kind(NamedTuple):
    """A kind of action: whom it is about, the wordings in which it is lived, and those in which it is asked."""

    about: str
    lived: Sequence[str]
    asked: Sequence[str]


KINDS: Final = (
    Kind(
        "Egor",
        (
            "I showed the plan to Egor.",
            "I presented my design to Egor before lunch.",
            "I walked Egor through the new draft.",
            "I sent Egor the proposal and asked what he thinks.",
        ),
        ("show Egor the plan", "ask Egor for his view on the draft"),
    ),
    Kind(
        "Mara",
        (
            "I asked Mara for help with the tests.",
            "I wrote to Mara that I am stuck on a failing test.",
            "I begged Mara to look at the broken build with me.",
            "I called Mara because the pipeline would not pass.",
        ),
        ("get help from Mara with the failing tests", "ask Mara to debug the build together"),
    ),
    Kind(
        "the newsletter",
        (
            "I published an essay in the newsletter.",
            "I posted a long article for the newsletter readers.",
            "I sent this week's issue of the newsletter out.",
            "I wrote a column for the newsletter and released it.",
        ),
        ("publish an article in the newsletter", "send out a new issue of the newsletter"),
    ),
    Kind(
        "the garden",
        (
            "I planted tomatoes in the garden.",
            "I put new seedlings into the beds of the garden.",
            "I sowed beans behind the shed in the garden.",
            "I set out the young plants in the garden.",
        ),
        ("plant something new in the garden", "sow seeds in the garden beds"),
    ),
    Kind(
        "the landlord",
        (
            "I asked the landlord to repair the heating.",
            "I complained to the landlord about the cold flat.",
            "I sent the landlord a letter about the broken radiator.",
            "I phoned the landlord about the boiler.",
        ),
        ("tell the landlord that the heating is broken", "write to the landlord about the cold rooms"),
    ),
    Kind(
        "the choir",
        (
            "I sang a solo at the choir's evening.",
            "I took the lead voice in the choir's rehearsal.",
            "I performed alone in front of the choir.",
            "I volunteered for the solo part with the choir.",
        ),
        ("sing alone with the choir", "take a solo at the choir rehearsal"),
    ),
)


REPLIES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "tuning": {
        "positive": (
            "Thank you, that is what I hoped for.",
            "That worked out fine.",
            "Lovely, they are really pleased with it.",
            "This helped us a lot.",
            "Great, everybody liked it.",
            "Good call, it is all done now.",
        ),
        "negative": (
            "That did not work at all.",
            "It is still broken on our side.",
            "No, this is not what we wanted.",
            "It only made things worse.",
            "That was a waste of an afternoon.",
            "I told you before, this is wrong.",
        ),
        "complex": (
            "Thanks, but half of it still fails.",
            "It worked, but it also made things worse elsewhere.",
            "Good idea, only it came too late.",
            "Some of that helped, the rest went wrong.",
        ),
    },
    "held_back": {
        "positive": (
            "Thanks so much for doing that!",
            "It went really well.",
            "You were right, and it paid off.",
            "Perfect, just what we needed.",
            "They said yes this morning.",
            "I am glad you did, everything runs again.",
        ),
        "negative": (
            "It does not help, I am afraid.",
            "Same problem as last week.",
            "They said no again.",
            "What a shame, nobody came.",
            "That went wrong from the first minute.",
            "I am disappointed, to be honest.",
        ),
        "complex": (
            "It helped a little, but the same error is back.",
            "They said yes, only now it is too late.",
            "That was great for two days, then it failed.",
            "I love it, but they said no.",
        ),
    },
}
"""What the other side says in a told year when this came of it. No word is read for the sake of `held_back`."""
SILENT: Final = ("Okay, see you tomorrow.", "Where did you put the keys?", "It rains again here.")
FELT: Final = {"calm": "I felt calm.", "frustration": "I felt frustrated.", "loneliness": "I felt lonely."}


class Rates(NamedTuple):
    """The rates of the results of one action under one feeling, at the beginning and at the end of the year."""

    first: Sequence[float]
    last: Sequence[float]

    def at(self, share: float) -> dict[str, float]:
        """The rates when this share of the year is over."""
        mixed = [(1.0 - share) * one + share * other for one, other in zip(self.first, self.last, strict=True)]
        return dict(zip(RESULTS, mixed, strict=True))


class Lived(NamedTuple):
    """One context of a history: its kind, feeling, result and day."""

    kind: int
    feeling: str
    wording: str
    day: float
    result: str


class History(NamedTuple):
    """A generated year and its true rates, by kind and feeling."""

    rates: Mapping[tuple[int, str], Rates]
    lived: Sequence[Lived]


def generate(seed: int) -> History:
    """A year. Each rate is drawn from a Dirichlet distribution of 0.7; half of them drift to a second draw."""
    chance = Random(seed)
    rates = {}
    for kind in range(len(KINDS)):
        for feeling in FEELINGS:
            first = _dirichlet(chance)
            rates[kind, feeling] = Rates(first, _dirichlet(chance) if chance.random() < 0.5 else first)
    lived = []
    for day in sorted(chance.uniform(0, DAYS) for _ in range(CONTEXTS)):
        kind, feeling = chance.randrange(len(KINDS)), chance.choice(FEELINGS)
        shares = rates[kind, feeling].at(day / DAYS)
        result = chance.choices(RESULTS, [shares[name] for name in RESULTS])[0]
        lived.append(Lived(kind, feeling, chance.choice(KINDS[kind].lived), day, result))
    return History(rates, lived)


def _dirichlet(chance: Random, spread: float = 0.7) -> list[float]:
    drawn = [chance.gammavariate(spread, 1.0) for _ in RESULTS]
    return [one / sum(drawn) for one in drawn]


def expected_brier(shares: Mapping[str, float], rates: Mapping[str, float]) -> float:
    """The mean Brier score of these shares over outcomes of these rates."""
    return sum(rate * brier({**dict.fromkeys(RESULTS, 0.0), **shares}, name) for name, rate in rates.items())


def frequencies(results: Sequence[str]) -> dict[str, float]:
    """How often each result came, as shares."""
    return {name: count / len(results) for name, count in Counter(results).items()}


async def write_history(history: History, client: AsyncSubstrate) -> None:
    """Write every context of a year."""
    for place, one in enumerate(history.lived):
        await client.write_context(
            citizen_id=CITIZEN,
            command_id=f"context-{place}",
            description=one.wording,
            nodes=[KINDS[one.kind].about],
            emotion=one.feeling,
            intensity=0.6,
            result=one.result,
            certainty=0.8,
            valid_at=START + timedelta(days=one.day),
            restate=True,
        )


async def tell_history(history: History, client: AsyncSubstrate, group: str) -> None:
    """Tell a year as a chat of two people."""
    chance = Random(len(history.lived))
    messages: list[dict[str, str]] = []
    for one in history.lived:
        time = START + timedelta(days=one.day)
        reply = chance.choice(SILENT if chance.random() < 0.2 else REPLIES[group][one.result])
        for minute, (speaker, text) in enumerate((("Lin", f"{one.wording} {FELT[one.feeling]}"), ("Oda", reply))):
            at = time + timedelta(minutes=minute)
            messages.append({"role": speaker, "content": text, "timestamp": at.isoformat()})
    await client.ingest(CITIZEN, messages, episode_id=CITIZEN)


async def score_history(seed: int, *, told: bool = False) -> dict[str, float]:
    """The mean scores of one seed, and the share of questions on which enough was known."""
    history = generate(seed)
    scores: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        async with AsyncSubstrate.embedded(directory) as client:
            if told:
                await tell_history(history, client, "tuning" if seed in SEEDS["tuning"] else "held_back")
            else:
                await write_history(history, client)
            for kind, feeling in product(range(len(KINDS)), FEELINGS):
                for wording in KINDS[kind].asked:
                    for name, score in (await _scores(client, history, (kind, feeling), wording)).items():
                        scores.setdefault(name, []).append(score)
    return {name: fmean(values) for name, values in scores.items()}


async def _scores(
    client: AsyncSubstrate, history: History, cell: tuple[int, str], wording: str
) -> dict[str, float]:
    kind, feeling = cell
    truth = history.rates[cell].at(1.0)
    told = await client.imagine(
        citizen_id=CITIZEN,
        action=wording,
        nodes=[KINDS[kind].about],
        emotion=feeling,
        as_of_time=START + timedelta(days=DAYS),
        known_at="now",
    )
    shares = {
        "imagined": told.results or told.usual,
        "base": frequencies([one.result for one in history.lived]),
        "base of the action": frequencies([one.result for one in history.lived if one.kind == kind]),
        "oracle": truth,
    }
    return {**{name: expected_brier(one, truth) for name, one in shares.items()}, "enough": float(told.enough)}


class Told(NamedTuple):
    """A text of a chat, what came of it, and from when on that is known."""

    memory: ConsciousnessNode
    result: str | None
    known: datetime


async def score_chat(name: str) -> dict[str, float]:
    """How the results of the last third of an ordinary chat were imagined from what was told before them."""
    with tempfile.TemporaryDirectory() as directory:
        citizen = await (store_file if name.endswith(".json") else store)(name, directory)
        async with AsyncSubstrate.embedded(directory) as client:
            found = [memory for memory in await _memories(client, citizen) if memory.node_type not in THINGS]
            found.sort(key=lambda memory: (memory.valid_at, memory.node_id))
            told = _with_outcomes(found)
            last = told[2 * len(told) // 3 :]
            scores = [await _chat_scores(client, citizen, one, told) for one in last if one.result]
            goals = [one.memory for one in last if one.memory.goal]
            asked = [
                await _imagine(client, citizen, str(each.goal), each) for each in goals[:: len(goals) // GOALS + 1]
            ]
    known = sum(one.result is not None for one in told)
    figures = {"memories": float(len(told)), "with a result": float(known), "asked": float(len(scores))}
    if asked:
        figures |= {"goals": float(len(asked)), "said": fmean(float(each.enough) for each in asked)}
    if not scores:
        return figures
    means = {each: fmean(score[each] for score in scores) for each in ("imagined", "base", "enough")}
    return {**figures, **means}


def _read_file(file: Path) -> list[dict[str, str]]:
    """The messages of the first chat of a file of LoCoMo, or of the dialogues of one of RealMem."""
    turns: list[tuple[datetime, str, str]] = []
    if "locomo" in file.name:
        turns = [(turn.time or START, turn.speaker, turn.text) for turn in load_locomo(file)[0].turns]
    else:
        for dialogue in orjson.loads(file.read_bytes())["dialogues"]:
            day = datetime.fromisoformat(dialogue["current_time"][:10]).replace(tzinfo=UTC)
            turns += [(day, turn["speaker"].lower(), turn["content"]) for turn in dialogue["dialogue_turns"]]
    messages: list[dict[str, str]] = []
    time = START - timedelta(days=9999)
    for day, role, text in turns:
        time = max(day, time + timedelta(minutes=1))
        messages.append({"role": role, "content": text, "timestamp": time.isoformat()})
    return messages


async def store_file(file: str, directory: str) -> str:
    """Store the chat of a file; return the citizen's id."""
    async with AsyncSubstrate.embedded(directory) as client:
        await client.ingest(CITIZEN, _read_file(Path(file)), episode_id=CITIZEN)
    return CITIZEN


def _with_outcomes(found: Sequence[ConsciousnessNode]) -> list[Told]:
    told: list[Told] = []
    for memory, reply in zip_longest(found, found[1:]):
        replied = None
        if memory.node_type == "Turn" and reply is not None and reply.node_type == "Turn":
            replied = replied_to(memory.speaker, reply.speaker or "", reply.description)
        answers = bool(told) and memory.node_type == "Turn" and read_reply(memory.description)
        own = None if answers else formulas.outcome_of(memory)
        known = reply.valid_at if own is None and reply is not None else memory.valid_at
        told.append(Told(memory, own or replied, known))
    return told


async def _chat_scores(
    client: AsyncSubstrate, citizen: str, asked: Told, others: Sequence[Told]
) -> dict[str, float]:
    result = str(asked.result)
    before = [str(one.result) for one in others if one.result and one.known < asked.memory.valid_at]
    told = await _imagine(client, citizen, asked.memory.description or asked.memory.name, asked.memory)
    base = frequencies(before) if before else {}
    imagined = told.results or told.usual or base
    return {"imagined": brier(imagined, result), "base": brier(base, result), "enough": float(told.enough)}


async def _imagine(client: AsyncSubstrate, citizen: str, action: str, memory: ConsciousnessNode) -> Imagination:
    """What is imagined of an action as of the moment before a memory."""
    return await client.imagine(
        citizen_id=citizen,
        action=" ".join(action.split())[:ASKED],
        as_of_time=memory.valid_at - timedelta(seconds=1),
        known_at="now",
    )


async def _memories(client: AsyncSubstrate, citizen: str) -> list[ConsciousnessNode]:
    found: list[ConsciousnessNode] = []
    cursor: str | None = None
    while True:
        page = await client.list_memories(citizen_id=citizen, limit=200, cursor=cursor)
        found += page.memories
        cursor = page.next
        if cursor is None:
            return found


def _mean_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: fmean(row[name] for row in rows) for name in rows[0]}


async def run(groups: Sequence[str], chats: Sequence[str], *, told: bool = False) -> dict[str, Any]:
    """All figures, ready for JSON."""
    histories = {group: [await score_history(seed, told=told) for seed in SEEDS[group]] for group in groups}
    return {
        "histories": {
            group: {"seeds": dict(zip(map(str, SEEDS[group]), rows, strict=True)), "mean": _mean_of(rows)}
            for group, rows in histories.items()
        },
        "chats": {name: await score_chat(name) for name in chats},
    }


def _print(figures: Mapping[str, Any]) -> None:
    for group, found in figures["histories"].items():
        print(f"histories, {group}: expected Brier")
        for seed, row in {**found["seeds"], "mean": found["mean"]}.items():
            print(f"  {seed:>5}  " + "  ".join(f"{name} {value:.3f}" for name, value in row.items()))
    for name, row in figures["chats"].items():
        print(f"{name}: " + ", ".join(f"{each} {value:.4g}" for each, value in row.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", choices=(*SEEDS, "all", "none"), default="all")
    parser.add_argument("--chats", nargs="*", default=(), metavar="NAME|FILE")
    parser.add_argument("--told", action="store_true", help="tell the histories as chats")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    groups = {"all": tuple(SEEDS), "none": ()}.get(given.seeds, (given.seeds,))
    figures = asyncio.run(run(groups, given.chats, told=given.told))
    if given.json:
        print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode())
    else:
        _print(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
