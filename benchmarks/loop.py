"""Whole conversations lived through in the loop: told, asked and answered in between, against what was told alone.

    python -m benchmarks.loop [--locomo FILE] [--beam DIRECTORY] [--chats DIRECTORY] [--lives]
        [--conversations N] [--questions N] [--limit TURNS] [--replies KIND] [--seed N] [--json FILE]

As an agent does: message in, question heard, recall, reply stored, next message (`benchmarks.loop_plan`). Three
citizens live through each conversation in step: `told` hears what was told and nothing else; `own` hears the
questions and replies too, each day in a conversation of its own; `running` hears them in one running chat: that of
the conversation itself where a user talks with an assistant. All times are those of the life.

Half of the questions are heard in the loop, each one to three times once it can be answered. When one is heard,
and three times in a life, when it is looked back, the same is asked of all three; nothing is stored of that:

    heard, heard again   the question that was just heard, for the first time or again
    asked, asked again   looking back: it was heard once before, or more often
    never asked          looking back: it is heard in none of the memories
    never said           of each of these, the questions that nothing answers
    own fact             what the assistant told by itself in a reply

rec@5, rec@10: the share of the evidence among the first turns, where every turn takes a place, heard questions and
replies too. first: evidence stands first. empty: nothing fits, which is false where something answers. sure: mean
confidence. characters, tokens: of the compact text; in 1500: recall in the compact text of 1,500 tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final, NamedTuple

import orjson

from api.runtime.runtime import Runtime, open_runtime
from benchmarks.baselines import is_asker
from benchmarks.chat import load_chats, load_plain
from benchmarks.datasets import Conversation, Question, Turn, add_sets, load_sets
from benchmarks.life import load_lives
from benchmarks.loop_plan import (
    KINDS,
    LOOKS,
    Asked,
    Look,
    Split,
    Step,
    Told,
    as_conversation,
    is_told,
    plan,
    shorten,
    split,
    told_after,
)
from benchmarks.recall import answer
from benchmarks.scoring import format_rows, interval, recall_at
from benchmarks.waking import ranked_ids
from orchestration.ingestion.hearing import NewMessages, hear_messages
from orchestration.ingestion.storing import Job
from schemas.errors import InvalidRequest
from schemas.intention import RetrievalIntention
from schemas.responses import HeardReport
from schemas.settings import Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import to_instant
from substrate.inference import tokens

TOLD, OWN, RUNNING = "told", "own", "running"
MEMORIES: Final = (TOLD, OWN, RUNNING)
FEW_TOKENS: Final = 1_500
FORMS: Final[Sequence[Mapping[str, Any]]] = (
    {},
    {"form": "compact"},
    {"form": "compact", "max_tokens": FEW_TOKENS},
)
ECHOED: Final = 200
"""The most characters of a memory that a reply repeats."""
FIGURES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("rec@5", "rec@10", "first", "empty", "sure"), ".3f"),
    **dict.fromkeys(("characters", "tokens"), ".0f"),
    **dict.fromkeys(("rec@5 in 1500", "rec@10 in 1500"), ".3f"),
}
"""The figures that a table shows, and how."""
REC_5: Final = "rec@5"
BY_DAY: Final = (REC_5, "first", "empty", "sure")
MORE: Final = {OWN: "own - told", RUNNING: "running - told"}
LINES: Final = (*MEMORIES, *MORE.values())
ANSWERED: Final = ("heard", "heard again", "asked", "asked again", "never asked")
GROUPS: Final = (*ANSWERED, "own fact", *(f"never said, {group}" for group in ANSWERED))
SEED: Final = 33
QUESTIONS: Final = 50


class Said(NamedTuple):
    """A message that was just heard: its conversation, the id that its sender gave it, and that of its turn."""

    episode: str
    message: str
    turn: str | None


@dataclass(frozen=True, slots=True)
class Seen:
    """How one question was answered by one memory. `part`: of the life, from 1; 0 for one that was just heard."""

    conversation: str
    memory: str
    group: str
    part: int
    figures: Mapping[str, float]


@dataclass
class Loop:
    """A conversation that three citizens live through, and what was seen of it."""

    conversation: Conversation
    rt: Runtime
    seen: list[Seen] = field(default_factory=list)
    heard: Counter[str] = field(default_factory=Counter)
    taught: list[Question] = field(default_factory=list)
    session: str = ""

    def citizen(self, memory: str) -> str:
        """The id of the citizen with this memory."""
        return f"{memory}-{self.conversation.id}"

    def episode(self, memory: str, day: int) -> str:
        """The conversation in which questions are heard on a day."""
        if memory == OWN:
            return f"{self.conversation.id}-day-{day}"
        return self.conversation.id if self.is_chat else f"{self.conversation.id}-agent"

    @property
    def is_chat(self) -> bool:
        """True where a user talks with an assistant; else two people talk with each other."""
        return any(map(is_asker, self.conversation.turns))

    async def tell(self, turns: Sequence[Turn]) -> None:
        """All three hear the turns."""
        for memory in MEMORIES if turns else ():
            await self._hear(memory, self.conversation.id, turns)
        self.session = turns[-1].session if turns else self.session

    async def ask(self, asked: Asked) -> None:
        """The question is heard, all are asked, and the reply is stored."""
        self.heard[asked.question.text] += 1
        group = "heard" if asked.time == 1 else "heard again"
        for memory in MEMORIES:
            said = None if memory == TOLD else await self._say(memory, asked, "user", asked.question.text)
            stream = await self._look(memory, asked.question, asked.at, (group, 0), said=said)
            if memory != TOLD:
                await self._say(memory, asked, "assistant", self._reply(asked, stream))
        if asked.teaches is not None:
            self.taught.append(asked.teaches)

    async def look_back(self, look: Look, questions: Split) -> None:
        """All that can be answered by now is asked."""
        places = told_after(self.conversation)
        groups = {0: "never asked", 1: "asked"}
        for question in (*questions.heard, *questions.kept):
            group = groups.get(self.heard[question.text], "asked again")
            if is_told(question, look.told, places) and (group != "never asked" or question in questions.kept):
                for memory in MEMORIES:
                    await self._look(memory, question, look.at, (group, look.part))
        for question in self.taught:
            for memory in (OWN, RUNNING):
                await self._look(memory, question, look.at, ("own fact", look.part))

    async def _say(self, memory: str, asked: Asked, role: str, text: str) -> Said:
        """Hear a question or a reply to it."""
        episode = self.episode(memory, asked.day)
        message = asked.id if role == "user" else asked.reply_id
        session = self.session if episode == self.conversation.id else ""
        report = await self._hear(memory, episode, [Turn(message, role, text, asked.at, session)])
        return Said(episode, message, report.messages[0].id)

    async def _hear(self, memory: str, episode: str, turns: Sequence[Turn]) -> HeardReport:
        """Store the turns as `POST /v1/episodes/{id}/turns` does. Raises RuntimeError when one was not stored."""
        sent = NewMessages(self.citizen(memory), episode, [*map(_wire, turns)])
        report = await hear_messages(sent, Job(self.rt.deps, to_instant(_time(turns[-1]))))
        if report.stored < len(turns):
            raise RuntimeError(f"{episode}: {report.stored} of {len(turns)} stored: {report.messages}")
        return report

    def _reply(self, asked: Asked, stream: ConsciousnessStream) -> str:
        """The words of the reply; an echo repeats the best of what was told, or is unsure without any."""
        if asked.kind != "echo":
            return asked.reply
        texts = {turn.id: turn.text for turn in self.conversation.turns}
        best = next((texts[each] for each in ranked_ids(stream) if each in texts), None)
        return "I am not sure." if best is None else f"{asked.reply}{best[:ECHOED]}"

    async def _look(
        self, memory: str, question: Question, at: datetime, where: tuple[str, int], *, said: Said | None = None
    ) -> ConsciousnessStream:
        """Ask one memory in the full form, and in the compact one without and with a bound; returns the first."""
        asked = intention(self.citizen(memory), question.text, said)
        full, compact, bounded = [
            await answer(asked.model_copy(update=form), self.rt.deps, to_instant(at)) for form in FORMS
        ]
        group, part = where
        figures = {
            **_found(ranked_ids(full), question),
            "empty": float(full.nothing_fits),
            "sure": full.answer_confidence or 0.0,
            "characters": float(len(compact.text or "")),
            "tokens": float(tokens.counter()(compact.text or "")),
            **{f"{name} in 1500": value for name, value in _found(ranked_ids(bounded), question).items()},
        }
        group = group if question.evidence else f"never said, {group}"
        self.seen.append(Seen(self.conversation.id, memory, group, part, figures))
        return full


def intention(citizen: str, text: str, said: Said | None) -> RetrievalIntention:
    """The recall of an agent. `said`: the running message, where the question was just heard."""
    running = {} if said is None else {"conversation": said.episode, "message_id": said.message}
    return RetrievalIntention(query_text=text, citizen_id=citizen, **running)


def _wire(turn: Turn) -> dict[str, str]:
    named = {"session": turn.session} if turn.session else {}
    return {
        "id": turn.id,
        "role": turn.speaker,
        "content": turn.text,
        "timestamp": _time(turn).isoformat(),
        **named,
    }


def _time(turn: Turn) -> datetime:
    assert turn.time is not None  # every step of a plan has its time
    return turn.time


def _found(ranking: Sequence[str], question: Question) -> dict[str, float]:
    if not question.evidence:
        return {}
    return {
        "rec@5": recall_at(ranking, question.evidence, 5),
        "rec@10": recall_at(ranking, question.evidence, 10),
        "first": float(ranking[:1] != [] and ranking[0] in question.evidence),
    }


async def live(loop: Loop, steps: Iterable[Step], questions: Split) -> list[Seen]:
    """Live through the steps; returns what was seen."""
    for step in steps:
        if isinstance(step, Told):
            await loop.tell(step.turns)
        elif isinstance(step, Asked):
            await loop.ask(step)
        else:
            await loop.look_back(step, questions)
    return loop.seen


class Lived(NamedTuple):
    """What was seen in the lives of a set, how many questions were heard, and the seconds it took."""

    seen: list[Seen]
    heard: int
    seconds: float


async def measure(conversations: Sequence[Conversation], options: argparse.Namespace) -> Lived:
    """Live through each conversation, all in one new store."""
    begun, seen, heard = time.perf_counter(), list[Seen](), 0
    settings = Settings()
    with tempfile.TemporaryDirectory(prefix="substrate-loop-") as directory:
        async with open_runtime(Settings(StoreSettings(data=Path(directory)), settings.embedding)) as rt:
            for conversation in conversations:
                chance = Random(f"{options.seed} {conversation.id}")
                questions = split(conversation, options.questions, chance)
                steps = plan(conversation, questions, chance, options.replies)
                heard += sum(isinstance(step, Asked) for step in steps)
                seen += await live(Loop(conversation, rt), steps, questions)
                print(f"{conversation.id}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return Lived(seen, heard, round(time.perf_counter() - begun, 1))


def compare(seen: Sequence[Seen]) -> dict[str, dict[str, dict[str, Any]]]:
    """By group, and part of the life in it, the figures of each memory, and what those in the loop have more.

    `intervals`: of what they have more at rec@5, over conversations where there are several.
    """
    keys = dict.fromkeys(key for each in seen for key in ((each.group, 0), (each.group, each.part)))
    compared: dict[str, dict[str, dict[str, Any]]] = {group: {} for group in GROUPS if (group, 0) in keys}
    for group, part in keys:
        chosen = [each for each in seen if each.group == group and part in (0, each.part)]
        by_memory = {name: [each for each in chosen if each.memory == name] for name in MEMORIES}
        row: dict[str, Any] = {"n": len(by_memory[OWN]), "intervals": {}}
        row |= {name: _means(own) for name, own in by_memory.items() if own}
        for name, more in MORE.items() if TOLD in row else ():
            row[more] = {figure: row[name][figure] - value for figure, value in row[TOLD].items()}
            pairs = [*zip(by_memory[TOLD], by_memory[name], strict=True)] if REC_5 in row[TOLD] else []
            leads = [own.figures[REC_5] - told.figures[REC_5] for told, own in pairs]
            lives = [told.conversation for told, _ in pairs]
            if len(set(lives)) > 1:
                row["intervals"][more] = interval(leads, lives)[1:]
        compared[group]["all" if part == 0 else f"{part}/{LOOKS}"] = row
    return compared


def _means(seen: Sequence[Seen]) -> dict[str, float]:
    return {name: fmean(each.figures[name] for each in seen) for name in seen[0].figures}


def show(name: str, lived: Lived) -> Iterator[str]:
    """Yield the tables of a set: all, and by the part of the life at which it is looked back."""
    yield f"{name}: {lived.heard} questions heard in each of two memories, {lived.seconds:.0f} s"
    groups = compare(lived.seen)
    rows = [["asked", "memory", "n", *FIGURES, "95 % of rec@5"]]
    for group, parts in groups.items():
        whole = parts["all"]
        for line in filter(whole.__contains__, LINES):
            cells = [_cell(whole[line], figure) for figure in FIGURES]
            low, high = whole["intervals"].get(line, ("", ""))
            rows.append([group, line, str(whole["n"]), *cells, f"{low:+.3f} to {high:+.3f}" if low != "" else ""])
    yield format_rows(name, rows)
    days = [f"{part}/{LOOKS}" for part in range(1, LOOKS + 1)]
    rows = [["asked", "memory", *(f"{figure} {day}" for figure in BY_DAY for day in days)]]
    for group, parts in groups.items():
        for line in filter(parts["all"].__contains__, LINES) if parts.keys() & days else ():
            shown = [parts.get(day, {}).get(line, {}) for _ in BY_DAY for day in days]
            figures = [figure for figure in BY_DAY for _ in days]
            rows.append([group, line, *(_cell(*pair) for pair in zip(shown, figures, strict=True))])
    yield format_rows(f"{name}, by day of the life", rows)


def _cell(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:{FIGURES[name]}}" if name in figures else ""


def read_conversations(options: argparse.Namespace) -> dict[str, list[Conversation]]:
    """The sets that the options name, by name, as much of each as they allow. Raises as the readers do."""
    sets = load_sets(options.locomo, options.beam)
    sets |= {path.name: [as_conversation(chat) for chat in load_chats((), path)] for path in options.chats}
    if options.lives:
        plain = {chat.id: [each.question for each in chat.unanswerable] for chat in load_plain()}
        sets["lives"] = [as_conversation(life, plain.get(life.id, ())) for life in load_lives()]
    kept = {name: conversations[: options.conversations] for name, conversations in sets.items()}
    return {name: [shorten(each, options.limit) for each in chosen] for name, chosen in kept.items()}


def main() -> None:
    """Live through the sets, and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_sets(parser)
    parser.add_argument("--chats", type=Path, action="append", default=[], help="a directory of chats; repeatable")
    parser.add_argument("--lives", action="store_true", help="the lives of benchmarks/lives")
    parser.add_argument("--conversations", type=int, help="of each set only the first so many")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="heard in a conversation at most")
    parser.add_argument("--limit", type=int, help="of each conversation only the first so many turns")
    parser.add_argument("--replies", choices=KINDS, help="this kind of reply alone")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", type=Path, help="a file for all figures")
    options = parser.parse_args()
    try:
        sets = read_conversations(options)
    except (OSError, ValueError, InvalidRequest) as error:
        parser.error(str(error))
    if not sets:
        parser.error("give --locomo, --beam, --chats or --lives")
    lived = {name: asyncio.run(measure(conversations, options)) for name, conversations in sets.items()}
    if len(lived) > 1:
        whole = list(lived.values())
        seen = [each for one in whole for each in one.seen]
        lived["all"] = Lived(seen, sum(one.heard for one in whole), sum(one.seconds for one in whole))
    for name, one in lived.items():
        print("\n".join(show(name, one)), end="\n\n")
    if options.json is not None:
        figures = {name: {"heard": one.heard, "asked": compare(one.seen)} for name, one in lived.items()}
        options.json.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()
