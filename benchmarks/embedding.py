"""Speed of the local embedding model on one thread, and how close int8 is to fp32.

    python -m benchmarks.embedding [--json] [--recall locomo.json]

Prints, for each precision: milliseconds per short query (median), short texts per second, and the cosine of
its vectors to those of fp32 (mean, minimum). With `--recall` also the macro recall@10 of the evidence turns of
a LoCoMo file (questions of categories 1 to 4, turns as "Speaker: text", plain cosine within each conversation).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schemas.settings import EmbeddingSettings
from substrate.inference.embeddings.local import PRECISION, LocalMiniLM

PRECISIONS: Final = ("fp32", "int8")
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
ROUNDS: Final = 8

type Vectors = NDArray[np.float64]


class Conversation(NamedTuple):
    """Turns with their ids, and questions with the ids of their evidence."""

    turns: list[str]
    ids: list[str]
    questions: list[tuple[str, list[str]]]


def embed(model: LocalMiniLM, texts: Sequence[str]) -> Vectors:
    """Return the vectors of `texts`, one per row."""
    return np.array([model._get_text_embedding(text) for text in texts])


def query_milliseconds(model: LocalMiniLM) -> float:
    """Return the median time of one query, in milliseconds."""
    times = []
    for query in QUERIES * ROUNDS:
        start = time.perf_counter()
        model._get_query_embedding(query)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def texts_per_second(model: LocalMiniLM) -> float:
    """Return the number of short texts embedded per second by the model's batch call."""
    start = time.perf_counter()
    model.get_text_embedding_batch(list(TURNS) * ROUNDS)
    return len(TURNS) * ROUNDS / (time.perf_counter() - start)


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


def recall_at_10(model: LocalMiniLM, samples: Sequence[Conversation]) -> float:
    """Return the mean share of a question's evidence turns among the ten nearest turns."""
    recalls = []
    for sample in samples:
        likeness = embed(model, [question for question, _ in sample.questions]) @ embed(model, sample.turns).T
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :10]
        for (_, evidence), row in zip(sample.questions, best, strict=True):
            nearest = {sample.ids[i] for i in row}
            recalls.append(sum(item in nearest for item in evidence) / len(evidence))
    return statistics.fmean(recalls)


def measured(cache: Path, samples: Sequence[Conversation]) -> list[dict[str, Any]]:
    """Return one row of figures per precision."""
    rows: list[dict[str, Any]] = []
    exact: Vectors | None = None
    for precision in PRECISIONS:
        model = LocalMiniLM(cache, precision)
        vectors = embed(model, QUERIES + TURNS)
        exact = vectors if exact is None else exact
        cosines = (vectors * exact).sum(axis=1)
        row = {
            "precision": precision,
            "default": precision == PRECISION,
            "query_ms_p50": round(query_milliseconds(model), 2),
            "texts_per_second": round(texts_per_second(model)),
            "cosine_mean": round(float(cosines.mean()), 5),
            "cosine_min": round(float(cosines.min()), 5),
        }
        rows.append(row | ({"recall_at_10": round(recall_at_10(model, samples), 4)} if samples else {}))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed and fidelity of the local embedding model.")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--recall", type=Path, help="a LoCoMo file to measure evidence recall@10 on")
    asked = parser.parse_args()
    samples = conversations(asked.recall) if asked.recall else []
    rows = measured(EmbeddingSettings().cache, samples)
    if asked.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
