"""`substrate resolve --cascade` and `substrate offers` on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.test_cli import Command, wordless_commands
from tests.engine_processes import held_engine

__all__ = ["wordless_commands"]
pytestmark = pytest.mark.usefixtures("wordless_commands")
OF = ("-c", "mira")
FELT = ("--goal", "g", "--mindstate", "calm", "--emotion", "joy=0.5", *OF)


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    with held_engine(tmp_path / "data") as data:
        yield Command(data, capsys)


def test_a_cascade_says_what_it_did_and_an_offer_is_taken_up_or_declined(command: Command) -> None:
    for name, state in (("trip", "blocked"), ("visa", "in_progress"), ("boat", "blocked")):
        assert command("remember", name, "--id", name, "--state", state, *OF).code == 0
    for waiting in ("trip", "boat"):
        assert command("relate", waiting, "blocked by", "visa", *FELT).code == 0
    said = command("resolve", "visa", *OF)
    assert "could be unblocked: trip" in said.out
    offers = json.loads(command("offers", *OF, "--json").out)["offers"]
    assert {offer["memory_id"] for offer in offers} == {"trip", "boat"}
    assert command("offers", *OF, "--decline", offers[0]["id"]).out.startswith("declined: unblock")
    taken = command("offers", *OF, "--take", offers[1]["id"])
    assert f"now in progress: {offers[1]['memory_id']}" in taken.out
    assert command("offers", *OF, "--take", offers[1]["id"]).code == 4
    assert command("offers", *OF, "--take", "a", "--decline", "b").code == 2
    assert command("offers", *OF).out == ""
    said = command("resolve", "visa", *OF, "--cascade")
    assert f"now in progress: {offers[0]['memory_id']}" in said.out
    assert "as it was before" in command("undo", offers[0]["memory_id"], *OF).out
