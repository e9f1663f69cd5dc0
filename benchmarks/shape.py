"""Whether a story is found by its shape when another tells the same in other words, beside cosine's rank of it.

    python -m benchmarks.shape
    python -m benchmarks.shape --beside 20000

`benchmarks/shape/` holds fifty pairs of small stories, written before the comparison: 25 to look at while it
was made (`first.txt`), 25 held back until it stood. Each pair comes with a third story that shares words with
the first and not its shape. The turning point of the first story is the probe, that of the second its partner;
everything of a half is in one store. `rank` is the place of the partner among all memories that are not of the
probe's story. `cosine`: of the texts of the two memories; `cosine, story`: of the texts of whole stories. `types
renamed`: all links of the second stories have other types than in the first; `types hidden`: all links have one
type.

`--beside`: so many other memories with links, states and feelings stand in the same graph, written after the
pairs; without vectors of texts, so without the rows of cosine. It also prints the time of an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Final, NamedTuple

import numpy as np

from api.runtime.runtime import Runtime, now, open_runtime
from orchestration.insertion import apply
from orchestration.resonance.ask import resonate
from schemas.commands import Command, Relate, Remember
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.wave_signal import Resonate

PAIRS: Final = Path(__file__).parent / "shape"
HALVES: Final = ("first", "held_back")
BEGUN: Final = datetime(2026, 1, 1, tzinfo=UTC)
ASKED: Final = 100
"""The partner is looked for among so many answers; one that is not among them has the rank after them."""
RESULTS: Final = {"+": "positive", "-": "negative", "~": "complex"}
STATES: Final = ("blocked", "in_progress", "resolved")
TYPES: Final = ("MENTIONS", "CAUSES", "LEADS_TO", "PART_OF", "BLOCKED_BY", "RESOLVES")
FELT: Final = ("joy", "fear", "relief", "sadness", "anger", "hope", "calm", "curiosity")
_MEMORY: Final = re.compile(r"(\*?)(\w+): (.*?)(?: \{(.*)\})?$")

type Rename = Callable[[str, str], str]
"""The type of a link in a store, by the part of its pair (`one`, `two`, `other`) and its written type."""

RENAMES: Final[dict[str, Rename]] = {
    "shape": lambda _part, name: name,
    "shape, types renamed": lambda part, name: f"{name}_OTHERWISE" if part == "two" else name,
    "shape, types hidden": lambda _part, _name: "RELATED_TO",
}


class Told(NamedTuple):
    """A memory of a story: its key, its text, and the words in braces after it."""

    key: str
    text: str
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """A small story: its place and part among the pairs, its memories in their order, links, and turning point."""

    id: str
    part: str
    told: tuple[Told, ...]
    links: tuple[tuple[str, str, str], ...]
    turn: str

    @property
    def probe(self) -> str:
        """The id of its turning point in the store."""
        return f"{self.id}/{self.turn}"

    def commands(self, citizen: str, rename: Rename) -> Iterator[Command]:
        """What stores the story: its memories an hour apart, and its links."""
        for hour, told in enumerate(self.told):
            states = [word for word in told.marks if word in STATES]
            results = [RESULTS[word] for word in told.marks if word in RESULTS]
            felt = [word for word in told.marks if word not in STATES and word not in RESULTS]
            yield Remember.model_validate(
                {
                    "citizen_id": citizen,
                    "id": f"{self.id}/{told.key}",
                    "name": told.text,
                    "valid_at": BEGUN + timedelta(hours=hour),
                    **({"resolution_state": states[0]} if states else {}),
                    **({"result": results[0]} if results else {}),
                    **({"emotion_vector": dict.fromkeys(felt, 0.7)} if felt else {}),
                }
            )
        for source, name, target in self.links:
            yield _link(citizen, (f"{self.id}/{source}", rename(self.part, name), f"{self.id}/{target}"))


def read_pairs(half: str) -> list[dict[str, Story]]:
    """The pairs of a half: for each the stories `one`, `two` and `other`."""
    pairs: list[dict[str, Story]] = []
    for block in (PAIRS / f"{half}.txt").read_text().split("\n== "):
        parts = re.split(r"^-- (\w+)\n", block, flags=re.MULTILINE)[1:]
        place = len(pairs)
        pairs.append({part: _story(f"{place}/{part}", part, text) for part, text in _by_twos(parts)})
    return pairs


def _by_twos(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(parts[::2], parts[1::2], strict=True)


def _story(story_id: str, part: str, text: str) -> Story:
    links: list[tuple[str, str, str]] = []
    told: list[Told] = []
    turn = ""
    for line in filter(None, text.splitlines()):
        if line.startswith("> "):
            ends = (one.split() for one in line[2:].split(";"))
            links += [(source, name, target) for source, name, target in ends]
        elif found := _MEMORY.match(line):
            star, key, words, marks = found.groups()
            told.append(Told(key, words, tuple((marks or "").split())))
            turn = key if star else turn
    return Story(story_id, part, tuple(told), tuple(links), turn)


def _link(citizen: str, triple: tuple[str, str, str]) -> Relate:
    source, name, target = triple
    return Relate(
        citizen_id=citizen, source_id=source, relation_type=name, target_id=target, energy=0.5, confidence=0.5,
        emotion_vector={}, goal="tell what happened", mindstate="telling",
    )  # fmt: skip


def noise(citizen: str, number: int) -> Iterator[Command]:
    """So many other memories, each with a state, a result or feelings and a link to one of the ten before it."""
    chance = random.Random(1)
    for place in range(number):
        yield Remember.model_validate(
            {
                "citizen_id": citizen,
                "id": f"noise/{place}",
                "name": f"entry {place}",
                "valid_at": BEGUN + timedelta(minutes=place),
                **({"resolution_state": chance.choice(STATES)} if chance.random() < 0.5 else {}),
                **({"result": chance.choice(list(RESULTS.values()))} if chance.random() < 0.3 else {}),
                **({"emotion_vector": {chance.choice(FELT): 0.6}} if chance.random() < 0.7 else {}),
            }
        )
    for place in range(1, number):
        before = max(0, place - chance.randint(1, 10))
        yield _link(citizen, (f"noise/{place}", chance.choice(TYPES), f"noise/{before}"))


@asynccontextmanager
async def open_store(*, vectors: bool) -> AsyncIterator[Runtime]:
    """A new store that is removed at the end."""
    embedding = Settings().embedding if vectors else EmbeddingSettings(embedding="none")
    with tempfile.TemporaryDirectory(prefix="substrate-shape-") as directory:
        async with open_runtime(Settings(StoreSettings(data=Path(directory)), embedding)) as rt:
            yield rt


async def store(commands: Sequence[Command], rt: Runtime) -> None:
    """Store the commands. Raises RuntimeError where one is refused."""
    for first in range(0, len(commands), 500):
        for receipt in await apply(commands[first : first + 500], rt.deps, now()):
            if receipt.faults:
                raise RuntimeError(receipt.faults[0])


async def rank_by_shape(pairs: Sequence[dict[str, Story]], citizen: str, rt: Runtime) -> list[float]:
    """The rank of each partner by shape; prints the median time of an answer in milliseconds."""
    ranks, times = [], []
    for pair in pairs:
        begun = time.perf_counter()
        answer = await resonate(
            Resonate(
                citizen_id=citizen, by="shape", id=pair["one"].probe, query_levels=(Level.N1,),
                max_results_per_level=ASKED,
            ),
            rt.deps,
            now(),
        )  # fmt: skip
        times.append(1000 * (time.perf_counter() - begun))
        found = [one.memory.node_id for one in answer.levels["n1_personal"]]
        ranks.append(found.index(pair["two"].probe) + 1.0 if pair["two"].probe in found else ASKED + 1.0)
    print(f"  {citizen}: median {median(times):.0f} ms an answer, slowest {max(times):.0f} ms")
    return ranks


async def rank_by_cosine(pairs: Sequence[dict[str, Story]], rt: Runtime, *, whole: bool) -> list[float]:
    """The rank of each partner by the cosine of texts: of all memories of other stories, or of whole stories."""
    stories = [story for pair in pairs for story in pair.values()]
    texts = {
        **({story.probe: " ".join(told.text for told in story.told) for story in stories} if whole else {}),
        **({f"{story.id}/{told.key}": told.text for story in stories for told in story.told} if not whole else {}),
    }
    ids = list(texts)
    vectors = np.array(await rt.deps.embedder.embed_texts(list(texts.values())))
    ranks = []
    for pair in pairs:
        alike = vectors @ vectors[ids.index(pair["one"].probe)]
        others = [place for place, one in enumerate(ids) if not one.startswith(f"{pair['one'].id}/")]
        partner = alike[ids.index(pair["two"].probe)]
        ranks.append(1.0 + sum(alike[place] > partner for place in others))
    return ranks


def show(name: str, ranks: Sequence[float]) -> None:
    """Print how high the partners stand."""
    first, five = sum(rank == 1 for rank in ranks), sum(rank <= 5 for rank in ranks)
    mrr = fmean(1 / rank for rank in ranks)
    print(f"  {name:24} MRR {mrr:.3f}   first {first:2}   among 5 {five:2}   median rank {median(ranks):.0f}")


async def run(halves: Sequence[str], beside: int) -> None:
    """Measure the halves, and print how high the partners stand by each way."""
    async with open_store(vectors=not beside) as rt:
        for half in halves:
            pairs = read_pairs(half)
            print(f"{half}: {len(pairs)} pairs")
            for name, rename in RENAMES.items():
                citizen = f"{half}-{name}".replace(", ", "-").replace(" ", "-")
                stories = [story for pair in pairs for story in pair.values()]
                await store([one for story in stories for one in story.commands(citizen, rename)], rt)
                await store(list(noise(citizen, beside)), rt)
                show(name, await rank_by_shape(pairs, citizen, rt))
                if beside:
                    break
            if not beside:
                show("cosine", await rank_by_cosine(pairs, rt, whole=False))
                show("cosine, story", await rank_by_cosine(pairs, rt, whole=True))


def main() -> None:
    parser = argparse.ArgumentParser(description="Ranks by shape and by cosine of stories in other words.")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--beside", type=int, default=0, metavar="N", help="so many other memories in the graph")
    given = parser.parse_args()
    asyncio.run(run([given.half] if given.half else HALVES, given.beside))


if __name__ == "__main__":
    main()
