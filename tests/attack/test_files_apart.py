"""A file is read in a process of its own: it harms no other citizen, and ends with its caller and the service."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from orchestration.ingestion import file_readers
from orchestration.ingestion.file_readers import FileReaders, FilesRead, FilesToRead, read_once
from schemas.errors import InvalidRequest, Unavailable
from tests.acceptance.conftest import ADMIN_KEY
from tests.attack.limited_service import Served, serving
from tests.attack.test_file_fuzz import MAIL, pdf
from tests.waiting import wait_until, wait_until_async

SLOW: Final = pdf(b"BT /F 9 Tf " + b"(x)Tj " * 20_000 + b"ET", pages=5000)
"""A file within the bounds of its structure, which takes all the processor time that it may have."""
BOUNDED: Final = """
from orchestration.ingestion import file_readers as process
process.Bounds.of = staticmethod(lambda size: process.Bounds({memory}, {seconds}, 1 << 20))
process.main()
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("files")) as running:
        yield running


def sent(citizen: str, name: str, raw: bytes) -> dict[str, Any]:
    return {"citizen_id": citizen, "name": name, "content": b64encode(raw).decode()}


def reading(parent: int) -> set[int]:
    """The processes of this one that read files."""
    found = set()
    for task in Path(f"/proc/{parent}/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"file_readers" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.add(int(child))
    return found


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


def working(parent: int) -> set[int]:
    """Those that are at work: they have used more processor time than a start takes."""
    ticks = os.sysconf("SC_CLK_TCK")
    return {one for one in reading(parent) if int(Path(f"/proc/{one}/stat").read_text().split()[13]) > 2 * ticks}


@contextmanager
def begun(running: Served, citizen: str) -> Iterator[socket.socket]:
    """A request with a slow file, that is being read; at the end its caller is gone."""
    body = json.dumps(sent(citizen, "slow.pdf", SLOW)).encode()
    head = f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ADMIN_KEY}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with running.connect() as line:
        line.sendall(head.encode() + body)
        wait_until(lambda: working(running.process.pid))
        yield line


def test_a_mail_of_many_encoded_words_is_refused_with_the_bound(served: Served) -> None:
    mail = MAIL + b"Subject: " + b"=?utf-8?q?x?= " * 300_000 + b"\n\nhi"
    answer = served.http.post("/v1/files", json=sent("ada", "mail.eml", mail))
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert "its header Subject has 4,200,000 characters; at most 32,768 are read" in answer.json()["detail"]


def test_a_file_is_read_no_further_when_its_caller_leaves(served: Served) -> None:
    with begun(served, "ada"):
        pass
    wait_until(lambda: not working(served.process.pid))
    wait_until(lambda: any(line["status"] == 499 for line in served.audited()))


def test_questions_and_files_of_another_citizen_are_answered_while_a_file_is_read(served: Served) -> None:
    with begun(served, "ada"):
        at_work = working(served.process.pid)
        for n in range(3):
            stored = served.http.post("/v1/files", json=sent("ben", f"{n}.txt", b"The boat is blue."))
            assert (stored.status_code, stored.json()["stored"]) == (200, 1)
            asked = served.http.post("/v1/retrieve", json={"citizen_id": "ben", "query": "boat"})
            assert asked.status_code == 200
        assert at_work <= working(served.process.pid), "the slow file was still being read"


def test_a_file_in_the_background_has_a_progress_and_a_report(served: Served) -> None:
    later = {"Prefer": "respond-async"}
    given = sent("cid", "note.txt", b"The boat is blue.")
    first, again = (served.http.post("/v1/files", json=given, headers=later) for _ in range(2))
    assert (first.status_code, first.headers["preference-applied"]) == (202, "respond-async")
    assert first.headers["location"] == again.headers["location"]

    def ended() -> dict[str, Any] | None:
        progress: dict[str, Any] = served.http.get(first.headers["location"]).json()
        return None if progress["status"] == "running" else progress

    wait_until(ended)
    progress = ended()
    assert progress is not None
    assert (progress["status"], progress["report"]["formats"]) == ("stored", ["text"])
    refused = served.http.post("/v1/files", json=sent("cid", "a.pdf", b"%PDF-1.4"), headers=later)
    wait_until(lambda: served.http.get(refused.headers["location"]).json()["status"] == "failed")
    assert "a.pdf" in served.http.get(refused.headers["location"]).json()["detail"]


def test_a_service_that_is_told_to_stop_ends_what_it_reads(tmp_path: Path) -> None:
    with serving(tmp_path) as running, begun(running, "ada") as line:
        at_work = working(running.process.pid)
        running.process.send_signal(signal.SIGTERM)
        line.settimeout(None)
        assert line.recv(12) == b"HTTP/1.1 503", "it is told so, and not what the file holds"
        running.process.wait()
        assert not any(Path(f"/proc/{one}").exists() for one in at_work)


# --- the bounds ------------------------------------------------------------------------------------------


def slow_task(raw: bytes = SLOW) -> FilesToRead:
    return FilesToRead("slow.pdf", len(raw), raw, citizen_id="ada")


@pytest.mark.parametrize(
    ("raw", "memory", "seconds", "told"),
    [
        (SLOW, 1 << 30, 1, "s of processor time"),
        (b'[{"role":"user","content":"x"},' + b"[]," * 1_000_000 + b"1]", 140 << 20, 20, "MiB of memory"),
    ],
    ids=["time", "memory"],
)
async def test_a_bound_of_the_system_is_told_and_the_next_file_is_read(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, memory: int, seconds: int, told: str
) -> None:
    readers = FileReaders()
    with monkeypatch.context() as bounded:
        bounded.setattr(file_readers, "_PROGRAM", BOUNDED.format(memory=memory, seconds=seconds))
        with pytest.raises(
            InvalidRequest, match=rf"slow.pdf: reading it takes more than [0-9]+ {told}"
        ) as refused:
            await readers.read(slow_task(raw))
    assert refused.value.remedy
    note = FilesToRead("note.txt", 4, b"Tea.", citizen_id="ada")
    assert (await readers.read(note)).intake.parsed.formats == ("text",)
    await readers.aclose()
    assert not reading(os.getpid())


async def read_by(monkeypatch: pytest.MonkeyPatch, program: str) -> FilesRead:
    monkeypatch.setattr(file_readers, "_PROGRAM", f"{program}\n{file_readers._PROGRAM}")
    return await read_once(FilesToRead("note.txt", 4, b"Tea.", citizen_id="ada"))


async def test_a_file_is_read_where_who_started_the_service_set_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = (
        "import resource as r\nfor kind in (r.RLIMIT_CPU, r.RLIMIT_DATA): r.setrlimit(kind, (4 << 30, 4 << 30))"
    )
    assert (await read_by(monkeypatch, limited)).files == ("note.txt",)


@pytest.mark.parametrize(
    ("end", "told"),
    [("1 / 0", r"ended without an answer \(1\)"), ("process.os.abort()", "takes more than 512 MiB of memory")],
)
async def test_a_process_that_fails_is_not_told_as_another_end(
    monkeypatch: pytest.MonkeyPatch, end: str, told: str
) -> None:
    """Libraries abort when they get no memory."""
    failing = f"import {file_readers.__name__} as process\nprocess.read = lambda task: {end}"
    with pytest.raises(InvalidRequest, match=told):
        await read_by(monkeypatch, failing)


async def test_a_process_finds_the_libraries_of_its_interpreter_and_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/python/lib")
    monkeypatch.setenv("SUBSTRATE_ADMIN_KEY", ADMIN_KEY)
    readers = FileReaders()
    await readers.read(FilesToRead("note.txt", 4, b"Tea.", citizen_id="ada"))
    [one] = reading(os.getpid())
    environment = environment_of(one)
    await readers.aclose()
    assert b"LD_LIBRARY_PATH=/opt/python/lib\0" in environment
    assert ADMIN_KEY.encode() not in environment


async def test_a_pipe_that_a_command_has_open_is_read() -> None:
    source, sink = os.pipe()
    os.write(sink, b"The boat is blue.")
    os.close(sink)
    found = await read_once(FilesToRead(f"/dev/fd/{source}", 0, form="text", citizen_id="ada"))
    os.close(source)
    assert found.intake.parsed.items[0].size == 1


async def test_a_process_that_is_killed_refuses_its_file_alone() -> None:
    readers = FileReaders()
    task = asyncio.create_task(readers.read(slow_task()))
    await wait_until_async(lambda: working(os.getpid()))
    for one in working(os.getpid()):
        os.kill(one, signal.SIGKILL)
    with pytest.raises(InvalidRequest, match=r"slow\.pdf: reading it takes more than"):
        await task
    note = FilesToRead("note.txt", 4, b"Tea.", citizen_id="ada")
    for _ in range(2):
        assert (await readers.read(note)).files == ("note.txt",)
        assert len(reading(os.getpid())) == 1, "one process reads small files one after another"
    await readers.aclose()
    with pytest.raises(Unavailable):
        await readers.read(note)


async def test_commands_with_times_are_read() -> None:
    command = {"command": "remember", "citizen_id": "ada", "name": "tea", "valid_at": "2024-01-01T10:00:00+02:00"}
    raw = json.dumps(command).encode()
    task = FilesToRead("life.jsonl", len(raw), raw, "commands")
    assert await read_once(task) == file_readers.read(task)


def call(module: str, name: str) -> bytes:
    """A call, as pickled in protocol 4, where a name may have dots."""
    named = b"".join(pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode() for text in (module, name))
    argument = pickle.SHORT_BINUNICODE + b"\x04true"
    return pickle.PROTO + b"\x04" + named + pickle.STACK_GLOBAL + argument + pickle.TUPLE1 + pickle.REDUCE + b"."


def test_what_a_process_answers_makes_values_alone() -> None:
    for told in (
        b"cos\nsystem\n(S'true'\ntR.",
        b"cschemas.errors\nerrors_by_slug\n(tR.",
        *(call(file_readers.__name__, name) for name in ("asyncio.subprocess.subprocess.Popen", "Path")),
    ):
        with pytest.raises(Exception, match="is no value of a file"):
            file_readers._read_answer(told)
