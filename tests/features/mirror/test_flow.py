"""The mirror of a real store: it shows the present, follows it, lets go of what is erased, gives edits back."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from api.runtime.runtime import Runtime, open_runtime
from orchestration.features.mirror.flow import (
    MirrorReport,
    apply_edits,
    read_edits,
    take_snapshot,
    update_mirror,
    write_mirror,
)
from orchestration.features.mirror.folder import MARKER
from orchestration.features.mirror.layout import MirrorOf, dump_written
from orchestration.features.mirror.text import Edits
from orchestration.features.tagging.queries import add_made_tags
from orchestration.features.withholding.feature import ErasureJob, set_policy
from orchestration.features.withholding.values import SetPolicy
from orchestration.insertion import apply
from orchestration.upkeep.job import JobContext
from orchestration.writing.erasure import erase
from schemas.commands import Command, Correct, EraseCitizen, EraseMemory, Retract, Supersede
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import to_datetime
from substrate.graphs.names import graph_name
from substrate.store.derived import MadeTag
from tests.integration.store import carried, relate, remember

NOTHING = Edits([], ())
ODD_TAGS = ("a/b", "..", "line\nbreak", "🦊", "x" * 300, "Case", "case", ".", "con", "-", "no", "1.0")
TEXTS = (
    "# A heading\n\n## [x] like ours\n\n---", "---\ncitizen: eve\n---", "```\nnever closed", "<!-- a comment",
    "<!-- links: shown here, not read back -->", "ends with blanks  \n\n", "\r\nwindows\r\n", "\\## [x]", "&#13;",
)  # fmt: skip


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """A store whose mirrors are kept in a directory."""
    home = tmp_path_factory.mktemp("mirrored")
    store = StoreSettings(data=home / "data", names="off", appraisal="off", mirror=home / "kept")
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="none"))) as runtime:
        yield runtime


async def send(own: Runtime, *commands: Command) -> None:
    receipts = await apply(commands, own.deps, await own.moment())
    assert [receipt.faults for receipt in receipts if receipt.status == "refused"] == []


async def write(own: Runtime, citizen: str, directory: Path, *, discard: bool = False) -> MirrorReport:
    return await write_mirror(
        await take_snapshot(MirrorOf(Level.N1, citizen), own.deps, await own.moment()), directory, discard=discard
    )


async def update(own: Runtime, citizen: str, directory: Path, discard: Sequence[str] = ()) -> MirrorReport:
    snapshot = await take_snapshot(MirrorOf(Level.N1, citizen), own.deps, await own.moment())
    return await update_mirror(snapshot, directory, discard=discard)


async def edits_in(own: Runtime, directory: Path) -> Edits:
    [found] = await read_edits(directory, own.deps, await own.moment())
    return found.edits


def pages(directory: Path) -> dict[str, str]:
    return {str(file.relative_to(directory)): file.read_text() for file in directory.rglob("@*/*/*.md")}


def page_with(directory: Path, words: str) -> Path:
    [path] = [path for path, text in pages(directory).items() if words in text]
    return directory / path


async def text_of(own: Runtime, citizen: str, memory_id: str) -> str:
    memory = await carried(own.deps, citizen, memory_id)
    assert memory is not None
    return memory.description


async def test_odd_tags_and_texts_come_back_without_a_command_and_stay_inside(
    own: Runtime, fresh_citizen: str, tmp_path: Path
) -> None:
    odd = [
        remember(fresh_citizen, f"t{place}", name=f"n {place}", tags=[tag], buckets=[tag], description="text")
        for place, tag in enumerate(ODD_TAGS)
    ]
    texts = [remember(fresh_citizen, f"d[{place}]", description=text) for place, text in enumerate(TEXTS)]
    await send(own, *odd, *texts, relate(fresh_citizen, "t0", "t3"), relate(fresh_citizen, "t0", "d[0]"))
    report = await write(own, fresh_citizen, tmp_path / "m")
    assert report.memories == len(ODD_TAGS) + len(TEXTS)
    assert await edits_in(own, tmp_path / "m") == NOTHING
    for file in (tmp_path / "m").rglob("@*/*/*.md"):
        file.write_text(file.read_text() + "\n")  # each file is read and compared now
    assert await edits_in(own, tmp_path / "m") == NOTHING
    assert sorted(os.listdir(tmp_path)) == ["m"]
    assert all(target.exists() for target in linked_files(tmp_path / "m"))


def linked_files(directory: Path) -> list[Path]:
    """The files to which the links of all memories lead."""
    found = []
    for path, text in pages(directory).items():
        addresses = [line.rpartition("](")[2][:-1] for line in text.split("\n") if line.startswith("- ")]
        files = [unquote(address.partition("#")[0]) for address in addresses if address.startswith("../")]
        found += [(directory / path).parent / file for file in files]
    return found


async def test_only_what_changed_is_written_and_a_mirror_in_step_is_left_alone(
    own: Runtime, fresh_citizen: str, tmp_path: Path
) -> None:
    await send(own, *[remember(fresh_citizen, f"m{n}", tags=[f"t{n}"], description=f"text {n}") for n in range(4)])
    await write(own, fresh_citizen, tmp_path)
    before = {path: (tmp_path / path).stat().st_ino for path in pages(tmp_path)}
    assert (await update(own, fresh_citizen, tmp_path)).written == 0
    ahead = to_datetime(await own.moment()) + timedelta(days=9)
    await send(
        own,
        Correct(citizen_id=fresh_citizen, id="m1", description="mended"),
        Supersede(citizen_id=fresh_citizen, id="m2", description="later", effective_at=ahead),
        Retract(citizen_id=fresh_citizen, id="m3"),
    )
    report = await update(own, fresh_citizen, tmp_path)
    after = {path: (tmp_path / path).stat().st_ino for path in pages(tmp_path)}
    assert [path.split("/")[2] for path in before if path not in after] == ["#t3"]
    assert {path.split("/")[2] for path in after if after[path] != before[path]} == {"#t1", "#t2"}
    assert (report.removed, report.memories) == (1, 3)
    assert "text 2" in page_with(tmp_path, "[m2]").read_text()


async def test_edits_of_a_person_are_held_back_applied_and_answered(
    own: Runtime, fresh_citizen: str, tmp_path: Path
) -> None:
    await send(own, *[remember(fresh_citizen, f"m{n}", tags=[f"t{n}"], description=f"text {n}") for n in range(5)])
    await write(own, fresh_citizen, tmp_path)
    for words, old, new in (
        ("[m0]", "text 0", "text by hand"),
        ("[m1]", "tags: [t1]", "tags: [mended, by hand]"),
        ("[m2]", "text 2", "lost in the race"),
    ):
        file = page_with(tmp_path, words)
        file.write_text(file.read_text().replace(old, new))
    page_with(tmp_path, "[m3]").unlink()
    added = page_with(tmp_path, "[m4]")
    added.write_text(added.read_text() + "\n## [new] The gull\n\nIt stole my lunch.\n")
    await send(own, Correct(citizen_id=fresh_citizen, id="m2", description="faster"))
    with pytest.raises(Conflict, match="somebody edited"):
        await write(own, fresh_citizen, tmp_path)
    assert len((await update(own, fresh_citizen, tmp_path)).held_back) == 1
    edits = await edits_in(own, tmp_path)
    assert [edit.command.command for edit in edits.edits] == ["correct", "correct", "remember", "retract"]  # type: ignore[attr-defined]
    assert ["m2 has version 2 now" in refusal.reason for refusal in edits.refusals] == [True]
    receipts = await apply_edits(edits.edits, own.deps, await own.moment())
    assert {receipt.status for receipt in receipts} == {"stored"}
    assert await text_of(own, fresh_citizen, "m0") == "text by hand"
    again = await apply_edits(edits.edits, own.deps, await own.moment())
    assert [receipt.id for receipt in again] == [receipt.id for receipt in receipts]
    report = await update(own, fresh_citizen, tmp_path, [edit.path for edit in edits.edits])
    assert report.held_back == (
        str(page_with(tmp_path, "lost in the race").relative_to(tmp_path / fresh_citizen)),
    )
    assert "It stole my lunch." in page_with(tmp_path, "The gull").read_text()
    await write(own, fresh_citizen, tmp_path, discard=True)
    assert await edits_in(own, tmp_path) == NOTHING
    assert "faster" in page_with(tmp_path, "[m2]").read_text()


async def test_an_interrupted_run_is_taken_for_no_edit(own: Runtime, fresh_citizen: str, tmp_path: Path) -> None:
    await send(own, *[remember(fresh_citizen, f"m{n}", tags=[f"t{n}"], description=f"text {n}") for n in range(2)])
    await write(own, fresh_citizen, tmp_path)
    marker = (tmp_path / fresh_citizen / MARKER).read_bytes()
    journal = tmp_path / fresh_citizen / ".substrate-mirror.log"
    await send(own, Correct(citizen_id=fresh_citizen, id="m1", description="mended"))
    await update(own, fresh_citizen, tmp_path)
    page = page_with(tmp_path, "mended")
    (tmp_path / fresh_citizen / MARKER).write_bytes(marker)  # as if it had been killed before the marker
    journal.write_bytes(dump_written(str(page.relative_to(tmp_path / fresh_citizen)), page.read_bytes()))
    assert (await update(own, fresh_citizen, tmp_path)).held_back == ()
    assert not journal.exists()


async def test_mirrors_are_kept_in_step_and_an_erasure_reaches_edited_files_at_once(
    own: Runtime, fresh_citizen: str
) -> None:
    keeper, other = own.keeper, f"{fresh_citizen}-other"
    assert keeper is not None
    await send(
        own, remember(fresh_citizen, "m1", description="the secret cove", tags=["t"]), remember(other, "m2")
    )
    await send(own, remember(fresh_citizen, "m3", description="a harbour"), relate(fresh_citizen, "m3", "m1"))
    await keeper.write_changed()
    kept = keeper.directory
    assert {fresh_citizen, other} <= set(os.listdir(kept))
    page = page_with(kept, "the secret cove")
    page.write_text(page.read_text().replace("secret", "very secret"))
    command = EraseMemory(citizen_id=fresh_citizen, id="m1")
    await erase(command, own.deps, await own.moment(), None)
    left = "".join(file.read_text() for file in (kept / fresh_citizen).rglob("*") if file.is_file())
    assert "m3" in left
    assert "secret" not in left
    assert "m1" not in left
    await erase(EraseCitizen(citizen_id=fresh_citizen), own.deps, await own.moment(), None)
    assert not (kept / fresh_citizen).exists()
    assert (kept / other).exists()


async def test_what_an_erasing_policy_removes_leaves_the_mirror_at_once(own: Runtime, fresh_citizen: str) -> None:
    keeper = own.keeper
    assert keeper is not None
    await send(own, remember(fresh_citizen, "old", description="the secret cove", tags=["t"]))
    await send(own, remember(fresh_citizen, "new", description="a harbour", tags=["t"]))
    graph = own.deps.graph(graph_name(Level.N1, fresh_citizen))
    await add_made_tags(graph, {"new": [MadeTag("#cove", "cove")]}, "run-0")
    moment = await own.moment()
    policy = SetPolicy(citizen_id=fresh_citizen, tag="t", keep_newest=1, action="erase", confirm=1)
    await set_policy("coves", policy, own.deps, moment)
    await keeper.write_changed()
    assert page_with(keeper.directory, "made_tags: [cove]").exists()
    job, context = ErasureJob(), JobContext(own.deps, Level.N1, fresh_citizen, "run-1", moment)
    assert await job.keep(context, await job.plan(context, None)) == 1
    mirror = keeper.directory / fresh_citizen
    left = "".join(file.read_text() for file in mirror.rglob("*") if file.is_file())
    assert "harbour" in left
    assert "cove" not in left


async def test_an_erasure_that_cannot_reach_the_mirror_is_not_reported_as_done(
    own: Runtime, fresh_citizen: str, tmp_path: Path
) -> None:
    keeper = own.keeper
    assert keeper is not None
    await send(own, remember(fresh_citizen, "m1", description="the secret cove"))
    await keeper.write_changed()
    marker = keeper.directory / fresh_citizen / MARKER
    held = marker.read_bytes()
    marker.write_bytes(b"damaged")
    command = EraseCitizen(citizen_id=fresh_citizen, command_id="once")
    with pytest.raises(InvalidRequest, match="marker"):
        await erase(command, own.deps, await own.moment(), None)
    marker.write_bytes(held)
    report = await erase(command, own.deps, await own.moment(), None)
    assert (report.duplicate, marker.exists()) == (False, False)
