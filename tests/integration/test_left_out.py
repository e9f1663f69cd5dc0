"""What is read beside a text and does not come in time is left out, and said: the text itself is stored whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from redis.exceptions import ResponseError

from api.runtime.runtime import now
from orchestration.dependencies import Deps
from orchestration.ingestion.formats import File, FileSet, ParsedFiles, parse
from orchestration.ingestion.pipeline import ingest
from schemas.errors import Unavailable
from tests.integration.store import day, remember, send, stored
from tests.integration.test_ingest import figures, holdings
from tests.integration.test_thread_closing import OPEN, SOLVED

TURNS = 120
LONG = "The harbour was calm and Anna walked home. " * 400 + "That was all."


def chat(citizen: str) -> ParsedFiles:
    """A chat in which something is open at first and solved in every tenth message."""
    texts = [SOLVED if n % 10 == 9 else f"Message {n} for Anna Berger." for n in range(TURNS)]
    entries = [
        {"speaker": "user", "text": text, "timestamp": 1_700_000_000 + 60 * n} for n, text in enumerate(texts)
    ]
    entries[0]["text"] = OPEN
    return parse("messages", FileSet("talk", (File("talk.json", json.dumps(entries)),), citizen))


@contextmanager
def too_late(deps: Deps, *names: str) -> Iterator[None]:
    """The queries with these names run past their deadline."""

    @contextmanager
    def around(name: str) -> Iterator[None]:
        if name in names:
            raise ResponseError("Query timed out")
        yield

    before, deps.connection.around = deps.connection.around, around
    try:
        yield
    finally:
        deps.connection.around = before


@pytest.mark.parametrize("name", ["open_threads", "open_threads_by_words"])
async def test_an_episode_is_stored_whole_when_what_it_solves_is_not_read_in_time(
    deps: Deps, fresh_citizen: str, name: str
) -> None:
    await stored(deps, remember(fresh_citizen, "first"))
    with too_late(deps, "open_threads", name):
        report = await ingest(chat(fresh_citizen), deps, now())
    assert (report.turns, report.refused) == (TURNS, 0)
    [note] = [note for note in report.notes if note.startswith("left out: what it solves")]
    assert "because the query open_threads" in note
    assert note.endswith(f"`resolve` says it ({TURNS // 10})")
    again = await ingest(chat(fresh_citizen), deps, now())
    assert (again.stored, again.refused) == (0, 0)


async def test_an_episode_is_stored_whole_when_its_names_are_not_read_in_time_and_the_same_again_links_them(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "first"))
    naming = replace(deps, names=True)
    with too_late(deps, "named_by_words"):
        report = await ingest(chat(fresh_citizen), naming, now())
    assert figures(report)[2] == 0
    assert sum(note.startswith("left out: names in the texts") for note in report.notes) == 1
    before = await holdings(deps, fresh_citizen)
    await ingest(chat(fresh_citizen), naming, now())
    assert (await holdings(deps, fresh_citizen))[0] > before[0], "Anna Berger is a memory now"


async def test_the_receipt_of_a_memory_says_what_was_left_out(deps: Deps, fresh_citizen: str) -> None:
    naming = replace(deps, names=True)
    await stored(deps, remember(fresh_citizen, "open", description=OPEN))
    end = remember(fresh_citizen, "end", description=f"{SOLVED} My friend Anna helped.", command_id="told")
    with too_late(deps, "open_threads", "named_by_words"):
        [receipt] = await send(naming, end, now=day(101))
    assert receipt.status == "stored"
    assert [warning.partition(",")[0] for warning in receipt.warnings if warning.startswith("left out")] == [
        "left out: what it solves of what was open", "left out: names in its text"
    ]  # fmt: skip
    before = await holdings(deps, fresh_citizen)
    assert (await send(naming, end, now=day(101)))[0].duplicate
    assert (await holdings(deps, fresh_citizen))[0] > before[0], "Anna is a memory now"


async def test_a_long_text_is_stored_when_its_passages_are_not_embedded_in_time(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = deps.embedder.embed_texts

    async def embed_one(texts: list[str]) -> list[list[float]]:
        if len(texts) > 1:
            raise Unavailable("the model did not answer in time")
        return await embed(texts)

    monkeypatch.setattr(deps.embedder, "embed_texts", embed_one)
    [receipt] = await send(deps, remember(fresh_citizen, "long", description=LONG))
    assert receipt.status == "stored"
    [warning] = [warning for warning in receipt.warnings if warning.startswith("left out: passages,")]
    assert "did not answer in time; `validate --fix passages_missing` adds them" in warning
