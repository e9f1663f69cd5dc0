"""The situation in one call against the calls that it replaces, and whether working memory has what it needs.

    python -m benchmarks.situation [--locomo FILE] [--of NAME [NAME...]] [--turns 60] [--json]
    python -m benchmarks.situation --evidence [--locomo FILE] [--every 4] [--of NAME [NAME...]] [--json]

Each citizen is stored whole: `ada` of the demo, the lives of benchmarks/lives, and with `--locomo` the first
conversation of the file. Then a cycle ends with a window and a focus, so that there is something to tell. The
service runs in a process of its own, with the local embedding model. Each turn reads the situation of a new
stimulus, and the same parts by the calls that there are for them: state, appetite, signal, waking, newest
memories, beliefs that changed, offers, and each memory of the window. Which way comes first takes turns.
`one by one` waits for each call, `together` sends them all at once on connections that stay open.

Figures are medians in milliseconds, ratios are of the medians, bytes are of the answers.

`--evidence` asks each question of the lives, and with `--locomo` or `--beam` every fourth of these chats, as a
stimulus of a situation, as the window and as the query of a signal, and as a plain question. A figure is the share
of the evidence among the seven memories that come back, the mean over chats of the means over their questions. N2
and N3 are filled with two other chats: `all` asks all levels, `own` the citizen's alone. `names`: how many of the
memories that came back are names or sessions; `shared`: how many are of other levels. The weights were chosen on
the lives and LoCoMo; BEAM was asked when they stood.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import orjson

from api.client import AsyncSubstrate
from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.chat import load_chats
from benchmarks.datasets import Conversation, load_locomo, load_sets
from benchmarks.energy import settings_of, store
from benchmarks.life import load_lives
from benchmarks.recall import store as store_conversation
from benchmarks.serving import Served
from benchmarks.waking import message_id, wire
from orchestration.features.situation.flow import read_situation
from orchestration.features.situation.values import SituationRequest
from orchestration.insertion import apply
from orchestration.resonance.ask import resonate
from orchestration.retrieval import retrieve_consciousness_context
from schemas.commands import Remember
from schemas.intention import ALL_LEVELS, Levels, RetrievalIntention
from schemas.memory import Level
from schemas.wave_signal import WORKING_MEMORY, Resonate

DEFAULT: Final = ("ada", "student")
STIMULI: Final = (
    "Can we talk about tomorrow?", "I am worried about the money", "That went well, thank you",
    "What did we agree on?", "Somebody is at the door", "I had a bad night",
)  # fmt: skip
WARM_UP: Final = 5
"""Turns that are not counted."""
FILLED: Final = {Level.N2: "night_editor", Level.N3: "ferry_and_greenhouse"}
"""The chats that fill the shared levels."""
OWN: Final = (Level.N1,)
type Ask = Callable[[], Awaitable[int]]
type Found = list[tuple[Level, str]]
"""What came back: levels and ids."""
type Way = Callable[[str, str], Awaitable[Found]]


class Spent(NamedTuple):
    """The milliseconds of a turn by way of asking, and the bytes of the answers of both ways."""

    situation: float
    one_by_one: float
    together: float
    bytes_of_situation: int
    bytes_of_calls: int


async def end_cycle(citizen: str, client: httpx.AsyncClient) -> list[str]:
    """End a cycle whose window shows the three newest memories; returns their ids."""
    listed = await client.get("/v1/memories", params={"citizen_id": citizen, "limit": 3})
    ids = [one["node_id"] for one in listed.raise_for_status().json()["memories"]]
    state = {"window": [{"id": one} for one in ids], "focus": "what is open"}
    (await client.put(f"/v1/citizens/{citizen}/state", json=state)).raise_for_status()
    return ids


def calls(citizen: str, stimulus: str, window: Sequence[str], client: httpx.AsyncClient) -> list[Ask]:
    """The calls that the situation replaces, one for each of its parts."""
    of = {"citizen_id": citizen}
    shown = [*({"id": one} for one in window), stimulus]

    def get(path: str, **params: Any) -> Ask:
        async def ask() -> int:
            return len((await client.get(path, params=params)).raise_for_status().content)

        return ask

    def post(path: str, body: dict[str, Any]) -> Ask:
        async def ask() -> int:
            return len((await client.post(path, json=body)).raise_for_status().content)

        return ask

    return [
        get(f"/v1/citizens/{citizen}/state"),
        get(f"/v1/citizens/{citizen}/appetite"),
        post("/v1/resonate", {**of, "window": shown, "focus": "what is open"}),
        post("/v1/wake", {**of, "form": "compact"}),
        get("/v1/memories", **of, limit=10),
        get(f"/v1/citizens/{citizen}/dissonances", limit=10),
        get("/v1/upkeep/offers", **of),
        *(get(f"/v1/memories/N1/{one}", **of) for one in window),
    ]


async def take_turn(number: int, citizen: str, window: Sequence[str], client: httpx.AsyncClient) -> Spent:
    """Read the situation, and the same by other calls; which comes first alternates."""
    stimulus = f"{STIMULI[number % len(STIMULI)]} ({number})"
    replaced = calls(citizen, stimulus, window, client)

    async def situation() -> int:
        body = {"stimuli": [stimulus]}
        answer = await client.post(f"/v1/citizens/{citizen}/situation", json=body)
        return len(answer.raise_for_status().content)

    async def one_by_one() -> int:
        return sum([await ask() for ask in replaced])

    async def together() -> int:
        return sum(await asyncio.gather(*(ask() for ask in replaced)))

    ways: list[Ask] = [situation, one_by_one, together]
    turned = [ways[(place + number) % len(ways)] for place in range(len(ways))]
    taken = {way: await _timed(way) for way in turned}
    (read, size), (alone, sizes), (at_once, _) = (taken[way] for way in ways)
    return Spent(read, alone, at_once, size, sizes)


async def _timed(ask: Ask) -> tuple[float, int]:
    begun = time.perf_counter()
    size = await ask()
    return (time.perf_counter() - begun) * 1000, size


def figures(citizen: str, spent: Sequence[Spent], replaced: int) -> dict[str, Any]:
    """Medians and ratios of all turns."""
    medians = {name: statistics.median(getattr(one, name) for one in spent) for name in Spent._fields}
    return {
        "citizen": citizen,
        "turns": len(spent),
        "round trips": {"situation": 1, "calls": replaced},
        "p50": {name: round(medians[name], 1) for name in ("situation", "one_by_one", "together")},
        "ratio to one by one": round(medians["situation"] / medians["one_by_one"], 3),
        "ratio to together": round(medians["situation"] / medians["together"], 3),
        "bytes": {"situation": medians["bytes_of_situation"], "calls": medians["bytes_of_calls"]},
    }


async def prepare(name: str, locomo: Path | None, directory: str) -> str:
    """Store the citizen of this name; `locomo` is the first conversation of that file."""
    if locomo is None or name != "locomo":
        return await store(name, directory)
    async with open_runtime(settings_of(directory)) as runtime:
        await store_conversation(load_locomo(locomo)[0], name, runtime)
    return name


async def measure(names: Sequence[str], locomo: Path | None, turns: int) -> list[dict[str, Any]]:
    """The figures of each citizen, each on a store of its own."""
    measured = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="substrate-situation-") as directory:
            citizen = await prepare(name, locomo, directory)
            served = Served(Path(directory), embedding="local")
            await served.start()
            try:
                async with served.client() as client:
                    window = await end_cycle(citizen, client)
                    spent = [await take_turn(number, citizen, window, client) for number in range(turns + WARM_UP)]
                    measured.append(figures(citizen, spent[WARM_UP:], len(calls(citizen, "", window, client))))
            finally:
                await served.stop()
    return measured


class Asked(NamedTuple):
    """A chat that is asked: its citizen, the message of each turn, and the questions with their evidence."""

    citizen: str
    turns: Mapping[str, str]
    questions: Sequence[tuple[str, frozenset[str]]]


async def store_lives(names: Sequence[str], directory: str) -> list[Asked]:
    """Store the lives, each as a citizen of its own."""
    stored = []
    async with AsyncSubstrate.embedded(directory) as client:
        for life in load_lives(names):
            await client.ingest(life.id, [wire(message) for message in life.messages], episode_id=life.id)
            turns: dict[str, str] = {}
            cursor, begun = None, False
            while cursor is not None or not begun:
                page = await client.list_memories(citizen_id=life.id, limit=500, cursor=cursor)
                for memory in page.memories:
                    turns |= {memory.node_id: sent} if (sent := message_id(memory)) is not None else {}
                cursor, begun = page.next, True
            questions = [(each.question, frozenset(each.evidence)) for each in life.questions]
            stored.append(Asked(life.id, turns, questions))
    return stored


async def fill_shared(rt: Runtime) -> None:
    """Store a chat in each of the shared levels."""
    for level, name in FILLED.items():
        for message in load_chats([name])[0].messages:
            told = {"id": f"{name}.{message.id}", "name": message.text[:60], "description": message.text}
            command = Remember(level=level, node_type="Turn", speaker=message.role, valid_at=message.time, **told)
            await apply([command], rt.deps, now())


async def store_conversations(conversations: Sequence[Conversation], every: int, rt: Runtime) -> list[Asked]:
    """Store conversations, each as a citizen of its own."""
    stored = []
    for one in conversations:
        await store_conversation(one, one.id, rt)
        turns = {f"{one.id}:{turn.id}": turn.id for turn in one.turns}
        questions = [(each.text, each.evidence) for each in one.questions[::every]]
        stored.append(Asked(one.id, turns, questions))
    return stored


def ways(rt: Runtime) -> dict[str, Way]:
    """Every way of asking for seven memories."""

    def situation(levels: Levels) -> Way:
        async def ask(citizen: str, text: str) -> Found:
            request = SituationRequest(stimuli=[text], query_levels=levels)
            answer = await read_situation(citizen, request, rt.deps, now())
            return [(each.level, each.memory_id) for each in answer.contexts]

        return ask

    def signal(levels: Levels, field: str) -> Way:
        async def ask(citizen: str, text: str) -> Found:
            said = {field: [text] if field == "window" else text}
            answer = await resonate(Resonate(citizen_id=citizen, query_levels=levels, **said), rt.deps, now())
            return [(each.memory.level, each.memory.node_id) for each in answer.levels["n1_personal"]]

        return ask

    def question(levels: Levels) -> Way:
        async def ask(citizen: str, text: str) -> Found:
            intention = RetrievalIntention(citizen_id=citizen, query_text=text, query_levels=levels)
            stream = await retrieve_consciousness_context(intention, rt.deps, now())
            turns = [each for each in stream.activation_tiers.ordered() if each.node_type == "Turn"]
            return [(each.level, each.node_id) for each in turns[:WORKING_MEMORY]]

        return ask

    return {
        "situation, all": situation(ALL_LEVELS), "situation, own": situation(OWN),
        "resonate, window, all": signal(ALL_LEVELS, "window"), "resonate, window, own": signal(OWN, "window"),
        "resonate, query, own": signal(OWN, "query_text"),
        "retrieve, all": question(ALL_LEVELS), "retrieve, own": question(OWN),
    }  # fmt: skip


async def find_evidence(chats: Sequence[Asked], way: Way) -> dict[str, Any]:
    """The share of the evidence of each chat among the seven, and what else was there."""
    shares: dict[str, float] = {}
    names, shared, spent = 0, 0, []
    for chat in chats:
        of_chat = []
        for text, evidence in chat.questions:
            begun = time.perf_counter()
            found = await way(chat.citizen, text)
            spent.append((time.perf_counter() - begun) * 1000)
            own = [memory_id for level, memory_id in found if level == Level.N1]
            shared += len(found) - len(own)
            names += sum(memory_id not in chat.turns for memory_id in own)
            of_chat.append(len(evidence & {chat.turns.get(each) for each in own}) / len(evidence))
        shares[chat.citizen] = statistics.fmean(of_chat)
    mean, p50 = statistics.fmean(shares.values()), statistics.median(spent)
    return {"share": mean, "names": names, "shared": shared, "p50": p50, "chats": shares}


async def measure_evidence(
    lives: Sequence[str], sets: Mapping[str, Sequence[Conversation]], every: int
) -> dict[str, Any]:
    """By set of chats and by way, what is found."""
    with tempfile.TemporaryDirectory(prefix="substrate-working-memory-") as directory:
        asked = {"lives": await store_lives(lives, directory)}
        async with open_runtime(settings_of(directory)) as rt:
            await fill_shared(rt)
            for name, conversations in sets.items():
                asked[name] = await store_conversations(conversations, every, rt)
            return {
                f"{name}: {way}": await find_evidence(chats, ask)
                for name, chats in asked.items()
                for way, ask in ways(rt).items()
            }


def format_evidence(name: str, found: Mapping[str, Any]) -> str:
    """The figures of a way on one line."""
    chats = ", ".join(f"{chat} {share:.2f}" for chat, share in found["chats"].items())
    return (
        f"{name:30} {found['share']:.3f}  names {found['names']}, shared {found['shared']}, "
        f"p50 {found['p50']:.0f} ms  ({chats})\n"
    )


def format_line(one: Mapping[str, Any]) -> str:
    """The figures of a citizen on one line."""
    p50, sizes = one["p50"], one["bytes"]
    return (
        f"{one['citizen']}: situation {p50['situation']} ms, 1 round trip, {sizes['situation']:.0f} bytes; "
        f"{one['round trips']['calls']} calls {p50['one_by_one']} ms one by one "
        f"(ratio {one['ratio to one by one']}), {p50['together']} ms together "
        f"(ratio {one['ratio to together']}), {sizes['calls']:.0f} bytes; {one['turns']} turns\n"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--locomo", type=Path, help="a file of LoCoMo")
    parser.add_argument("--beam", type=Path, action="append", default=[], help="a directory of BEAM, for evidence")
    parser.add_argument("--evidence", action="store_true", help="what working memory finds, and no times of calls")
    parser.add_argument("--every", type=int, default=4, help="which questions of these are asked for evidence")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.evidence:
        sets = load_sets([given.locomo] if given.locomo else [], given.beam)
        found = asyncio.run(measure_evidence(given.of, sets, given.every))
        lines = "".join(map(format_evidence, found, found.values()))
        sys.stdout.write(orjson.dumps(found).decode() + "\n" if given.json else lines)
        return
    names = [*(given.of or DEFAULT), *(["locomo"] if given.locomo else [])]
    measured = asyncio.run(measure(names, given.locomo, given.turns))
    if given.json:
        sys.stdout.write(orjson.dumps(measured, option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    sys.stdout.write("".join(map(format_line, measured)))


if __name__ == "__main__":
    main()
