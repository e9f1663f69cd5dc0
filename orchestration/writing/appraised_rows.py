"""Fills what a writer left out of a memory with what its words say; `unset` names these fields. Pure.

What is given is never overridden. The words to search by, and the fingerprint of the command, are of what was
given alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from orchestration.appraisal.appraise import NOTHING, Appraisal, Voice, appraise
from orchestration.appraisal.feelings import read_reply
from orchestration.appraisal.names import MIDDLE, MOST_READ
from orchestration.appraisal.telling import read_silence
from schemas.base import without_nulls
from schemas.commands import Command, Remember, Revision
from schemas.memory import STORED_DEFAULTS, Level, Silence, Source
from substrate.emotions import emotion_trace, normal_emotions
from substrate.language.text import name_key

INFERRED: Final = (
    "energy", "emotion_vector", "goal", "resolution_state", "importance", "result", "rule", "step",
)  # fmt: skip
"""The columns that an appraisal fills."""
HUMAN_ROLES: Final = frozenset(("user", "human"))
OTHER_ROLES: Final = frozenset(("assistant", "ai", "bot", "system", "tool", "function", "developer", "model"))
NO_STATEMENTS: Final = frozenset(
    ("session", "person", "place", "organisation", "organization", "company", "project", "product", "thing",
     "entity", "concept", "event", "document", "file", "identity")
)  # fmt: skip
"""Types of memories that say nothing of their writer: what they are about is somebody or something else."""

UNTYPED: Final = ("Memory", "Turn")
"""Types that leave open what a memory is as a step; any other says it, or that it is none."""
_DEFAULTS: Final = {"energy": STORED_DEFAULTS["energy"]}

type Row = Mapping[str, Any]


def text_of(content: Row) -> str:
    """The text of a memory: its description, or the name of one without."""
    return content.get("description") or content.get("name") or ""


def voice_of(content: Row) -> Voice:
    """Whose words the text of a memory is, by its source, type and speaker.

    A turn is its speaker's; what was ingested without a speaker is a document. Tools and upkeep do not feel.
    """
    speaker = content.get("speaker")
    source = content.get("source") or Source.CITIZEN
    if source not in (Source.CITIZEN, Source.INGESTION) or content["node_type"].lower() in NO_STATEMENTS:
        return Voice.OTHER
    if not speaker:
        return Voice.OTHER if source == Source.INGESTION else Voice.OWN
    return Voice.OTHER if name_key(speaker) in OTHER_ROLES else Voice.OWN


def may_rule(content: Row, owner: str | None) -> bool:
    """Whether the text may set a rule: it is the citizen's own memory, or a turn of the user or of the citizen.

    `owner`: the id of the citizen; None in a shared graph, where nobody sets rules for others.
    """
    if owner is None:
        return False
    speaker = name_key(content.get("speaker") or "")
    return not speaker or speaker in HUMAN_ROLES or speaker == name_key(owner)


def text_to_appraise(command: Command) -> str | None:
    """The text of a command that is to be appraised; None when it has none, or another's voice speaks in it.

    Of a revision only the text is known here; whose voice it is depends on the memory that it revises.
    """
    if isinstance(command, Remember):
        fields = vars(command)
        return text_of(fields) if voice_of(fields) is Voice.OWN else None
    if isinstance(command, Revision) and {"description", "name"} & command.model_fields_set:
        return command.description or command.name
    return None


def appraise_command(command: Command, given: Sequence[str] = ()) -> Appraisal:
    """What the words of a command say. `given`: texts that the answering side was given."""
    owner = owner_of(command)
    silence = read_silence_of(vars(command), owner, given) if isinstance(command, Remember) else None
    text = text_to_appraise(command)
    read = NOTHING if text is None else appraise(text, Voice.OWN)
    return read if silence is None else replace(read, step=silence)


def is_answer(content: Row) -> bool:
    """Whether it is a turn of the answering side."""
    return content["node_type"] == "Turn" and name_key(content.get("speaker") or "") in OTHER_ROLES


def replied_to(speaker: str | None, answering: str, text: str) -> str | None:
    """What came of a turn by the next one, where the other side says it; what a machine answers is no outcome."""
    is_other = name_key(answering) not in (*OTHER_ROLES, name_key(speaker or ""))
    return read_reply(text) if speaker and is_other else None


def read_silence_of(content: Row, owner: str | None, given: Sequence[str] = ()) -> Silence | None:
    """Why the text of a turn tells nothing; None where it tells something.

    Only in a chat with an answering side: where two people talk, a question is what its answer is understood by.
    `owner` as in `may_rule`.
    """
    answers = is_answer(content)
    if not answers and (content["node_type"] != "Turn" or not may_rule(content, owner)):
        return None
    return read_silence(text_of(content), answers=answers, given=given) if content.get("speaker") else None


def owner_of(command: Command) -> str | None:
    return command.citizen_id if command.level is Level.N1 else None


def fill_row(row: Row, command: Remember, appraisal: Appraisal) -> dict[str, Any]:
    """The row of a new memory with what the appraisal says and the command left out."""
    told = _columns(appraisal, row, owner_of(command))
    given = command.model_fields_set
    if command.node_type == "Memory" and "node_type" in given:
        given = given | {"step"}
    taken = {name: value for name, value in told.items() if name not in given}
    if not taken:
        return dict(row)
    filled = {**row, **taken, "unset": _with_names(row["unset"], taken)}
    if "emotion_vector" in taken:
        filled["emotions"] = sorted(normal_emotions(appraisal.emotions))
        filled["emotion"] = emotion_trace(appraisal.emotions, f"{row['id']} 1")
    return filled


def revise_content(before: Row, after: Row, command: Revision, appraisal: Appraisal) -> Row:
    """The content after a revision, in stored form, with what the new text says in the fields that nobody gave.

    The same object when the text stays as it was.
    """
    if text_of(before) == text_of(after):
        return after
    own = voice_of(after) is Voice.OWN
    told = _columns(appraisal, after, owner_of(command)) if own else {}
    if silence := read_silence_of(after, owner_of(command)):
        told["step"] = silence
    unset = [name for name in (after.get("unset") or "").split(",") if name != MIDDLE]
    unset += [MIDDLE] * (len(text_of(after)) > MOST_READ)
    free = [
        name
        for name in INFERRED
        if name not in command.model_fields_set and (name in unset or after.get(name) is None)
    ]
    values = {name: told.get(name, _DEFAULTS.get(name)) for name in free}
    kept = [name for name in unset if name and (name not in free or values[name] is not None or name in _ALWAYS)]
    names = _with_names(",".join(kept), without_nulls(values))
    return {**after, **values, "unset": names}


_ALWAYS: Final = frozenset(("emotion_vector",))
"""Named in `unset` even without a value, as for a new memory."""


def _columns(appraisal: Appraisal, content: Row, owner: str | None) -> dict[str, Any]:
    """What the appraisal says, by column, in stored form."""
    state = appraisal.resolution_state
    columns = {
        "energy": appraisal.energy,
        "emotion_vector": orjson.dumps(dict(appraisal.emotions)).decode() if appraisal.emotions else None,
        "goal": appraisal.goal,
        "resolution_state": None if state is None else state.value,
        "importance": appraisal.importance,
        "result": appraisal.result,
        "rule": appraisal.rule if may_rule(content, owner) else None,
        "step": appraisal.step if content["node_type"] in UNTYPED else None,
    }
    return without_nulls(columns)


def _with_names(unset: str | None, names: Collection[str]) -> str | None:
    """`unset` with more names, each once."""
    listed = [name for name in (unset or "").split(",") if name]
    return ",".join(dict.fromkeys((*listed, *names))) or None
