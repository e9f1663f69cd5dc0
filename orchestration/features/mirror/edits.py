"""What a person changed in the files of a mirror, as commands. Pure.

Each atom names the version that was written. It is compared with that version, not with the present: so an atom
that nobody touched is no edit however stale it is, and one that was edited here and changed there is a conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import unified_diff
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson
from pydantic import ValidationError

from orchestration.features.mirror.text import (
    EDITABLE,
    LISTS,
    NEW,
    SHOWN_ONLY,
    TIMES,
    Atom,
    Section,
    guard,
    label_of,
    snippet,
)
from schemas.commands import Command, Correct, Remember, Retract

_ALWAYS_SET: Final = frozenset(("node_type", "energy", "confidence", "name", "valid_at"))
"""Fields that every memory has: one whose line a person removed stays what it was."""


class Found(NamedTuple):
    """An atom in a file. `bucket` and `tag`: of the front matter, for a memory that a person added."""

    path: str
    section: Section
    bucket: str | None = None
    tag: str | None = None

    @property
    def where(self) -> str:
        return f"{self.path}:{self.section.line}"


class Known(NamedTuple):
    """What the store has of a memory: as it was when the mirror was written, and its version now.

    `base` is None when the store never had that version; `version` when the memory does not hold now.
    """

    base: Atom | None
    version: int | None


class Written(NamedTuple):
    """The file and the version in which a memory was written."""

    path: str
    version: int


class Edit(NamedTuple):
    """A change of a file as a command. `path`: the file. `shown`: the change, a line each."""

    path: str
    command: Command
    shown: tuple[str, ...]


class Refusal(NamedTuple):
    """A change that cannot be applied, and why."""

    path: str
    reason: str


class Edits(NamedTuple):
    edits: Sequence[Edit] = ()
    refusals: Sequence[Refusal] = ()


class Owner(NamedTuple):
    """The fields that name its graph, and the moment that it shows: part of the ids of commands."""

    fields: Mapping[str, Any]
    known_at: int


def decide(
    owner: Owner, found: Sequence[Found], missing: Mapping[str, Written], known: Mapping[str, Known]
) -> Edits:
    """The commands that make the store say what the files say.

    `missing`: the file and the written version of each memory that stands in no file any more. `known`: for the
    ids of both. Sent twice, the commands are the same. A file with a part that cannot be read removes nothing.
    """
    edits: list[Edit] = []
    refusals = [Refusal(each.path, f"{each.where}: {fault}") for each in found for fault in each.section.faults]
    unread = {each.path for each in found if each.section.faults}
    by_id: defaultdict[str, list[Found]] = defaultdict(list)
    for each in found:
        if not each.section.faults:
            by_id[each.section.atom.id].append(each)
    for atom_id, copies in by_id.items():
        if atom_id == NEW:
            outcomes = [_added(owner, each) for each in copies]
        else:
            outcomes = _changed(owner, _differing(copies, known[atom_id].base), known)
        edits += [each for each in outcomes if isinstance(each, Edit)]
        refusals += [each for each in outcomes if isinstance(each, Refusal)]
    for atom_id, written in missing.items():
        outcome = None if written.path in unread else _removed(owner, atom_id, written, known[atom_id])
        edits += [outcome] if isinstance(outcome, Edit) else []
        refusals += [outcome] if isinstance(outcome, Refusal) else []
    return Edits(edits, refusals)


def _differing(copies: Sequence[Found], base: Atom | None) -> list[Found]:
    """The copies of an atom that differ from what was written, or all when that is not known."""
    return [
        each
        for each in copies
        if base is None or _has_other_heading(each.section, base) or any(_differences(each.section.atom, base))
    ]


def _has_other_heading(section: Section, base: Atom) -> bool:
    """True when a person changed a heading that only shows the beginning of a text."""
    name = base.fields.get("name")
    return section.atom.fields.get("name") == name and section.heading not in (name, label_of(base))


def _changed(owner: Owner, copies: Sequence[Found], known: Mapping[str, Known]) -> list[Edit | Refusal]:
    """The outcome of an edited memory; empty when no copy was edited."""
    if not copies:
        return []
    first, *others = copies
    atom = first.section.atom
    base, version = known[atom.id]
    fault = None
    if base is None:
        fault = f"{atom.id} never had version {atom.version}"
    elif any(other.section.atom != atom for other in others):
        places = ", ".join(each.where for each in copies)
        fault = f"{atom.id} stands in several places and says something else in each: {places}"
    elif version is None:
        fault = f"conflict: {atom.id} was retracted, or ended, since the mirror was written"
    elif version != atom.version:
        fault = f"conflict: {atom.id} has version {version} now, and the file was written of {atom.version}"
    if fault is not None or base is None:
        return [Refusal(first.path, f"{first.where}: {fault}")]
    return [_correction(owner, first, base)]


def _differences(atom: Atom, base: Atom) -> Iterator[tuple[str, Any, Any]]:
    """The name of each value that differs, before and after. White space at the ends of lines does not count."""
    if _without_line_ends(atom.text) != _without_line_ends(base.text):
        yield "description", base.text, atom.text
    for name in (*EDITABLE, *(name for name in SHOWN_ONLY if name != "made_tags")):
        before, after = base.fields.get(name), atom.fields.get(name)
        if name in _ALWAYS_SET and after is None:
            continue
        if _comparable(name, before) != _comparable(name, after):
            yield name, before, after


def _without_line_ends(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().split("\n")]


def _comparable(name: str, value: Any) -> Any:
    """A value in which two ways to write the same time are equal."""
    if name in (*TIMES, "created_at") and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return value
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return value


def _correction(owner: Owner, found: Found, base: Atom) -> Edit | Refusal:
    atom = found.section.atom
    changes = list(_differences(atom, base))
    fixed = [name for name, *_ in changes if name in SHOWN_ONLY]
    if fixed:
        return Refusal(found.path, f"{found.where}: {', '.join(fixed)} of {atom.id} cannot be changed here")
    if _has_other_heading(found.section, base):
        reason = f"the heading of {atom.id} is made of its text and name: edit these"
        return Refusal(found.path, f"{found.where}: {reason}")
    fields = {name: _given(name, after) for name, _, after in changes}
    raw = {**owner.fields, "id": atom.id, "expected_version": base.version, **fields}
    command = _make(Correct, owner, raw)
    if isinstance(command, str):
        return Refusal(found.path, f"{found.where}: {command}")
    shown = [line for name, before, after in changes for line in _show(name, before, after)]
    return Edit(found.path, command, (f"correct {atom.id} ({found.where})", *shown))


def _given(name: str, value: Any) -> Any:
    """The value as a command takes it: an emptied list is empty, another emptied value None."""
    if name == "description":
        return value or ""
    return value if value is not None else (() if name in LISTS else None)


def _make(kind: type[Command], owner: Owner, raw: dict[str, Any]) -> Command | str:
    """The command, named by its content; or why it is not valid."""
    named = orjson.dumps([owner.known_at, kind.__name__, raw], default=str, option=orjson.OPT_SORT_KEYS)
    command_id = f"mirror:{blake2b(named, digest_size=10).hexdigest()}"
    try:
        return kind.model_validate({"command_id": command_id, **raw})
    except ValidationError as error:
        faults = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors(include_url=False)]
        return "; ".join(f"{name}: {message}" if name else message for name, message in faults)


def _show(name: str, before: Any, after: Any) -> list[str]:
    """The lines of a diff."""
    if name != "description":
        sides = (("-", before), ("+", after))
        return [f"{sign} {name}: {_plain(value)}" for sign, value in sides if value not in (None, ())]
    old, new = (guard(text or "").split("\n") if text else [] for text in (before, after))
    return [line for line in list(unified_diff(old, new, n=1, lineterm=""))[2:] if not line.startswith("@@")]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _added(owner: Owner, found: Found) -> Edit | Refusal:
    """A memory that a person added, under the bucket and tag of its file."""
    atom = found.section.atom
    fields = {name: value for name, value in atom.fields.items() if name in EDITABLE}
    for name, own in (("buckets", found.bucket), ("tags", found.tag)):
        if own is not None and name not in fields:
            fields[name] = (own,)
    if not fields.get("name"):
        fields["name"] = snippet(atom.text)
    raw = {**owner.fields, "description": atom.text, **fields}
    command = _make(Remember, owner, raw)
    if isinstance(command, str):
        return Refusal(found.path, f"{found.where}: {command}")
    lines = [f"+ {name}: {_plain(value)}" for name, value in fields.items()]
    return Edit(found.path, command, (f"remember ({found.where})", *lines, *_show("description", "", atom.text)))


def _removed(owner: Owner, atom_id: str, written: Written, known: Known) -> Edit | Refusal | None:
    """A memory that stands in no file any more; None when it does not hold any more."""
    path, version = written
    if known.version is None:
        return None
    if known.version != version:
        reason = f"conflict: {atom_id} was removed, but has version {known.version} now, and it was {version}"
        return Refusal(path, f"{path}: {reason}")
    raw = {**owner.fields, "id": atom_id, "expected_version": version}
    command = _make(Retract, owner, raw)
    if isinstance(command, str):
        return Refusal(path, f"{path}: {command}")
    label = "" if known.base is None else snippet(known.base.text or str(known.base.fields.get("name", "")))
    return Edit(path, command, (f"retract {atom_id} ({path})", f"- {label}"))
