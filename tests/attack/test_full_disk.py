"""A disk that fills is told before; writes are refused clearly, reads go on, and with space all is as before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.durability import small_disk
from substrate.engine.data_directory import RESERVED_BYTES, WARN_BYTES, DiskSpace, free_bytes, space_notes
from tests.acceptance.conftest import Service
from tests.waiting import becomes_async


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[Path]:
    """A small file system of its own."""
    async with small_disk(tmp_path) as found:
        if found is None:
            pytest.skip("a file system of its own cannot be mounted here")
        yield found


def filled(disk: Path, left: int) -> Path:
    """A file that takes all but so many bytes."""
    filler = disk / "filler"
    filler.write_bytes(bytes(max(0, free_bytes(disk) - left)))
    return filler


async def test_writes_are_refused_before_the_engine_has_no_space_and_reads_go_on(disk: Path) -> None:
    service = Service(disk / "store", "none")
    try:
        service.remember("ada", id="m", name="A thing", description="of some worth")
        key = service.key("citizen:ada:read")
        pid = service.engine_pid()
        ready = service.http.get("/health/ready").json()
        assert "MiB left" in ready["notes"][0], "a small disk is told before it is full"
        filler = filled(disk, 1 << 20)
        refused = []

        def is_refused() -> bool:
            refused.append(service.http.post("/v1/memories", json={"citizen_id": "ada", "id": "n", "name": "n"}))
            return refused[-1].status_code == 507

        assert await becomes_async(is_refused)
        answer = refused[-1]
        assert answer.json()["type"] == "/problems/storage-full"
        assert "reads go on" in answer.json()["detail"]
        assert "Free some space" in answer.json()["remedy"]
        assert answer.headers["Retry-After"]
        for number in range(50):
            more = service.http.post(
                "/v1/memories", json={"citizen_id": "ada", "name": "x" * 900, "id": f"x{number}"}
            )
            assert more.status_code == 507
        with service.client(key) as reader:  # whose last use cannot be noted
            found = reader.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": "of some worth"})
            assert (found.status_code, "A thing" in found.text) == (200, True)
            assert reader.get("/v1/memories/N1/m", params={"citizen_id": "ada"}).status_code == 200
        ready = service.http.get("/health/ready")
        assert (ready.status_code, "writes are refused" in ready.text) == (200, True)
        assert service.http.delete("/v1/citizens/ada").status_code == 507
        assert float(metric(service, "substrate_disk_free_bytes")) < RESERVED_BYTES
        assert service.engine_pid() == pid, "the engine went on"
        filler.unlink()
        assert await becomes_async(lambda: not is_refused())
        assert refused[-1].status_code == 201
        assert service.http.get("/v1/memories/N1/m", params={"citizen_id": "ada"}).status_code == 200
    finally:
        service.stop()


def metric(service: Service, name: str) -> str:
    text = service.http.get("/metrics").text
    return next(line.split()[1] for line in text.splitlines() if line.startswith(f"{name} "))


def test_a_disk_that_does_not_say_refuses_nothing(tmp_path: Path) -> None:
    space = DiskSpace(tmp_path / "none")
    assert space.free() == WARN_BYTES
    space.check()
    assert space_notes(tmp_path / "none") == ()
