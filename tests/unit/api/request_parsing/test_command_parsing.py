"""Commands from raw JSON: each element of a list becomes a command or a receipt of its refusal, in order."""

from __future__ import annotations

from typing import Any

import pytest

from api.problems import MAX_FAULTS
from api.request_parsing.command_parsing import (
    command_type,
    parse_command,
    parse_commands,
    with_command_id,
)
from schemas.commands import KINDS, Remember, WriteReceipt
from schemas.errors import InvalidRequest

GOOD = {"command": "remember", "citizen_id": "ada", "name": "sea"}


def test_each_element_is_parsed_or_refused_in_its_place() -> None:
    first, second, third = parse_commands([GOOD, {"command": "remember", "id": "m"}, GOOD], None)
    assert isinstance(first, Remember)
    assert isinstance(third, Remember)
    assert isinstance(second, WriteReceipt)
    assert (second.status, second.problem, second.id) == ("refused", "invalid-request", "m")


@pytest.mark.parametrize("raw", [{}, {"command": "forget"}])
def test_an_unknown_command_name_is_refused_with_the_known_names(raw: Any) -> None:
    [receipt] = parse_commands([raw], None)
    assert isinstance(receipt, WriteReceipt)
    assert receipt.faults[0] == f"command: must be one of {', '.join(KINDS)}"


@pytest.mark.parametrize("raw", [{"command": ["remember"]}, 7, None, [], "remember"])
def test_a_value_that_is_no_command_is_refused(raw: Any) -> None:
    [receipt] = parse_commands([raw], None)
    assert isinstance(receipt, WriteReceipt)
    assert receipt.problem == "invalid-request"


def test_every_command_is_found_by_its_name() -> None:
    assert {name: command_type({"command": name}) for name in KINDS} == KINDS


def test_all_faults_of_a_command_are_raised_together() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_command({"citizen_id": "a/b", "energy": 2}, Remember)
    fields = {fault.partition(":")[0] for fault in refused.value.faults}
    assert fields == {"citizen_id", "name", "energy"}


def test_a_list_shows_a_bounded_number_of_faults() -> None:
    bad = {"name": "", **{f"unknown {n}": 1 for n in range(60)}, "energy": 2, "confidence": 2}
    receipts = parse_commands([bad] * 300, Remember)
    lines = [len(receipt.faults) for receipt in receipts if isinstance(receipt, WriteReceipt)]
    assert len(lines) == 300
    assert min(lines) >= 1
    assert sum(lines) <= MAX_FAULTS + 2 * len(lines)


def test_an_idempotency_key_yields_to_a_command_id() -> None:
    assert with_command_id({"name": "sea"}, "k") == {"name": "sea", "command_id": "k"}
    for raw in ({"command_id": "own"}, ["no object"], None):
        assert with_command_id(raw, "k") == raw
    assert with_command_id({"name": "sea"}, None) == {"name": "sea"}
