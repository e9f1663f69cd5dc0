"""Kills an erasure before each of its writes, and looks in every place that keeps copies for what it left.

    python -m benchmarks.erasure_killed --rounds 200

A round fills a store with a secret, erases it, and is killed before one write: a command that changes the
engine, or a change of the mirror's folder. What dies is the engine, the service, or both. Then the store is opened
again, or the service that lives on finishes, and all places are searched: each file of the data directory, the
mirror with a file that a person edited, the export, the answer to a question, notes that wait. At last the erasure
is sent again, and all is searched once more. The kinds of erasure take turns; the steps are spread over all that
each has. Prints what was left, by place; the exit code is 1 when anything was. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from unittest.mock import patch

import orjson

from api.runtime.runtime import Runtime, open_runtime
from orchestration.dependencies import Deps
from orchestration.features.feedback.feature import tell
from orchestration.features.imagination.flow import imagine
from orchestration.features.imagination.values import Imagine
from orchestration.features.mirror.folder import Folder
from orchestration.features.sharing.feature import share
from orchestration.features.sharing.values import Share, Shared
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.insertion import apply
from orchestration.mind.state import change_state
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.transfer.exporter import export
from orchestration.writing.erasure import erase_memories
from orchestration.writing.erasure import erase_naming_copies as erase
from schemas.commands import (
    Erase,
    EraseCitizen,
    EraseCollective,
    EraseEpisode,
    EraseMemory,
    Relate,
    Remember,
    Writer,
)
from schemas.errors import NotFound, SubstrateError
from schemas.intention import RetrievalIntention
from schemas.memory import GENERALISATION, Level
from schemas.mind.feedback import Feedback
from schemas.mind.state import StateChange
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.pool import Connection
from substrate.engine import process as engine_process
from substrate.graphs.names import GraphOf, graph_name, origin_of
from substrate.store import erasure, reader
from substrate.store.derived import LINKED

GONE: Final = "gone"
"""The id of a memory that is erased. The notes of streams go on naming it: it reveals nothing."""
ECHO: Final = "echo"
"""The id of a memory that repeats it, and goes along."""
SECRET: Final = "qzxvkwjpy-7391-nobody-may-read-this"
"""In every text, name and tag of what is erased, and in the names of citizens, collectives and conversations."""
type Dies = Literal["engine", "service", "both"]
DEATHS: Final[tuple[Dies, ...]] = ("both", "engine", "service")
KINDS: Final = ("memory", "episode", "citizen", "collective", "copies", "policy", "also")
READS: Final = frozenset(
    "GRAPH.RO_QUERY GRAPH.LIST INFO GET HGET HGETALL EXISTS TIME PING TYPE CONFIG WATCH VLINKS VINFO VCARD VSIM "
    "GRAPH.MEMORY HLEN HMGET STRLEN OBJECT SCAN".split()
)
"""What changes nothing: to die before one of these is to die before the write that follows."""
STEPS: Final = {
    "memory": 85,
    "episode": 105,
    "citizen": 14,
    "collective": 14,
    "copies": 170,
    "policy": 85,
    "also": 95,
}
"""About so many writes each erasure has."""
FINISHED_WITHIN_S: Final = 60.0


class Killed(BaseException):
    """This process is no more, as far as the store is concerned."""


class Round(NamedTuple):
    """What was left after the store was opened again, and after the erasure was sent again.

    `reached`: False when the erasure has fewer steps. `begun`: it was noted, so it must be finished.
    """

    reached: bool
    begun: bool = False
    late: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


def settings(directory: Path) -> Settings:
    store = StoreSettings(data=directory / "data", mirror=directory / "mirror")
    return Settings(store=store, embedding=EmbeddingSettings(embedding="none"))


def command_of(kind: str) -> Erase:
    """The erasure of a kind. A policy has none of its own: it is sent as that of the memory."""
    if kind == "citizen":
        return EraseCitizen(citizen_id=SECRET)
    if kind == "collective":
        return EraseCollective(collective=SECRET)
    if kind == "episode":
        return EraseEpisode(citizen_id="ada", episode_id=SECRET)
    also = (ECHO,) if kind == "also" else ()
    return EraseMemory(citizen_id="ada", id=GONE, with_copies=kind == "copies", also=also)


async def fill(runtime: Runtime, kind: str) -> None:
    """Store the secret in all that a citizen keeps, and beside it what is to stay; bring the mirror in step."""
    deps, now = runtime.deps, await runtime.moment()
    whose = SECRET if kind == "citizen" else "ada"
    await apply([_remember("bob", "stays"), _remember("ada", "stays")], deps, now)
    if kind == "episode":
        turns = File("messages", f'[{{"role": "ann", "content": "{SECRET}"}}, {{"role": "bo", "content": "yes"}}]')
        await ingest(parse("messages", FileSet(SECRET, (turns,), "ada")), deps, now)
    elif kind == "collective":
        shared = {"level": "N2", "collective": SECRET, "description": SECRET}
        await apply([_remember("ada", "of all", **shared)], deps, now)
    else:
        await apply([_remember(whose, GONE, name=SECRET, description=SECRET, tags=(SECRET,))], deps, now)
        general = _remember(whose, "general", description=f"Often {SECRET}", node_type=GENERALISATION)
        felt = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {"joy": 0.5}, "goal": "g", "mindstate": "m"}
        ends = {"citizen_id": whose, "source_id": "general", "target_id": GONE, "relation_type": LINKED}
        await apply([general, Relate.model_validate({**ends, **felt})], deps, now)
        await _surround(whose, deps, now)
    if kind == "also":
        await apply([_remember("ada", ECHO, description=f"Noted: {SECRET}")], deps, now + 4)
    if kind == "copies":
        writer = Writer(author="ada", steward=False)
        for collective in (None, "choir"):
            copied = Share(citizen_id="ada", id=GONE, level=Level.N2, collective=collective)
            assert isinstance(await share(copied, writer, deps, await runtime.moment()), Shared)
    assert runtime.keeper is not None
    await runtime.keeper.note_all()
    await runtime.keeper.write_changed()
    for path in runtime.keeper.directory.rglob("*.md"):
        if SECRET in path.read_text("utf-8"):
            path.write_text(path.read_text("utf-8") + f"\nedited {SECRET}\n", "utf-8")


def _remember(citizen: str, memory_id: str, **fields: Any) -> Remember:
    whole = {"citizen_id": citizen, "id": memory_id, "name": memory_id, "description": memory_id, **fields}
    return Remember.model_validate(whole)


async def _surround(citizen: str, deps: Deps, now: int) -> None:
    """What is kept beside a memory: an answer and its note, feedback, a prediction, the window of the state."""
    text = f"Where is {SECRET}?" if citizen == SECRET else "Where is it?"
    question = {"query_text": text, "query_levels": ("N1",)}
    asked = RetrievalIntention.model_validate({**question, "citizen_id": citizen})
    await retrieve_consciousness_context(asked, deps, now)
    await tell(citizen, Feedback.model_validate({**question, "used": (GONE,)}), deps, now + 1)
    await imagine(Imagine(citizen_id=citizen, action=f"say {SECRET}", nodes=(SECRET,), keep=True), deps, now + 2)
    window = {"window": (GONE,), **({"goal": SECRET} if citizen == SECRET else {})}
    await change_state(citizen, StateChange.model_validate(window), deps, now + 3)


async def carry_out(kind: str, runtime: Runtime) -> None:
    """Erase what is of this kind."""
    assert runtime.engine is not None
    now = await runtime.moment()
    if kind == "policy":
        await erase_memories([GONE], runtime.deps.graph(graph_name(Level.N1, "ada")), runtime.deps, now)
    else:
        await erase(command_of(kind), runtime.deps, now, runtime.engine.directory)


class Killer:
    """Kills before the write of a number, counted from 0 once it is `armed`. `wrote`: the names of the writes."""

    def __init__(self, step: int, dies: Dies) -> None:
        self.step, self.dies = step, dies
        self.armed = self.dead = False
        self.pid = 0
        self.wrote: list[str] = []

    def count(self, name: str) -> None:
        """Count a write, or die before it. Raises Killed in a process that is no more."""
        if self.armed and not self.dead and len(self.wrote) == self.step:
            self.dead = True
            if self.dies != "service":
                os.kill(self.pid, signal.SIGKILL)
        self.check()
        if self.armed:
            self.wrote.append(name)

    def check(self) -> None:
        """Raises Killed in a process that is no more."""
        if self.dead and self.dies != "engine":
            raise Killed

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within the context see every command to the engine, and every change of a mirror's folder."""
        run = Connection._run

        async def counted(this: Connection, name: str, words: Sequence[Any], send: Any = None) -> Any:
            first = words[0] if words and isinstance(words[0], str) else words[0][0] if words else ""
            reads = first in READS or name in READS or name.startswith("CONFIG")
            self.check() if reads else self.count(f"{first} {name}")
            return await run(this, name, words, send)

        def counting(name: str) -> Callable[..., Any]:
            change = getattr(Folder, name)

            def counted_change(*words: Any, **options: Any) -> Any:
                self.count(f"mirror {name}")
                return change(*words, **options)

            return counted_change

        with ExitStack() as patches:
            patches.enter_context(patch.object(Connection, "_run", counted))
            for name in ("write", "append", "remove", "rename", "remove_tree"):
                patches.enter_context(patch.object(Folder, name, counting(name)))
            yield


async def one_round(kind: str, step: int, dies: Dies, directory: Path) -> Round:
    """Fill a store, erase, die, open it, search, send the erasure again, search."""
    killer = Killer(step, dies)
    begun: list[bool] = []
    begin = erasure.begin

    async def noted(*words: Any) -> None:
        await begin(*words)
        begun.append(True)

    engine = None
    try:
        with killer.watching(), patch.object(erasure, "begin", noted):
            async with open_runtime(settings(directory)) as runtime:
                engine = runtime.engine
                assert engine is not None
                await fill(runtime, kind)
                killer.pid = int((await runtime.deps.connection.command("INFO", "server"))["process_id"])
                begun.clear()
                killer.armed = True
                if dies != "engine":
                    # The watcher would start the engine again, which a process that was killed does not.
                    engine.ensure = never  # type: ignore[method-assign, assignment]
                with suppress(SubstrateError):
                    await carry_out(kind, runtime)
                if not killer.dead:
                    return Round(reached=False)
                killer.check()
                return await _looked_after(kind, runtime, directory, begun=bool(begun))
    except Killed:
        if engine is not None:
            await engine.stop()
    async with open_runtime(settings(directory)) as runtime:
        return await _looked_after(kind, runtime, directory, begun=bool(begun))


def never() -> Awaitable[bool]:
    """It does not end."""
    return asyncio.get_running_loop().create_future()


async def _looked_after(kind: str, runtime: Runtime, directory: Path, *, begun: bool) -> Round:
    deps = runtime.deps
    give_up = time.monotonic() + FINISHED_WITHIN_S
    while time.monotonic() < give_up:
        with suppress(SubstrateError):
            if not await erasure.read_notes(deps.connection):
                break
        await asyncio.sleep(0.05)
    late = await search(runtime, directory)
    with suppress(NotFound):
        await carry_out(kind, runtime)
    again = await search(runtime, directory)
    stayed = [whose for whose in ("ada", "bob") if not await _has(deps, whose, "stays")]
    return Round(True, begun, late, (*again, *(f"{whose} lost what stays" for whose in stayed)))


async def _has(deps: Deps, citizen: str, memory_id: str) -> bool:
    return await reader.memory(deps.graph(graph_name(Level.N1, citizen)), memory_id) is not None


async def search(runtime: Runtime, directory: Path) -> tuple[str, ...]:
    """The places that hold the secret."""
    deps, needle = runtime.deps, SECRET.encode()
    found: list[str] = []
    for place in ("data", "mirror"):
        for path in (directory / place).rglob("*"):
            if needle in str(path.relative_to(directory)).encode() or (path.is_file() and needle in _bytes(path)):
                found.append(f"{place}/{path.name.replace(SECRET, '…')}")
    for graph in await deps.graphs.existing():
        lines = b"".join(await export([GraphOf(*origin_of(graph))], deps, embeddings=False))
        if needle in lines or SECRET in graph:
            found.append("export")
        if any(SECRET in note.data for note in deps.notes.newest(graph, 1000)) and SECRET in graph:
            found.append("notes that wait")
    question = {"citizen_id": "ada", "query_text": "Who said what, and where is it?", "query_levels": ("N1", "N2")}
    now = await runtime.moment()
    answer = await retrieve_consciousness_context(RetrievalIntention.model_validate(question), deps, now)
    return (*found, *(["answer"] if SECRET in answer.model_dump_json() else []))


def _bytes(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


async def rounds(count: int, directory: Path, kinds: Sequence[str] = KINDS) -> AsyncIterator[tuple[str, Round]]:
    """So many rounds: the kinds and the deaths take turns, the steps are spread over each erasure."""
    turns = Counter[str]()
    lengths = dict(STEPS)
    done = 0
    while done < count:
        kind = kinds[done % len(kinds)]
        turn = turns[kind]
        turns[kind] += 1
        each = max(1, count // len(kinds))
        step = int((turn % each) * lengths[kind] / each)
        of = directory / f"{done}"
        result = await one_round(kind, step, DEATHS[turn % len(DEATHS)], of)
        shutil.rmtree(of, ignore_errors=True)  # the engine's keeper may still write its record
        if not result.reached:
            lengths[kind] = max(1, step)
            continue
        done += 1
        yield f"{kind}, killed before write {step}: {DEATHS[turn % len(DEATHS)]}", result


async def measure(count: int) -> dict[str, Any]:
    """Run the rounds, and count what was left."""
    left: Counter[str] = Counter()
    finished = 0
    with tempfile.TemporaryDirectory() as directory:
        async for name, result in rounds(count, Path(directory)):
            finished += result.begun
            for place in (*(result.late if result.begun else ()), *result.again):
                left[place] += 1
                print(f"{name}: {place}", file=sys.stderr)
    return {"rounds": count, "noted": finished, "left": sum(left.values()), "places": dict(left)}


def main() -> int:
    """The figures on standard output."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # Snapshots are not compressed, so that they can be searched.
    readable = engine_process.CONFIGURATION + "rdbcompression no\n"
    with patch.object(engine_process, "CONFIGURATION", readable):
        figures = asyncio.run(measure(options.rounds))
    print(orjson.dumps(figures).decode() if options.json else "\n".join(f"{k}: {v}" for k, v in figures.items()))
    return 1 if figures["left"] else 0


if __name__ == "__main__":
    sys.exit(main())
