"""Needles in long texts: whether a question finds the text that holds the answer, and the passage that is it.

    python -m benchmarks.needles
    python -m benchmarks.needles --texts 10

Generated from a seed: texts of 5 to 300 KB of messages of the lives in this directory, lists and blocks of code,
each with ten needles, and for each needle two distractors with the same words about another place; beside them
short messages with facts of the same kind. Everything is asked twice: of a store in which only the beginning of a
long text has a vector, as before there were passages, and of one with passages. `found` is the share of needles
whose text is among the first; `shown`: what is shown of the first five holds the needle, of each text at most
2,000 characters; `answered`: the compact form of 2,000 tokens holds it. The last lines compare the time to store a
vector of a long text with that of a short message in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Final, NamedTuple
from unittest.mock import patch

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from orchestration.insertion import apply
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.writing import passages
from schemas.commands import Remember
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode
from schemas.settings import Settings, StoreSettings

LIVES: Final = Path(__file__).parent / "lives"
SHORTEST, LONGEST = 5_000, 300_000
NEEDLES_IN_ONE: Final = 10
SHORT_MESSAGES: Final = 100
TIMED_MESSAGES: Final = 100
SHOWN: Final = 2000
TOKENS: Final = 2000
CITIZEN: Final = "reader"
BEFORE, AFTER = "beginning alone", "passages"

PEOPLE: Final = (
    "Marta Ines Bruno Leila Oskar Priya Tomas Yuki Amara Felix Greta Hassan Ivy Jonas Kofi Lena Milo Nadia Otto "
    "Petra Rosa Sven Tara Umar Vera Wim Xenia Yusuf Zora Anton"
).split()
PLACES: Final = (
    "boathouse greenhouse workshop attic chapel observatory bakery stable archive lighthouse orchard cellar "
    "studio depot pavilion sawmill harbour library cabin vineyard clinic garage kiosk mill nursery pharmacy "
    "quarry refinery theatre windmill"
).split()
COLOURS: Final = "amber blue copper green ivory lilac olive scarlet silver turquoise violet white".split()


class Kind(NamedTuple):
    """A kind of fact: how it is told, and how it is asked in the same and in other words."""

    told: str
    asked: str
    asked_otherwise: str


KINDS: Final = (
    Kind(
        "The door of the {colour} {place} opens with the number {number}.",
        "With which number does the door of the {colour} {place} open?",
        "What is the code to get into the {colour} {place}?",
    ),
    Kind(
        "{person} keeps the spare key of the {place} in a {colour} tin, on shelf {number}.",
        "Where does {person} keep the spare key of the {place}?",
        "Which shelf do I look on to unlock the {place} when {person} is away?",
    ),
    Kind(
        "The yearly rent that {person} pays for the {place} is {number} euros.",
        "How much is the yearly rent that {person} pays for the {place}?",
        "What does the {place} cost {person} every year?",
    ),
    Kind(
        "The {colour} pump of the {place} was made in Brno and has the serial mark K{number}.",
        "Which serial mark does the {colour} pump of the {place} have?",
        "I need to order a part for the {colour} pump at the {place}: what is its identification?",
    ),
    Kind(
        "At the {place}, {person} is allergic to the {colour} varnish and needs {number} drops of the antidote.",
        "How many drops of the antidote does {person} need at the {place}?",
        "What dose helps when {person} reacts to varnish in the {place}?",
    ),
)


class Needle(NamedTuple):
    """A fact, its question, and the id of the memory that holds it."""

    told: str
    question: str
    memory_id: str


class Corpus(NamedTuple):
    """The generated texts and short messages by id, and their facts."""

    long: dict[str, str]
    short: dict[str, str]
    needles: list[Needle]
    plain: list[Needle]


class _Facts:
    """Facts about which nothing else is said: each pair of a place and a person, or a colour, is used once."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used: set[tuple[str, ...]] = set()

    def draw(self) -> tuple[Kind, dict[str, object]]:
        while True:
            kind = self._rng.choice(KINDS)
            fields: dict[str, object] = {
                "person": self._rng.choice(PEOPLE),
                "place": self._rng.choice(PLACES),
                "colour": self._rng.choice(COLOURS),
                "number": self._rng.randint(1000, 99_999),
            }
            key = (kind.asked.format(**{**fields, "number": ""}),)
            if key not in self._used:
                self._used.add(key)
                return kind, fields

    def needle(self, memory_id: str) -> Needle:
        kind, fields = self.draw()
        asked = kind.asked if self._rng.random() < 0.5 else kind.asked_otherwise
        return Needle(kind.told.format(**fields), asked.format(**fields), memory_id)

    def distractor(self) -> str:
        kind, fields = self.draw()
        return kind.told.format(**fields)


def read_material() -> list[str]:
    """The messages of the lives, in the order of their files."""
    found: list[str] = []
    for path in sorted(LIVES.glob("*.json")):
        found += _texts(orjson.loads(path.read_bytes()))
    return found


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("text", "content") and isinstance(inner, str):
                yield inner
            elif not isinstance(inner, str):
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def generate(texts: int, seed: int, material: Sequence[str]) -> Corpus:
    """A corpus: the same seed and material give the same one."""
    rng = random.Random(seed)
    facts = _Facts(rng)
    long: dict[str, str] = {}
    needles: list[Needle] = []
    for number in range(texts):
        memory_id = f"text{number}"
        size = round(SHORTEST * (LONGEST / SHORTEST) ** ((number + 0.5) / texts))
        own = [facts.needle(memory_id) for _ in range(NEEDLES_IN_ONE)]
        inserted = [needle.told for needle in own] + [facts.distractor() for _ in range(2 * NEEDLES_IN_ONE)]
        long[memory_id] = _write_text(size, inserted, material, rng)
        needles += own
    plain = [facts.needle(f"short{number}") for number in range(SHORT_MESSAGES)]
    short = {needle.memory_id: f"{rng.choice(material)} {needle.told}" for needle in plain}
    return Corpus(long, short, needles, plain)


def _write_text(size: int, inserted: Sequence[str], material: Sequence[str], rng: random.Random) -> str:
    """About `size` characters of paragraphs, lists and code, with each inserted sentence within a paragraph."""
    blocks: list[str] = []
    length = 0
    while length < size:
        chance = rng.random()
        block = _code(rng) if chance < 0.07 else _list(material, rng) if chance < 0.15 else ""
        block = block or " ".join(rng.choices(material, k=rng.randint(2, 5)))
        blocks.append(block)
        length += len(block) + 2
    for sentence in inserted:
        place = rng.randrange(len(blocks))
        before, dot, after = blocks[place].partition(". ")
        told = (
            f"{before}{dot}{sentence} {after}"
            if dot and "```" not in blocks[place]
            else f"{sentence}\n\n{blocks[place]}"
        )
        blocks[place] = told
    return "\n\n".join(blocks)


def _code(rng: random.Random) -> str:
    names = rng.choices(PLACES, k=rng.randint(4, 25))
    lines = [f"    total += weigh({name!r}, {rng.randint(1, 999)})" for name in names]
    return "\n".join(
        ["```python", f"def sum_{rng.choice(COLOURS)}():", "    total = 0", *lines, "    return total", "```"]
    )


def _list(material: Sequence[str], rng: random.Random) -> str:
    return "\n".join(f"- {rng.choice(material)[:120]}" for _ in range(rng.randint(3, 9)))


class Asked(NamedTuple):
    """What an answer gave for one needle. `rank`: of its text, from 1; 0 when it was not found."""

    rank: int
    shown: bool
    answered: bool
    seconds: float


async def ask(needle: Needle, rt: Runtime) -> Asked:
    intention = RetrievalIntention(
        query_text=needle.question, citizen_id=CITIZEN, query_levels=("N1",), form="compact", max_tokens=TOKENS
    )
    whole = intention.model_copy(update={"max_tokens": None, "form": "full"})
    begun = time.perf_counter()
    stream = await retrieve_consciousness_context(whole, rt.deps, now())
    seconds = time.perf_counter() - begun
    ordered = stream.activation_tiers.ordered()
    ids = [memory.node_id for memory in ordered]
    rank = ids.index(needle.memory_id) + 1 if needle.memory_id in ids else 0
    shown = any(_shows(memory, needle) for memory in ordered[:5])
    compact = (await retrieve_consciousness_context(intention, rt.deps, now())).text or ""
    return Asked(rank, shown, needle.told in compact, seconds)


def _shows(memory: ConsciousnessNode, needle: Needle) -> bool:
    return needle.told in memory.description[:SHOWN]


class Stored(NamedTuple):
    """Seconds for each vector of long texts and of short messages, and the number of vectors of long texts."""

    long: float
    short: float
    vectors: int


async def store(corpus: Corpus, material: Sequence[str], rt: Runtime) -> Stored:
    """Store the corpus; short messages of about the length of a passage are timed before and after it."""
    short = await _time_messages("timed_before", material, rt)
    await apply([_remember(*item) for item in corpus.short.items()], rt.deps, now())
    begun = time.perf_counter()
    vectors = 0
    for memory_id, text in corpus.long.items():
        await apply([_remember(memory_id, text)], rt.deps, now())
        vectors += 1 + (len(passages.cut(text)) if passages.is_long(text) else 0)
    seconds = (time.perf_counter() - begun) / vectors
    short += await _time_messages("timed_after", material, rt)
    return Stored(seconds, short / 2, vectors)


async def _time_messages(citizen: str, material: Sequence[str], rt: Runtime) -> float:
    """Seconds for each of some messages of nearly the width of a passage, as one list."""
    rng = random.Random(citizen)
    texts = [" ".join(rng.choices(material, k=20))[: passages.WIDEST - 20] for _ in range(TIMED_MESSAGES)]
    begun = time.perf_counter()
    await apply([_remember(f"m{n}", text, citizen) for n, text in enumerate(texts)], rt.deps, now())
    return (time.perf_counter() - begun) / len(texts)


def _remember(memory_id: str, text: str, citizen: str = CITIZEN) -> Remember:
    return Remember(citizen_id=citizen, id=memory_id, name=memory_id, description=text, node_type="Document")


class Figures(NamedTuple):
    """What was measured with one way of storing."""

    long: list[Asked]
    short: list[Asked]
    stored: Stored


async def measure(corpus: Corpus, material: Sequence[str], *, cut: bool) -> Figures:
    """Store and ask everything in a store of its own; without `cut` no text is long."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(store=StoreSettings(data=Path(directory), names="off", appraisal="off"))
        with patch.object(passages, "LONG", passages.LONG if cut else 10**9):
            async with open_runtime(settings) as rt:
                stored = await store(corpus, material, rt)
                long = [await ask(needle, rt) for needle in corpus.needles]
                short = [await ask(needle, rt) for needle in corpus.plain]
    return Figures(long, short, stored)


def _row(name: str, asked: Sequence[Asked]) -> list[str]:
    at_one = fmean(one.rank == 1 for one in asked)
    at_five = fmean(0 < one.rank <= 5 for one in asked)
    shares = (at_one, at_five, fmean(one.shown for one in asked), fmean(one.answered for one in asked))
    milliseconds = median(one.seconds for one in asked) * 1000
    return [f"{name} ({len(asked)})", *(f"{share:.3f}" for share in shares), f"{milliseconds:.0f} ms"]


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.needles")
    parser.add_argument("--texts", type=int, default=20, help="long texts, each with ten needles (default 20)")
    parser.add_argument("--seed", type=int, default=16)
    options = parser.parse_args()
    material = read_material()
    corpus = generate(options.texts, options.seed, material)
    sizes = [len(text) for text in corpus.long.values()]
    print(f"{len(sizes)} texts of {min(sizes):,} to {max(sizes):,} characters, {sum(sizes):,} in all", flush=True)
    lines: list[list[str]] = []
    timed = []
    for name, cut in ((BEFORE, False), (AFTER, True)):
        figures = await measure(corpus, material, cut=cut)
        lines += [_row(f"{name}: needles", figures.long), _row(f"{name}: short messages", figures.short)]
        timed.append((name, figures.stored))
    for cells in (["", "found @1", "@5", "shown", "answered", "p50"], *lines):
        print(f"{cells[0]:<40}" + "".join(f"{cell:>10}" for cell in cells[1:]))
    for name, stored in timed:
        print(
            f"{name}: {stored.vectors} vectors of long texts, {stored.long * 1000:.1f} ms each; of short messages "
            f"{stored.short * 1000:.1f} ms each; ratio {stored.long / stored.short:.2f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
