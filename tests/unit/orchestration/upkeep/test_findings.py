"""What a sweep makes of the rows of a page."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep import duplicates, findings, links, text_quality, time_overlaps
from orchestration.upkeep.findings import Place
from orchestration.upkeep.ledger import Ledger
from orchestration.upkeep.metadata_quality import Quality
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Period
from schemas.upkeep import ApplyCommand, RepairRequest, RetractLink, ReviseLink, SweepRequest, Task
from schemas.validation import ValidationResult
from substrate.cypher.upkeep import LONG_FIELDS
from substrate.store.upkeep import LINKS_A_PAGE, Content, End, LinkRow, MemoryRow, Part, RecordRow, parts

PLACE = Place(Level.N1, "ada", 1000)
ESSAY = "the kind of joy that one only has on the first warm day of spring"


def memory(*, embedding: str = "Vectorf32", linked: int = 0, **fields: Any) -> MemoryRow:
    whole = {
        "id": "m", "node_type": "Memory", "name": "Tea", "speaker": None, "version": 1, "energy": "0.6",
        "confidence": 1, "emotion_vector": '{"joy":0.5}', "goal": None, "resolution_state": None, "unset": None,
        "valid_at": 10, "invalid_at": END_OF_TIME, "created_at": 20, "expired_at": END_OF_TIME,
        "description": "Ada drinks tea", "felt_quality": None, "body_sensation": None,
    }  # fmt: skip
    return MemoryRow(7, True, embedding, linked, 0, 0, 0, {**whole, **fields})


def link(source: End | None = None, target: End | None = None, **fields: Any) -> LinkRow:
    whole = {
        "id": "l", "relation_type": "NEXT", "valid_at": 10, "invalid_at": END_OF_TIME, "created_at": 20,
        "expired_at": END_OF_TIME, "energy": "0.6", "confidence": "0.5", "emotion_vector": "{}", "goal": "g",
        "mindstate": "m", "energy_transfer_coefficient": "0.5", "resolution_state": "blocked",
        "formation_trigger": "t", "felt_quality": "f", "emotion_description": "e",
        "body_sensation": None, "spatial_context": None, "sensory_details": None,
    }  # fmt: skip
    return LinkRow(source or end("a"), target or end("b"), True, {**whole, **fields})


def end(identity: str, expired: int = END_OF_TIME, invalid: int = END_OF_TIME, reason: str | None = None) -> End:
    return End(identity, ord(identity), expired, invalid, reason)


def kinds(row: MemoryRow) -> list[str]:
    return [one.kind for one in findings.of_memory(row, PLACE)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"name": "None", "description": ""}, ["junk"]),
        ({"name": " null ", "description": "undefined"}, ["junk"]),
        ({"name": "", "description": None}, ["junk"]),
        ({"name": "\u200b", "description": "\n"}, ["junk"]),
        ({"name": "Plan", "description": "NaN"}, ["junk"]),
        ({"name": "tea", "description": ""}, ["junk"]),
        ({"name": "green tea", "description": ""}, []),
        ({"name": "Ada", "description": "", "node_type": "Person"}, []),
        ({"name": "tea", "description": "", "node_type": "Drink"}, ["junk"]),
        ({"name": "tea", "description": "", "node_type": "Drink", "linked": 1}, []),
        ({"name": "tea", "description": "", "linked": 1}, ["junk"]),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "Yes"}, []),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "👍"}, []),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "None."}, []),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "None"}, ["junk"]),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": ""}, ["junk"]),
        ({"name": "None", "expired_at": 30}, []),
        ({"embedding": "Null"}, ["embedding_missing"]),
        ({"embedding": "List"}, ["embedding_missing"]),
        ({"embedding": "Null", "expired_at": 30}, []),
        ({"emotion_vector": None}, []),
        ({"emotion_vector": '{"' + "a" * 40 + '":0.5}'}, []),
        ({"emotion_vector": '{"' + "a" * 41 + '":0.5}'}, ["essay_emotion"]),
        ({"emotion_vector": '{"a bit of joy":0.5}'}, []),
        ({"emotion_vector": '{"a little bit of joy":0.5}'}, ["essay_emotion"]),
        ({"unset": "energy,confidence,emotion_vector", "energy": "0.5"}, ["unset_default"]),
        ({"unset": "energy,emotion_vector"}, []),
        ({"unset": "emotion_vector", "emotion_vector": None}, ["unset_default"]),
        ({"energy": None}, ["memory_invalid"]),
        ({"energy": "1.01"}, ["memory_invalid"]),
        ({"confidence": "much"}, ["memory_invalid"]),
        ({"emotion_vector": "joy"}, ["memory_invalid"]),
        ({"emotion_vector": '{"joy":2}'}, ["memory_invalid"]),
        ({"name": None}, ["memory_invalid"]),
        ({"valid_at": None}, ["memory_invalid"]),
        ({"valid_at": "2025"}, ["memory_invalid"]),
        ({"invalid_at": 10}, ["memory_invalid"]),
        ({"version": None}, ["memory_invalid"]),
    ],
)
def test_what_is_wrong_with_a_memory(fields: dict[str, Any], expected: list[str]) -> None:
    assert kinds(memory(**fields)) == expected


@pytest.mark.parametrize(
    ("row", "repair"),
    [
        (memory(name="None", description=""), {"command": "retract", "expected_version": 1}),
        (memory(name="Plan", description="None"), {"command": "correct", "description": ""}),
        (memory(energy=None), {"command": "correct", "energy": 0.5, "confidence": 0.5}),
        (
            memory(emotion_vector=orjson.dumps({ESSAY: 0.7, "calm": 0.2}).decode(), felt_quality="warm"),
            {"emotion_vector": {"calm": 0.2, "joy": 0.7}, "felt_quality": f"warm; {ESSAY}"},
        ),
    ],
)
def test_what_repairs_a_memory(row: MemoryRow, repair: dict[str, Any]) -> None:
    [one] = findings.of_memory(row, PLACE)
    said = one.model_dump(mode="json")["repair"]
    assert said["action"] == "apply"
    assert {name: said["command"][name] for name in repair} == repair
    assert (said["command"]["id"], said["command"]["citizen_id"]) == ("m", "ada")


def test_a_repair_says_only_what_it_changes_over_the_wire() -> None:
    [one] = findings.of_memory(memory(name="Plan", description="None"), PLACE)
    assert isinstance(one.repair, ApplyCommand)
    sent = RepairRequest.model_validate_json(RepairRequest(task=one.repair).model_dump_json()).task
    assert isinstance(sent, ApplyCommand)
    assert sent == one.repair
    assert sent.command.model_fields_set == one.repair.command.model_fields_set | {"command"}


def test_the_same_repair_of_the_same_record_has_the_same_command_id() -> None:
    row = memory(name="None", description="")
    first, again = (next(findings.of_memory(row, PLACE)).repair for _ in range(2))
    other = next(findings.of_memory(memory(name="None", description="", version=2), PLACE)).repair
    assert isinstance(first, ApplyCommand)
    assert isinstance(other, ApplyCommand)
    assert first == again
    assert first.command.command_id != other.command.command_id


def test_what_no_door_would_take_is_found_without_a_repair() -> None:
    [one] = findings.of_memory(memory(id="a|b", name="None", description=""), PLACE)
    assert (one.kind, one.repair) == ("junk", None)


@pytest.mark.parametrize(
    ("fields", "said", "repair"),
    [
        ({"energy_transfer_coefficient": None}, "REQUIRED field missing: energy_transfer_coefficient", ReviseLink),
        ({"resolution_state": "open"}, "REQUIRED field invalid: resolution_state", ReviseLink),
        ({"goal": None, "resolution_state": None}, "REQUIRED field missing: goal", RetractLink),
        ({"energy": "2"}, "REQUIRED field invalid: energy", RetractLink),
        ({"emotion_vector": "none"}, "REQUIRED field invalid: emotion_vector", RetractLink),
        ({"mindstate": ""}, "REQUIRED field invalid: mindstate", RetractLink),
        ({"sensory_details": "loud"}, "CONDITIONAL field invalid: sensory_details", RetractLink),
        ({"relation_type": None}, "relation_type is missing", RetractLink),
        ({"id": None}, "id is missing", type(None)),
        ({"created_at": None}, "a time is missing", type(None)),
    ],
)
def test_what_is_wrong_with_the_metadata_of_a_link(fields: dict[str, Any], said: str, repair: type) -> None:
    _, [one] = links.of_link(link(**fields), PLACE)
    assert (one.kind, one.severity) == ("link_invalid", "error")
    assert said in one.message
    assert isinstance(one.repair, repair)


GARBAGE: tuple[Any, ...] = (
    None,
    0,
    -7,
    "",
    "None",
    "7.5",
    "nan",
    "[1]",
    '{"a b c d e":null}',
    '{"a":{}}',
    [1],
    "\n|",
)


@given(st.sampled_from(sorted(memory().fields)), st.sampled_from(GARBAGE), st.booleans())
def test_no_garbage_in_a_memory_stops_a_sweep(field: str, value: Any, felt: bool) -> None:
    if field in LONG_FIELDS and value is not None:
        value = str(value)  # so the engine gives them
    row = memory(**{"name": "None", field: value})
    list(findings.of_memory(row._replace(felt_as_numbers=felt), PLACE))
    assert 0.0 <= findings.own_quality(row).metadata_completeness <= 1.0


@given(st.sampled_from(sorted(link().fields)), st.sampled_from(GARBAGE), st.booleans())
def test_no_garbage_in_a_link_stops_a_sweep(field: str, value: Any, felt: bool) -> None:
    row = link(end("a", expired=50), **{field: value})
    result, found = links.of_link(row._replace(felt_as_numbers=felt), PLACE)
    assert 0.0 <= result.metadata_completeness <= 1.0
    assert found
    time_overlaps.record_of(row)


def test_a_number_stored_as_text_is_told_apart() -> None:
    result, [one] = links.of_link(link()._replace(felt_as_numbers=False), PLACE)
    assert not result.valid
    assert "stored as text" in one.message


@pytest.mark.parametrize(
    ("target", "valid", "until"),
    [
        (end("b"), (10, END_OF_TIME), "none"),
        (end("b", invalid=50), (10, END_OF_TIME), "none"),
        (end("b", expired=50), (10, END_OF_TIME), None),
        (end("b", invalid=50, reason="reality_changed"), (10, END_OF_TIME), 50),
        (end("b", invalid=50, reason="reality_changed"), (10, 50), "none"),
        (end("b", invalid=50, reason="reality_changed"), (60, END_OF_TIME), None),
    ],
)
def test_a_link_holds_no_longer_than_its_retracted_ends(
    target: End, valid: tuple[int, int], until: int | str | None
) -> None:
    _, found = links.of_link(link(target=target, valid_at=valid[0], invalid_at=valid[1]), PLACE)
    ends = [one.repair.until for one in found if isinstance(one.repair, RetractLink)]
    assert ends == ([] if until == "none" else [until])


def record(
    valid: tuple[int, int], known: tuple[int, int], version: int = 1, *, carried: bool = False
) -> RecordRow:
    return RecordRow("m", version, Period(*valid), Period(*known), carried)


times = st.tuples(st.integers(0, 8), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(st.tuples(times, times), max_size=7))
def test_an_overlap_is_found_exactly_when_there_is_one(drawn: list[tuple[Any, Any]]) -> None:
    records = [record(valid, known) for valid, known in drawn]
    pairs = list(time_overlaps.overlapping(records))
    really = [
        (one, other)
        for one, other in combinations(records, 2)
        if one.valid.overlaps(other.valid) and one.known.overlaps(other.known)
    ]
    assert bool(pairs) == bool(really)
    assert all(a.valid.overlaps(b.valid) and a.known.overlaps(b.known) for a, b in pairs)


def test_a_long_chain_of_superseded_records_is_no_overlap() -> None:
    chain = [record((n, n + 1), (100 + n, END_OF_TIME), n) for n in range(5000)]
    assert list(time_overlaps.overlapping(chain)) == []


def test_only_an_open_past_record_within_the_other_can_be_closed() -> None:
    ever, later = END_OF_TIME, 40
    carried = record((0, 100), (later, ever), 2, carried=True)
    for other, mendable in [
        (record((0, 100), (20, ever)), True),
        (record((0, 200), (20, ever)), False),
        (record((0, 100), (20, 60)), False),
    ]:
        [one] = time_overlaps.of_memories([other, carried], PLACE)
        assert (one.repair is not None) is mendable


def content(identity: str, text: str, valid: tuple[int, int] = (0, END_OF_TIME), **fields: Any) -> Content:
    whole = {"name": "n", "speaker": None, "node_type": "Memory", "known": Period(int(identity, 36), END_OF_TIME)}
    return Content(id=identity, description=text, version=1, valid=Period(*valid), **{**whole, **fields})


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        ([content("a", "Tea is green"), content("b", "tea  IS\ngreen")], ["b"]),
        ([content("a", "Forêt"), content("b", "foret")], ["b"]),
        ([content("b", "Tea"), content("a", "Tea"), content("c", "Tea")], ["b", "c"]),
        ([content("a", "Tea"), content("b", "Tea!")], []),
        ([content("a", "Tea"), content("b", "Tea", name="other")], []),
        ([content("a", "Tea", (0, 10)), content("b", "Tea", (10, 20)), content("c", "Tea", (15, 30))], ["c"]),
        ([content("a", "Tea"), content("b", "Tea", known=Period(5, 9))], []),
        ([content("a", "", node_type="Person"), content("b", "", node_type="Tool")], []),
        ([content("a", "", node_type="Person"), content("b", "", node_type="Person")], ["b"]),
        ([content("a", "Yes, of course.", speaker="x"), content("b", "Yes, of course.", speaker="x")], []),
        ([content("a", "one two three four five six", speaker=who) for who in ("x", "y")], []),
        ([content(n, "one two three four five six", speaker="x") for n in "ab"], ["b"]),
    ],
)
def test_duplicates_say_the_same_over_the_same_time(contents: list[Content], found: list[str]) -> None:
    assert [one.id for one in duplicates.of_group(duplicates.told(contents), PLACE)] == found


def test_digests_give_back_the_groups_that_agree() -> None:
    digests = duplicates.Digests()
    assert list(digests.repeated()) == []
    for place, digest in enumerate([5, 9, 5, 2**62, 9, 5]):
        digests.add(digest, place)
    assert sorted(digests.repeated()) == [[0, 2, 5], [1, 4]]


@given(st.lists(st.integers(0, 3 * LINKS_A_PAGE), max_size=30))
def test_every_row_of_a_page_is_in_exactly_one_share(degrees: list[int]) -> None:
    page = list(enumerate(degrees))
    shares = list(parts(page))
    read = [0] * len(degrees)
    for share in shares:
        inside = [place for place, degree in page if share.first <= place < share.beyond and degree]
        rows = [min(max(degrees[place] - share.skip, 0), share.rows) for place in inside]
        assert sum(rows) <= LINKS_A_PAGE
        for place, count in zip(inside, rows, strict=True):
            read[place] += count
    assert read == degrees


def test_a_hub_is_read_in_shares_of_its_own() -> None:
    beyond = 10 * LINKS_A_PAGE
    assert list(parts([(1, 3), (4, 2 * LINKS_A_PAGE + 1), (6, 2)])) == [
        Part(1, 2, 0, beyond),
        Part(4, 5, 0, LINKS_A_PAGE),
        Part(4, 5, LINKS_A_PAGE, LINKS_A_PAGE),
        Part(4, 5, 2 * LINKS_A_PAGE, LINKS_A_PAGE),
        Part(6, 7, 0, beyond),
    ]


def result(completeness: float, *, errors: bool = False, warned: bool = False) -> ValidationResult:
    said = ("IMPORTANT field missing: felt_quality. Recommended.",) if warned else ()
    return ValidationResult(valid=not errors, warnings=said, metadata_completeness=completeness)


def test_the_quality_of_a_graph_is_that_of_its_memories_and_their_links() -> None:
    quality = Quality(10)
    quality.link({1: "a", 900: "b"}, result(1.0))
    quality.memory(1, "a", result(0.2))
    quality.memory(900, "b", result(0.2))
    quality.memory(3, "c", result(0.5, warned=True))
    quality.link({900: "b", 7: "gone"}, result(0.5, errors=True, warned=True))
    report = quality.report()
    assert (report.total_memories, report.memories_with_errors, report.memories_with_warnings) == (3, 1, 2)
    assert report.average_completeness == pytest.approx((1.0 + 0.75 + 0.5) / 3)
    assert report.incomplete_memory_ids == ("b", "gone")
    assert report.quality_grade == "poor"
    assert quality.important_missing == {"felt_quality": 1}


def test_a_graph_of_nothing_has_zeros() -> None:
    report = Quality(10).report()
    assert (report.total_memories, report.average_completeness, report.quality_grade) == (0, 0.0, "poor")


def test_the_ledger_counts_all_and_lists_the_first_the_gravest_first() -> None:
    ledger = Ledger(2)
    ledger.add(findings.finding("unset_default", PLACE, str(n), "") for n in range(5))
    ledger.add(findings.finding("overlap", PLACE, str(n), "") for n in range(3))
    assert list(ledger.by_kind().items()) == [("overlap", 3), ("unset_default", 5)]
    assert [(one.kind, one.id) for one in ledger.findings()] == [
        ("overlap", "0"), ("overlap", "1"), ("unset_default", "0"), ("unset_default", "1"),
    ]  # fmt: skip


@given(st.dictionaries(st.text(max_size=60), st.floats(0, 1), max_size=5))
def test_shortened_emotions_have_no_essays(felt: dict[str, float]) -> None:
    short = text_quality.shortened_emotions(felt)
    if short is None:
        assert not any(text_quality.is_essay(name) for name in felt)
    else:
        assert not any(text_quality.is_essay(name) for name in short.emotions)
        assert set(felt) == {name for name in felt if name in short.emotions} | set(short.essays)


def test_a_sweep_takes_the_levels_that_can_be_named() -> None:
    assert SweepRequest().chosen() == (Level.N2, Level.N3)
    assert SweepRequest(citizen_id="ada").chosen() == (Level.N1, Level.N2, Level.N3)
    with pytest.raises(ValueError, match="N1 is personal"):
        SweepRequest(levels=(Level.N1,))
    with pytest.raises(ValueError, match="N1 is personal"):
        Task()


def test_without_a_model_no_embedding_is_missing() -> None:
    assert list(findings.of_memory(memory(embedding="Null"), PLACE._replace(embedded=False))) == []
