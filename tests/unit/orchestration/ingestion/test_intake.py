"""A bad file keeps no other one out, unless that is asked for; where files lie is told by a digest alone."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats import File, FileSet, parse_readable, parse_strictly
from orchestration.ingestion.storing import Origin
from schemas.errors import InvalidRequest

GOOD = '[{"role": "a", "content": "good"}]'


def chats(**texts: str) -> FileSet:
    return FileSet("chats", tuple(File(f"{name}.json", text) for name, text in texts.items()), "ada")


def test_what_can_be_parsed_goes_in_under_the_ids_that_it_has_among_all() -> None:
    read = parse_readable("messages", chats(a="[{", b=GOOD, c="[]"))
    assert [item.id for item in read.parsed.items if isinstance(item, Episode)] == ["chats/b.json"]
    assert [fault.partition(",")[0].partition(":")[0] for fault in read.parsed.faults] == ["a.json", "c.json"]
    assert read.unread == {"a.json", "c.json"}


def test_without_a_bad_file_nothing_is_left_out() -> None:
    read = parse_readable("messages", chats(a=GOOD, b=GOOD))
    assert (len(read.parsed.items), read.parsed.faults, read.unread) == (2, (), frozenset())


@pytest.mark.parametrize("files", [chats(a="[{"), chats(a="[{", b="{")])
def test_files_of_which_none_can_be_parsed_are_an_error(files: FileSet) -> None:
    with pytest.raises(InvalidRequest, match=r"a\.json"):
        parse_readable("messages", files)


def test_strictly_one_bad_file_is_an_error_that_names_each() -> None:
    with pytest.raises(InvalidRequest, match=r"a\.json.*c\.json") as error:
        parse_strictly("messages", chats(a="[{", b=GOOD, c="{"))
    assert len(error.value.faults) == 2


def test_only_the_id_of_a_file_without_one_of_its_own_tells_its_place() -> None:
    folder = Origin("chats", PurePosixPath("/home/chats"), "here", is_folder=True)
    assert folder.of_episode("chats/x/a.json") == PurePosixPath("/home/chats/x/a.json")
    assert folder.of_episode("chats") == PurePosixPath("/home/chats")
    assert folder.of_episode("conversation-17") is None


def test_a_place_is_told_by_a_digest_of_the_path_and_the_machine() -> None:
    here, there = (Origin("a", PurePosixPath("/secret/a"), host, is_folder=False) for host in ("here", "there"))
    assert "secret" not in here.digest(here.path)
    assert here.digest(here.path) == here.digest(PurePosixPath("/secret/a")) != there.digest(here.path)
