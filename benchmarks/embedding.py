"""Speed of the local embedding model in each precision, and how close its vectors are to those of fp32.

    python -m benchmarks.embedding [--json] [--locomo locomo.json]

Prints, for each precision, whether it is this machine's own; processor milliseconds of one query and of one text
(each the least of some rounds, so that other work on the machine counts little), also as a share of fp32; texts a
second by the clock at ingestion, with the threads of this machine, and how many times that is of one thread with
int8 (what Substrate did before it chose); and the cosine of its vectors to those of fp32 (mean, least) and of
int8 (mean). With `--locomo` the texts are turns of that file, and the table tells the share of the same ten
nearest turns as with fp32, and the macro recall@10 of the evidence turns (questions of categories 1 to 4, turns as
"Speaker: text", plain cosine within each conversation). All precisions take turns within each round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.settings import EmbeddingSettings
from substrate.inference.embeddings.local import LocalMiniLM, embedder_of
from substrate.inference.minilm.weights import Precision

PRECISIONS: Final[tuple[Precision, ...]] = ("fp32", "int8", "u8s8")
NAMES: Final = ("Caroline", "Melanie", "Jon", "Gina", "Maria", "John")
THINGS: Final = (
    "the camping trip",
    "a pottery class",
    "the new job",
    "her sister's wedding",
    "the old piano",
)
QUERIES: Final = tuple(f"When did {name} first talk about {thing}?" for name in NAMES for thing in THINGS)
TURNS: Final = tuple(
    f"{name}: Last week I told everybody about {thing}, and it went well." for name in NAMES for thing in THINGS
)
ROUNDS: Final = 6
CLOCK_ROUNDS: Final = 3
MEASURED: Final = 60
"""So many texts and queries are measured at least, of a file that has more."""

type Vectors = NDArray[np.float64]


class Conversation(NamedTuple):
    """Turns with their ids, and questions with the ids of their evidence."""

    turns: list[str]
    ids: list[str]
    questions: list[tuple[str, list[str]]]


def embed(model: LocalMiniLM, texts: Sequence[str]) -> Vectors:
    """Return the vectors of `texts`, one per row."""
    return np.array([model.get_text_embedding(text) for text in texts])


def least_milliseconds(models: Mapping[Precision, LocalMiniLM], texts: Sequence[str]) -> dict[Precision, float]:
    """Return the processor time of a text in each precision: the mean over texts of the least of some rounds."""
    least = {name: [float("inf")] * len(texts) for name in models}
    for _ in range(ROUNDS):
        for place, text in enumerate(texts):
            for name, model in models.items():
                begun = time.thread_time()
                model.get_text_embedding(text)
                least[name][place] = min(least[name][place], time.thread_time() - begun)
    return {name: statistics.fmean(times) * 1000 for name, times in least.items()}


async def texts_per_second(
    models: Mapping[Precision, LocalMiniLM], texts: Sequence[str]
) -> tuple[dict[Precision, float], float]:
    """Return the best texts per second at ingestion, by the clock: of each, and of int8 on one thread."""
    embedders = {name: embedder_of(model) for name, model in models.items()}
    best, before = dict.fromkeys(models, 0.0), 0.0
    for _ in range(CLOCK_ROUNDS):
        for name, embedder in embedders.items():
            begun = time.perf_counter()
            await embedder.embed_texts(texts)
            best[name] = max(best[name], len(texts) / (time.perf_counter() - begun))
        begun = time.perf_counter()
        models["int8"].get_text_embedding_batch(list(texts))
        before = max(before, len(texts) / (time.perf_counter() - begun))
    for embedder in embedders.values():
        await embedder.aclose()
    return best, before


def conversations(path: Path) -> list[Conversation]:
    """Read the conversations of a LoCoMo file."""
    samples = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        sessions = [part for part in sample["conversation"].values() if isinstance(part, list)]
        turns = [turn for session in sessions for turn in session]
        questions = [
            (qa["question"], re.findall(r"D\d+:\d+", " ".join(qa["evidence"])))
            for qa in sample["qa"]
            if qa["category"] in (1, 2, 3, 4)
        ]
        spoken = [f"{turn['speaker']}: {turn['text']}" for turn in turns]
        ids = [turn["dia_id"] for turn in turns]
        samples.append(Conversation(spoken, ids, [(question, ev) for question, ev in questions if ev]))
    return samples


class Found(NamedTuple):
    """The ten nearest turns of each question, and the mean share of its evidence among them."""

    nearest: list[frozenset[str]]
    recall: float


def find_evidence(model: LocalMiniLM, samples: Sequence[Conversation]) -> Found:
    """Ask each question of its conversation."""
    nearest, recalls = [], []
    for sample in samples:
        likeness = embed(model, [question for question, _ in sample.questions]) @ embed(model, sample.turns).T
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :10]
        for (_, evidence), row in zip(sample.questions, best, strict=True):
            nearest.append(frozenset(sample.ids[i] for i in row))
            recalls.append(sum(item in nearest[-1] for item in evidence) / len(evidence))
    return Found(nearest, statistics.fmean(recalls))


def found_rows(
    models: Mapping[Precision, LocalMiniLM], samples: Sequence[Conversation]
) -> dict[Precision, dict[str, float]]:
    """Return what each precision finds, beside fp32."""
    found = {name: find_evidence(model, samples) for name, model in models.items()}
    exact = found["fp32"].nearest
    return {
        name: {
            "same_ten": round(statistics.fmean(len(a & b) / 10 for a, b in zip(nearest, exact, strict=True)), 4),
            "recall_at_10": round(recall, 4),
        }
        for name, (nearest, recall) in found.items()
    }


def measured(cache: Path, samples: Sequence[Conversation]) -> list[dict[str, Any]]:
    """Return one row of figures per precision."""
    models = {precision: LocalMiniLM(cache, precision) for precision in PRECISIONS}
    chosen = LocalMiniLM(cache).choice
    turns = [turn for sample in samples for turn in sample.turns] or list(TURNS)
    queries = [question for sample in samples for question, _ in sample.questions] or list(QUERIES)
    turns, queries = (texts[:: max(1, len(texts) // MEASURED)] for texts in (turns, queries))
    query, text = least_milliseconds(models, queries), least_milliseconds(models, turns)
    speed, before = asyncio.run(texts_per_second(models, turns * 2))
    vectors = {name: embed(model, queries + turns) for name, model in models.items()}
    found = found_rows(models, samples) if samples else {}
    rows: list[dict[str, Any]] = []
    for name in PRECISIONS:
        cosines = (vectors[name] * vectors["fp32"]).sum(axis=1)
        row = {
            "precision": name,
            "chosen": chosen if chosen.startswith(name) else "",
            "query_ms": round(query[name], 2),
            "query_of_fp32": round(query[name] / query["fp32"], 2),
            "text_ms": round(text[name], 2),
            "text_of_fp32": round(text[name] / text["fp32"], 2),
            "texts_per_second": round(speed[name]),
            "times_int8_on_one_thread": round(speed[name] / before, 2),
            "cosine_mean": round(float(cosines.mean()), 5),
            "cosine_min": round(float(cosines.min()), 5),
            "cosine_to_int8": round(float((vectors[name] * vectors["int8"]).sum(axis=1).mean()), 5),
        }
        rows.append(row | found.get(name, {}))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed and fidelity of the local embedding model.")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file, for texts and evidence recall@10")
    asked = parser.parse_args()
    samples = conversations(asked.locomo) if asked.locomo else []
    rows = measured(EmbeddingSettings().cache, samples)
    if asked.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
