"""How well facts are found that were told, and are asked for, in German, French, Japanese and Chinese.

    python -m benchmarks.tongues [--all-in-one]

Stores the hundred facts of each file of benchmarks/tongues as a citizen's chat and asks its hundred questions: the
share of facts that come first, among the first five and ten, and the mean reciprocal rank. The others of a file
are the distractors of each; `--all-in-one` stores all files as chats of one citizen. BM25 is that of the other
benchmarks, `BM25 of pairs` the same over the words of `substrate.language.text`; cosine uses the embedder of the
settings and is left out where that is `none`. Every fourth fact is held back: no rule was chosen on it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict

from api.runtime.runtime import Runtime, now
from benchmarks.baselines import indexed_text, rank_bm25, rank_cosine
from benchmarks.chat import Chat
from benchmarks.chat_answers import Probe, ask, open_store, store_chat
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.life import Message
from benchmarks.time_phrases import ranking
from substrate.language.text import words

DIRECTORY: Final = Path(__file__).parent / "tongues"
CITIZEN: Final = "polyglot"
BEGIN: Final = datetime(2025, 1, 6, 9, tzinfo=UTC)
BETWEEN: Final = timedelta(hours=31)
"""A fact is told so long after the one before it."""
HELD_BACK: Final = 4
"""Every such fact is held back."""
METHODS: Final = ("BM25", "BM25 of pairs", "cosine", "Substrate")


class Fact(BaseModel):
    """What a person told, and a question for it; `id` is the same in every language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    question: str

    @property
    def is_held_back(self) -> bool:
        """True for a fact on which no rule was chosen."""
        return int(self.id.rpartition("-")[2]) % HELD_BACK == 0


class Tongue(BaseModel):
    """The facts of one language, each with its question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """The places of the facts asked for, from 1; None for a fact that was not found."""

    places: tuple[int | None, ...]

    def within(self, k: int) -> float:
        """Return the share of the facts that are among the first k."""
        return fmean(place is not None and place <= k for place in self.places)

    @property
    def reciprocal(self) -> float:
        """Return the mean reciprocal rank; a fact that was not found counts 0."""
        return fmean(0.0 if place is None else 1 / place for place in self.places)


def load_tongues() -> list[Tongue]:
    """Read every file, by language. Raises pydantic's ValidationError for another shape."""
    return [Tongue.model_validate_json(file.read_bytes()) for file in sorted(DIRECTORY.glob("*.json"))]


def to_chat(tongue: Tongue, citizen: str, begin: datetime = BEGIN) -> Chat:
    """Return the facts as the chat of a citizen, a message each."""
    messages = tuple(
        Message(id=f"{tongue.language}-{fact.id}", time=begin + BETWEEN * place, role="user", text=fact.text)
        for place, fact in enumerate(tongue.facts)
    )
    return Chat(
        id=f"tongue-{tongue.language}",
        language=tongue.language,
        citizen_id=citizen,
        messages=messages,
        questions=(),
        changes=(),
        unanswerable=(),
        time_phrases=(),
        instructions=(),
    )


def place_of(wanted: str, ids: Sequence[str]) -> int | None:
    """Return the place of an id from 1; None when it is not there."""
    return ids.index(wanted) + 1 if wanted in ids else None


def rank_words(turns: Sequence[Turn], questions: Sequence[Question]) -> dict[str, list[list[str]]]:
    """Return for each question the order of the turns by BM25, plain and over the words of the product."""
    cut = [replace(turn, text=" ".join(words(turn.text))) for turn in turns]
    asked = [replace(question, text=" ".join(words(question.text))) for question in questions]
    return {
        "BM25": rank_bm25(Conversation("", tuple(turns), ()), questions),
        "BM25 of pairs": rank_bm25(Conversation("", tuple(cut), ()), asked),
    }


async def rank_vectors(
    turns: Sequence[Turn], questions: Sequence[Question], rt: Runtime
) -> dict[str, list[list[str]]]:
    """Return the order of the turns by cosine; nothing without an embedder."""
    asked = [await rt.deps.embedder.embed_query(question.text) for question in questions]
    if not all(asked):
        return {}
    told = await rt.deps.embedder.embed_texts([indexed_text(turn) for turn in turns])
    return {"cosine": rank_cosine(np.array(told), np.array(asked), [turn.id for turn in turns])}


async def measure(tongue: Tongue, chats: Sequence[Chat], rt: Runtime) -> dict[str, list[int | None]]:
    """Return by method the place of each fact of a language among the messages of all chats of its citizen."""
    said = [message for chat in chats for message in chat.messages]
    turns = [Turn(each.id, each.role, each.text, each.time, "") for each in said]
    wanted = [f"{tongue.language}-{fact.id}" for fact in tongue.facts]
    questions = [Question(fact.question, "", frozenset((fact.id,))) for fact in tongue.facts]
    whole = chats[0].model_copy(update={"messages": tuple(said)})
    end = max(message.time for message in said) + BETWEEN
    streams = [await ask(whole, Probe("fact", fact.question, end), rt) for fact in tongue.facts]
    found = {**rank_words(turns, questions), **await rank_vectors(turns, questions, rt)}
    found["Substrate"] = [ranking(stream, whole) for stream in streams]
    return {
        method: [place_of(name, ids) for name, ids in zip(wanted, orders, strict=True)]
        for method, orders in found.items()
    }


async def run(tongues: Sequence[Tongue], *, all_in_one: bool) -> dict[str, dict[str, list[int | None]]]:
    """Return by language and method the place of each fact."""
    chats = {
        tongue.language: to_chat(
            tongue, CITIZEN if all_in_one else f"{CITIZEN}-{tongue.language}", BEGIN + timedelta(hours=number)
        )
        for number, tongue in enumerate(tongues)
    }
    async with open_store() as rt:
        for chat in chats.values():
            await store_chat(chat, rt)
        return {
            tongue.language: await measure(
                tongue, list(chats.values()) if all_in_one else [chats[tongue.language]], rt
            )
            for tongue in tongues
        }


def rows(tongues: Sequence[Tongue], places: Mapping[str, Mapping[str, Sequence[int | None]]]) -> list[str]:
    """Return the lines of the table: for each language and method, all facts and those held back."""
    lines = [f"{'':4}{'':15}{'n':>4}{'first':>8}{'@5':>7}{'@10':>7}{'MRR':>7}"]
    for tongue in tongues:
        for part, of_part in (("all", (True, False)), ("held", (True,))):
            for method in METHODS:
                if (found := places[tongue.language].get(method)) is None:
                    continue
                pairs = zip(tongue.facts, found, strict=True)
                figures = Figures(tuple(place for fact, place in pairs if fact.is_held_back in of_part))
                shares = (figures.within(1), figures.within(5), figures.within(10), figures.reciprocal)
                cells = "".join(f"{share:7.3f}" for share in shares)
                name = f"{tongue.language} {part}"
                lines.append(f"{name:8}{method:14}{len(figures.places):4} {cells}")
    return lines


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--all-in-one", action="store_true", help="store all languages in one citizen")
    tongues, all_in_one = load_tongues(), arguments.parse_args().all_in_one
    print(f"facts of {len(tongues)} languages, as of {now()}" if all_in_one else "facts by language")
    print("\n".join(rows(tongues, asyncio.run(run(tongues, all_in_one=all_in_one)))))


if __name__ == "__main__":
    main()
