"""Times that a change leaves out, gaps, and what a receipt then names; over HTTP, of memories and of links."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.conftest import Service
from tests.builders import LINK_METADATA

PAST, ENDED, SOON, FAR = (
    "2020-01-01T00:00:00Z",
    "2022-01-01T00:00:00Z",
    "2040-01-01T00:00:00Z",
    "2060-01-01T00:00:00Z",
)
LINK = {"source_id": "one", "target_id": "other", "relation_type": "NEAR", **LINK_METADATA}
OF_LINKS = {
    "remember": "relate", "supersede": "supersede_link", "correct": "correct_link", "retract": "unrelate",
    "resolve": "resolve_link", "undo": "undo_link",
}  # fmt: skip


class Told:
    """A memory or a link of a citizen, and the commands on it."""

    def __init__(self, service: Service, citizen: str, kind: str) -> None:
        self.service, self.citizen, self.kind = service, citizen, kind
        if kind == "link":
            for end in ("one", "other"):
                service.remember(citizen, id=end, name=end, valid_at=PAST)

    def __call__(self, command: str, **fields: Any) -> dict[str, Any]:
        """The receipt of a command."""
        is_new = command == "remember"
        if self.kind == "link":
            own = LINK if is_new else {"id": "one|NEAR|other"}
            command = OF_LINKS[command]
        else:
            own = {"id": "a", "name": "A"} if is_new else {"id": "a"}
        sent = {"citizen_id": self.citizen, "command": command, **own, **fields}
        answer = self.service.http.post("/v1/commands", json=sent)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def held(self) -> list[tuple[str, str | None, float]]:
        """What is believed now: from when, until when, with what energy."""
        of = "memories/N1/a" if self.kind == "memory" else "links/N1/one|NEAR|other"
        answer = self.service.http.get(f"/v1/{of}/history", params={"citizen_id": self.citizen}).json()
        believed = [one for one in answer["records"] if one["expired_at"] is None]
        periods = ((one["valid_at"], one["invalid_at"], one["energy"]) for one in believed)
        return sorted(periods, key=lambda period: period[0])


@pytest.fixture(params=["memory", "link"])
def told(request: pytest.FixtureRequest, service: Service, citizen: str) -> Told:
    return Told(service, citizen, request.param)


NOWHERE: list[tuple[dict[str, str], str]] = [
    ({"valid_at": PAST, "invalid_at": ENDED}, f"from {PAST} to {ENDED}"),
    ({"valid_at": SOON}, f"from {SOON}"),
]


@pytest.mark.parametrize(("period", "named"), NOWHERE)
@pytest.mark.parametrize(("command", "content"), [("correct", {"energy": 0.1}), ("retract", {})])
def test_a_change_without_a_time_says_which_record_it_changed_where_none_holds_now(
    told: Told, command: str, content: dict[str, float], period: dict[str, str], named: str
) -> None:
    told("remember", energy=0.5, **period)
    receipt = told(command, command_id="c", **content)
    [warning] = [each for each in receipt["warnings"] if "not now" in each]
    assert named in warning
    assert "valid_from" in warning
    assert (receipt["valid_at"], receipt["invalid_at"]) == (period["valid_at"], period.get("invalid_at"))
    assert warning in told(command, command_id="c", **content)["warnings"]
    [undone] = [each for each in told("undo")["warnings"] if "not now" in each]
    assert named in undone
    corrected = told("correct", invalid_at=FAR)
    assert (corrected["invalid_at"], corrected["warnings"]) == (FAR, [])


def test_a_change_that_names_its_time_or_is_about_now_says_nothing_of_it(told: Told) -> None:
    told("remember", energy=0.5, valid_at=PAST, invalid_at=ENDED)
    receipts = [told("correct", energy=0.2, valid_from=PAST)]
    receipts += [told("remember", energy=0.5), told("correct", energy=0.1), told("retract"), told("undo")]
    assert not [each for receipt in receipts for each in receipt["warnings"] if "not now" in each]


def test_a_stretch_without_an_end_reaches_over_a_gap_and_leaves_it_a_gap(told: Told) -> None:
    told("remember", energy=0.5, valid_at=PAST, invalid_at=ENDED)
    told("remember", energy=0.6, valid_at=SOON)
    told("correct", energy=0.1, valid_from="2021-01-01T00:00:00Z")
    assert told.held() == [
        (PAST, "2021-01-01T00:00:00Z", 0.5),
        ("2021-01-01T00:00:00Z", ENDED, 0.1),
        (SOON, None, 0.1),
    ]


@pytest.mark.parametrize("command", ["supersede", "correct", "retract", "resolve"])
def test_an_end_without_a_beginning_is_from_now_on_for_every_command(told: Told, command: str) -> None:
    told("remember", energy=0.5, valid_at=PAST)
    content: dict[str, dict[str, Any]] = {
        "supersede": {"energy": 0.1},
        "correct": {"energy": 0.1},
        "resolve": {"resolution_state": "blocked"},
    }
    receipt = told(command, valid_to=FAR, **content.get(command, {}))
    now = receipt["created_at"]
    within = [] if command == "retract" else [(now, FAR, 0.5 if command == "resolve" else 0.1)]
    assert told.held() == [(PAST, now, 0.5), *within, (FAR, None, 0.5)]


def test_a_receipt_names_the_first_new_record_else_the_last_that_was_opened_else_the_first_closed(
    told: Told,
) -> None:
    told("remember", energy=0.5, valid_at=PAST)
    portion = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": ENDED}
    periods = {
        "changed": told("supersede", energy=0.1, **portion),
        "taken out": told("retract", **portion),
        "brought back": told("undo"),
    }
    found = {name: (receipt["valid_at"], receipt["invalid_at"]) for name, receipt in periods.items()}
    assert found["changed"] == found["brought back"] == (portion["valid_from"], ENDED)
    assert found["taken out"] == (
        portion["valid_from"],
        ENDED,
    )  # nothing is left of it: the record that was closed
    assert told("retract", valid_from="2023-01-01T00:00:00Z", valid_to=SOON)["valid_at"] == SOON


def test_what_a_moment_of_evolution_ends_with_is_left_out(service: Service, citizen: str) -> None:
    told = Told(service, citizen, "memory")
    told("remember", description="first", energy=0.5, valid_at=PAST)
    changed = told("correct", description="second")["created_at"]

    def found(end: str | None) -> list[tuple[str, bool]]:
        asked = {"citizen_id": citizen, "query_text": "A first second", "query_levels": ["N1"]}
        ranged = {"temporal_mode": "evolution", "time_range_start": PAST, "time_range_end": end}
        stream = service.http.post("/v1/retrieve", json={**asked, **ranged}).json()
        records = stream["levels"]["n1_personal"]["vector_results"]
        return sorted((one["description"], one.get("expired_at") is None) for one in records)

    assert found(changed) == [("first", True)]
    assert found(None) == [("first", False), ("second", True)]
