"""Commands that add memories and links: their ids, their rows, and the receipts of those rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from orchestration.appraisal.names import MIDDLE, MOST_READ
from orchestration.identifiers import handle, natural_id
from orchestration.writing import receipts, records
from orchestration.writing.changes import Refusal
from schemas.base import without_nulls
from schemas.commands import ChangeCommand, Command, Relate, Remember, WriteReceipt
from schemas.memory import STORED_DEFAULTS, Level, ResolutionState, graph_fields
from schemas.temporal import END_OF_TIME, Instant, Period, open_end, to_datetime, to_instant
from substrate.emotions import emotion_trace, normal_emotions
from substrate.store import rows
from substrate.store.rows import RowOutcome

_ASSUMED: Final = ("energy", "confidence", "emotion_vector")
_ASSUMED_NAME: Final = ("name", "node_type")
"""What only a memory lacks that was made of a name in a text."""
_ASSUMED_OF_LINK: Final = ("goal", "mindstate", "energy", "confidence", "emotion_vector")

type Row = Mapping[str, Any]


class NamedCommand(NamedTuple):
    """A command with the id of its receipt: the `command_id` that the sender gave, or a new one."""

    command: Command
    command_id: str

    @property
    def record_id(self) -> str | None:
        """The id of the memory or link that the command writes to."""
        return identity(self.command, self.command_id)

    def refuse(self, refusal: Refusal) -> WriteReceipt:
        return receipts.refuse(self.command, refusal, command_id=self.command_id, record_id=self.record_id)


def check_end_ahead(command: Command, now: Instant) -> None:
    """Raises Refusal for a new memory or link without `valid_at` whose `invalid_at` has passed."""
    if not isinstance(command, (Remember, Relate)) or command.valid_at is not None or command.invalid_at is None:
        return
    if to_instant(command.invalid_at) <= now:
        fault = "invalid_at lies in the past and valid_at is not given: it would end before it begins"
        raise Refusal("invalid-request", fault)


def identity(command: Command, command_id: str) -> str | None:
    """The id of the memory or link that a command writes to; None for other kinds of commands."""
    if isinstance(command, Relate):
        return command.id or natural_id(command.source_id, command.relation_type, command.target_id)
    if isinstance(command, Remember):
        # An id that is made depends on the command alone: a repeat gives the same.
        return command.id or f"m_{blake2b(command_id.encode(), digest_size=10).hexdigest()}"
    return command.id if isinstance(command, ChangeCommand) else None


def new_row(command: Remember | Relate, command_id: str, now: Instant) -> dict[str, Any]:
    """The properties of a new memory, without its embedding, or of a new link."""
    record_id = identity(command, command_id) or ""
    if isinstance(command, Relate):
        return link_row(command, record_id, command_id, now)
    return memory_row(command, record_id, command_id, now)


def memory_row(command: Remember, memory_id: str, command_id: str, now: Instant) -> dict[str, Any]:
    """The properties of a new memory in stored form, with its emotion vector and the names of its tag nodes."""
    fields = vars(command)
    first_record = _first_record(command, now)
    emotions = command.emotion_vector
    assumable = _ASSUMED if "name" in command.model_fields_set else (*_ASSUMED_NAME, *_ASSUMED)
    assumed = [name for name in assumable if name not in command.model_fields_set]
    assumed += [MIDDLE] * (len(command.description or "") > MOST_READ)
    return {
        **rows.memory_properties({**fields, "shared_from": command.copy_of}),
        **records.search_properties(fields, emotions),
        **first_record,
        "id": memory_id,
        "command_id": command_id,
        "unset": ",".join(assumed) or None,
        "version": 1,
        "emotion_vector": None if emotions is None else orjson.dumps(emotions).decode(),
        "tag_names": records.tag_names(command.tags, command.buckets),
        "emotion": emotion_trace(emotions, f"{memory_id} 1"),
    }


def link_row(command: Relate, link_id: str, command_id: str, now: Instant) -> dict[str, Any]:
    """The properties of a new link in stored form, with the ids of its ends."""
    fields = vars(command)
    assumed = ",".join(name for name in _ASSUMED_OF_LINK if name not in command.model_fields_set)
    return {
        **rows.link_properties(fields),
        "unset": assumed or None,
        **_first_record(command, now),
        "id": link_id,
        "command_id": command_id,
        "handle": handle(link_id) if command.id else None,
        "source_id": command.source_id,
        "target_id": command.target_id,
        "emotion_vector": orjson.dumps(command.emotion_vector).decode(),
    }


def _first_record(command: Remember | Relate, now: Instant) -> dict[str, Any]:
    """Times and writer of the first record of a memory or link."""
    return {
        "key_id": command.writer.key_id,
        "author": command.writer.author,
        "known_as_happened": command.writer.mark,
        "fingerprint": records.fingerprint(command),
        "valid_at": records.instant(command.valid_at, now),
        "invalid_at": records.instant(command.invalid_at, END_OF_TIME),
        "created_at": now,
        "expired_at": END_OF_TIME,
    }


def with_receipt(command: Command, row: dict[str, Any], nth: int) -> dict[str, Any]:
    """The row of a command that gets its own receipt, `nth` microseconds after the first row of its batch.

    `again`: a row that repeats a stored record gets a receipt too. Only commands with an id need that.
    """
    return {
        **row,
        "nth": nth,
        "receipt": row["command_id"],
        "again": command.command_id is not None,
        "warnings": receipts.warnings_json(receipts.collect_warnings(command)),
    }


def without_receipts(new_rows: Sequence[dict[str, Any]], nths: Sequence[int] = ()) -> list[dict[str, Any]]:
    """The rows as parts of one command, which has the only receipt; `nths` as in `with_receipt`, else all 0."""
    bare = {"receipt": None, "again": False, "warnings": None}
    return [{**row, "nth": nth, **bare} for row, nth in zip(new_rows, nths or [0] * len(new_rows), strict=True)]


def build_receipt(command: Remember | Relate, row: Row, outcome: RowOutcome) -> WriteReceipt:
    """The receipt of a row from the outcome of its write: stored, a duplicate, or refused."""
    try:
        if outcome.receipt is not None:
            return receipts.repeat_receipt(command, outcome.receipt)
        if not outcome.new:
            _check_same(command, row, outcome)
    except Refusal as refusal:
        return receipts.refuse(command, refusal, command_id=row["command_id"], record_id=row["id"])
    valid_at = row["valid_at"] if outcome.valid_at is None else outcome.valid_at
    invalid_at = row["invalid_at"] if outcome.invalid_at is None else outcome.invalid_at
    return WriteReceipt(
        command_id=row["command_id"],
        command=receipts.command_name(command),
        status="stored",
        id=row["id"],
        **graph_fields(command.graph_key),
        version=outcome.version,
        valid_at=to_datetime(valid_at),
        invalid_at=open_end(invalid_at),
        created_at=to_datetime(outcome.at if outcome.created_at is None else outcome.created_at),
        duplicate=not outcome.new,
        warnings=receipts.collect_warnings(command),
    )


def _check_same(command: Remember | Relate, row: Row, outcome: RowOutcome) -> None:
    """Raises Refusal when the id has other content or is retracted, or when an end of the link is missing."""
    if isinstance(command, Relate):
        missing = [
            f"{end} {row[end]} is not a memory of this graph, or was retracted"
            for end, exists in (("source_id", outcome.has_source), ("target_id", outcome.has_target))
            if not exists
        ]
        if missing:
            raise Refusal("not-found", *missing)
    noun = "link" if isinstance(command, Relate) else "memory"
    if outcome.expired_at is None or outcome.expired_at != END_OF_TIME:
        version = outcome.version if outcome.expired_at else outcome.past_links
        fault = f"{noun} {row['id']} was retracted; undo the retraction, or use another id"
        raise Refusal("conflict", fault, current_version=version)
    if outcome.fingerprint != row["fingerprint"]:
        instead = "supersede or correct it instead" if noun == "memory" else "give this link an id of its own"
        if outcome.valid_at is not None and row["valid_at"] < outcome.valid_at:
            begins = f"{to_datetime(outcome.valid_at):%Y-%m-%dT%H:%M:%SZ}"
            instead = f"it holds only from {begins}: name an end (invalid_at) no later than that"
        fault = f"{noun} {row['id']} already exists with other content; {instead}"
        raise Refusal("conflict", fault, current_version=outcome.version)


def may_hold_again(row: Row, outcome: RowOutcome) -> bool:
    """True when the id exists, but its carried record does not hold at any moment of the row's valid time."""
    if outcome.new or outcome.receipt is not None or not (outcome.has_source and outcome.has_target):
        return False
    if outcome.expired_at != END_OF_TIME or outcome.valid_at is None or outcome.invalid_at is None:
        return True
    stored_valid = Period(outcome.valid_at, outcome.invalid_at)
    return not stored_valid.overlaps(Period(row["valid_at"], row["invalid_at"]))


def refuse_without_graph(named: NamedCommand) -> WriteReceipt:
    """The receipt of a command for a graph that does not exist.

    Only a new memory creates a graph, so that a mistyped citizen id leaves no empty graph behind.
    """
    command = named.command
    owner = f"citizen {command.citizen_id}" if command.level is Level.N1 else command.graph_key
    refusal = Refusal("not-found", f"nothing was remembered for {owner} yet")
    record_id = getattr(command, "id", None)
    return receipts.refuse(command, refusal, command_id=named.command_id, record_id=record_id)


type Content = Mapping[str, Any]
"""The content of a memory in stored form; columns may be absent or None."""

LEAST_FINISHED: Final = (
    ResolutionState.BLOCKED.value,
    ResolutionState.IN_PROGRESS.value,
    ResolutionState.RESOLVED.value,
)
"""Of two ends, the state that comes first here is that of the link."""


def inherit(row: Mapping[str, Any], ends: Sequence[Content]) -> dict[str, Any]:
    """The row of a new link with what it takes from its ends; `unset` names these fields.

    Emotions: all of both ends, the higher intensity of each. State: the least finished. Energy: the one farthest
    from the default, because a memory whose words tell none has that. Where no end has a value, the row keeps its
    own.
    """
    strongest: dict[str, float] = {}
    for end in ends:
        for name, intensity in normal_emotions(orjson.loads(end.get("emotion_vector") or "{}")).items():
            strongest[name] = max(intensity, strongest.get(name, 0.0))
    states = {end.get("resolution_state") for end in ends}
    default = STORED_DEFAULTS["energy"]
    energies = [float(end["energy"]) for end in ends if end.get("energy") is not None]
    farthest = max(energies, key=lambda energy: (abs(energy - default), energy), default=default)
    inherited: dict[str, Any] = {
        "emotion_vector": orjson.dumps(strongest).decode() if strongest else None,
        "resolution_state": next((state for state in LEAST_FINISHED if state in states), None),
        "energy": None if farthest == default else farthest,
    }
    taken = without_nulls(inherited)
    unset = dict.fromkeys((*(row.get("unset") or "").split(","), *taken))
    return {**row, **taken, "unset": ",".join(filter(None, unset)) or None}
