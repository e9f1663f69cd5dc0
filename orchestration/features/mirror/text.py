"""The text of a mirror's files, and what a person changed in it, as commands. Pure.

An atom is a heading, a block of YAML, the text of a memory, its links. A person adds one as `## [new] Name`, and
edits the values of the block or the text of any other. Each atom names the version that was written. It is
compared with that version, not with the present: so an atom that nobody touched is no edit however stale it is,
and one that was edited here and changed there is a conflict.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from difflib import unified_diff
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson
import yaml
from pydantic import ValidationError

from orchestration.features.mirror.queries import LABEL_READ
from schemas.commands import Command, Correct, Remember, Retract
from schemas.temporal import END_OF_TIME, Instant, to_datetime
from substrate.bitemporal import Record
from substrate.store.rows import shown_name

NEW: Final = "new"
"""The id of an atom that a person adds: `## [new] Name`."""
MOST_HEADING: Final = 100
MOST_SNIPPET: Final = 80

TEXTS: Final = (
    "name", "node_type", "goal", "resolution_state", "step", "abstraction", "result", "rule", "severity",
    "felt_quality", "body_sensation",
)  # fmt: skip
NUMBERS: Final = ("energy", "confidence", "importance", "intensity")
LISTS: Final = ("tags", "buckets", "aliases")
EMOTIONS: Final = "emotion_vector"
TIMES: Final = ("valid_at", "invalid_at")
EDITABLE: Final = (*TEXTS, *NUMBERS, *LISTS, EMOTIONS, *TIMES)
SHOWN_ONLY: Final = ("created_at", "speaker", "source", "author", "episode_id", "made_tags", "unset")
"""Fields that a person sees and cannot change."""
_ORDER: Final = (
    "name", "node_type", "speaker", "tags", "buckets", "made_tags", "aliases", "valid_at", "invalid_at",
    "created_at", "energy", "confidence", EMOTIONS, "felt_quality", "body_sensation", "goal", "resolution_state",
    "step", "importance", "intensity", "result", "rule", "severity", "abstraction", "source", "author",
    "episode_id", "unset",
)  # fmt: skip

_JSON: Final = frozenset((*LISTS, EMOTIONS))
_HEADING: Final = re.compile(r"## \[([^\]]*)\][ \t]*(.*)\Z")
_NOTHING: Final = ("", "null", "~")
_NOT_IN_ANCHORS: Final = re.compile(r"[^\w -]")


class Atom(NamedTuple):
    """A memory as a mirror shows it: `fields` has those of `_ORDER` that it has, in the form of the commands.

    Times are ISO texts. `version` is None for one that a person added.
    """

    id: str
    version: int | None
    text: str
    fields: Mapping[str, Any]


class ShownLink(NamedTuple):
    """A link in the list of an atom: its type, the words for its target, and the relative address of that."""

    relation_type: str
    label: str
    address: str


class Section(NamedTuple):
    """An atom of a file with the words of its heading and the line at which it begins.

    `faults`: why it cannot be read; the atom then has only an id.
    """

    line: int
    heading: str
    atom: Atom
    faults: tuple[str, ...] = ()


class ParsedFile(NamedTuple):
    """`front`: the front matter as strings and lists of strings."""

    front: Mapping[str, Any]
    sections: Sequence[Section]


def atom_of(record: Record) -> Atom:
    """The atom of a stored record."""
    content = record.content
    fields: dict[str, Any] = {}
    for name in _ORDER:
        value = content.get(name)
        if name in _JSON and isinstance(value, str):
            value = orjson.loads(value)
        elif name == "unset":
            value = [each for each in (value or "").split(",") if each]
        if value not in (None, "", [], {}):
            fields[name] = tuple(value) if isinstance(value, list) else value
    fields["valid_at"], fields["created_at"] = iso_time(record.valid.start), iso_time(record.known.start)
    if record.valid.end < END_OF_TIME:
        fields["invalid_at"] = iso_time(record.valid.end)
    return Atom(record.id, record.version, content.get("description") or "", fields)


def label(atom_id: str, name: str, speaker: str | None, text: str | None) -> str:
    """The words of the heading of a memory: its name if that fits, else its first words."""
    shown = shown_name(atom_id, name, speaker, (text or "")[:LABEL_READ])
    return shown if is_heading(shown) else snippet(shown) or snippet((text or "")[:LABEL_READ])


def label_of(atom: Atom) -> str:
    return label(atom.id, atom.fields.get("name", ""), atom.fields.get("speaker"), atom.text)


def iso_time(instant: Instant) -> str:
    return to_datetime(instant).isoformat().replace("+00:00", "Z")


def snippet(label: str) -> str:
    """The first words of a name or text, on one line of at most 80 characters."""
    line = " ".join(CONTROL.sub(" ", label).split())
    if len(line) <= MOST_SNIPPET:
        return line
    return f"{line[: MOST_SNIPPET + 1].rpartition(' ')[0] or line[:MOST_SNIPPET]}…"


def is_heading(name: str) -> bool:
    """True when a name can stand in a heading unchanged; another one stands in the block."""
    return name == " ".join(name.split()) and len(name) <= MOST_HEADING and name.isprintable() and name != ""


def heading(atom_id: str, words: str) -> str:
    """The heading of an atom; brackets in an id would end it early and become round."""
    return f"## [{heading_id(atom_id)}] {words}".rstrip()


def heading_id(atom_id: str) -> str:
    """The id as it stands in a heading."""
    return CONTROL.sub(" ", atom_id).replace("[", "(").replace("]", ")")


def anchor(line: str) -> str:
    """The fragment under which a Git host finds a heading."""
    return _NOT_IN_ANCHORS.sub("", line.removeprefix("## ").lower()).replace(" ", "-")


def render_atom(atom: Atom, words: str, links: Sequence[ShownLink], more: int) -> str:
    """The atom with its heading and a rule below it. `more`: how many links are not shown."""
    shown = {name: atom.fields[name] for name in _ORDER if name in atom.fields}
    if shown.get("name") == words and is_heading(words):
        del shown["name"]
    block = render_block({"id": atom.id, "version": atom.version, **shown})
    parts = [heading(atom.id, words), f"```yaml\n{block}```"]
    if atom.text:
        parts.append(guard(atom.text))
    if links:
        lines = [LINKS_MARK, ""]
        for link in links:
            label = re.sub(r"([\\\[\]<>`*_])", r"\\\1", link.label)
            lines.append(f"- {link.relation_type} → [{label}]({link.address})")
        if more:
            lines.append(f"- and {more:,} more")
        parts.append("\n".join(lines))
    return "\n\n".join((*parts, RULE)) + "\n"


def parse_file(text: str) -> ParsedFile:
    """The atoms of a file. What stands before the first heading of an atom is not read, except front matter."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    starts = [place for place, line in enumerate(lines) if _HEADING.match(line)]
    ends = [*starts[1:], len(lines)][: len(starts)]
    sections = [_parse_section(start + 1, lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    head = lines[: starts[0] if starts else len(lines)]
    end = next((place for place, line in enumerate(head[1:], 1) if line.rstrip() == RULE), None)
    front: Mapping[str, Any] = {}
    if end is not None and head[0].rstrip() == RULE:
        with suppress(ValueError):  # only an added atom is read with it, and shows in the diff without its tag
            front = parse_block("\n".join(head[1:end]))
    return ParsedFile(front, sections)


def _parse_section(number: int, lines: Sequence[str]) -> Section:
    found = _HEADING.match(lines[0])
    shown_id, words = (found[1].strip(), found[2].rstrip()) if found else ("", "")
    block, body = _split_block(list(lines[1:]))
    nothing = Atom(shown_id, None, "", {})
    try:
        values = {} if block is None else parse_block("\n".join(block))
        text, faults = _parse_body(body)
        if faults:
            return Section(number, words, nothing, faults)
        return Section(number, words, _parse_atom(shown_id, words, values, text))
    except ValueError as fault:
        return Section(number, words, nothing, (f"its block {fault}",))


def _split_block(lines: list[str]) -> tuple[list[str] | None, list[str]]:
    begin = next((place for place, line in enumerate(lines) if line.strip()), None)
    if begin is None or lines[begin].rstrip() != "```yaml":
        return None, lines
    end = next((place for place in range(begin + 1, len(lines)) if lines[place].rstrip() == "```"), len(lines))
    return lines[begin + 1 : end], lines[end + 1 :]


def _parse_body(lines: list[str]) -> tuple[str, tuple[str, ...]]:
    """The text of an atom, and what is wrong below it."""
    lines = _without_blank_ends(lines)
    if lines and lines[-1].rstrip() == RULE:
        lines = _without_blank_ends(lines[:-1])
    mark = next((place for place, line in enumerate(lines) if line.rstrip() == LINKS_MARK), None)
    if mark is not None:
        below = [line for line in lines[mark + 1 :] if line.strip() and not line.startswith("- ")]
        if below:
            return "", (f"{below[0][:60]!r} stands below its links, where nothing is read: move it above them",)
        lines = _without_blank_ends(lines[:mark])
    return unguard("\n".join(lines)), ()


def _without_blank_ends(lines: list[str]) -> list[str]:
    held = [place for place, line in enumerate(lines) if line.strip()]
    return lines[held[0] : held[-1] + 1] if held else []


def _parse_atom(shown_id: str, words: str, values: dict[str, Any], text: str) -> Atom:
    """Raises ValueError for a block without its id or version, or with a value of another kind."""
    atom_id, version = values.pop("id", None), values.pop("version", None)
    if shown_id in ("", NEW) and atom_id is None:
        atom_id, version = NEW, None
    elif not isinstance(atom_id, str) or not isinstance(version, str) or not version.isdecimal():
        raise ValueError("has lost its id or version: put them back, or remove the whole part")
    elif heading_id(atom_id).strip() != shown_id:
        raise ValueError(f"has the id {atom_id}, but the heading {shown_id}")
    unknown = sorted(values.keys() - {*EDITABLE, *SHOWN_ONLY})
    if unknown:
        raise ValueError(f"has {', '.join(unknown)}, which no memory has")
    fields = {name: read for name, value in values.items() if (read := _read(name, value)) not in (None, (), {})}
    fields.setdefault("name", words)
    return Atom(atom_id, None if version is None else int(version), text, fields)


def _read(name: str, value: Any) -> Any:
    """The value of a field; None, () or {} for one that is left empty. Raises ValueError for another kind."""
    if name in (*LISTS, "made_tags", "unset"):
        items = [] if value in _NOTHING else [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError(f"has in {name} no list of words such as [one, two]")
        return tuple(items)
    if name == EMOTIONS:
        if not isinstance(value, dict) and value not in _NOTHING:
            raise ValueError(f"has in {name} no map such as {{joy: 0.5}}")
        return {key: _number(name, each) for key, each in value.items()} if isinstance(value, dict) else {}
    if not isinstance(value, str):
        raise ValueError(f"has in {name} a list or a map, where a word belongs")
    if name in NUMBERS:
        return None if value in _NOTHING else _number(name, value)
    return value or None


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise ValueError(f"has in {name} something that is no number")


LINKS_MARK: Final = "<!-- links: shown here, not read back -->"
"""The line between the text of a memory and the list of its links."""
RULE: Final = "---"
"""The line below each memory."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_GUARDED: Final = re.compile(
    r"( {0,3})(\\*)(?=## \[|---[ \t]*\Z|`{3}|~{3}|<[!?]|</?(?:script|pre|style|textarea)\b)", re.IGNORECASE
)
"""Lines that mean something to the file, with the backslashes that guard them."""
_ALWAYS: Final = re.compile(r" {0,3}(?:## \[|<[!?]|</?(?:script|pre|style|textarea)\b)", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"&((?:amp;)*)#([0-9]{1,5});")
CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_EDGES: Final = re.compile(r"\A\s|\s\Z")


def guard(text: str) -> str:
    """The text as it stands in a file; `unguard` gives it back exactly."""
    text = _REFERENCE.sub(r"&amp;\1#\2;", text)
    text = CONTROL.sub(_reference, text)
    text = _EDGES.sub(_reference, text)
    lines = text.split("\n")
    open_fence = _open_fence(lines)
    last = max((place for place, line in enumerate(lines) if line.strip()), default=0)
    guarded: list[str] = []
    for place, line in enumerate(lines):
        always = place == open_fence or (place == last and line.rstrip() == RULE)
        found = _GUARDED.match(line)
        # One backslash more, for a line that needs it or that has some already.
        needs = found is not None and (always or found[2] or _ALWAYS.match(line))
        guarded.append(f"{found[1]}\\{line[found.end(1) :]}" if found is not None and needs else line)
    return "\n".join(guarded)


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _open_fence(lines: Sequence[str]) -> int | None:
    """The line of a code fence that is never closed: the rest of the file would become code."""
    opened, mark = None, ""
    for place, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        if opened is None:
            opened, mark = place, found[1]
        elif found[1].startswith(mark) and line.strip() == found[1]:
            opened = None
    return opened


def unguard(text: str) -> str:
    """The text of which `guard` made this one."""
    lines = []
    for line in text.split("\n"):
        found = _GUARDED.match(line)
        if found is not None and found[2]:
            line = f"{found[1]}{line[found.end(1) + 1 :]}"
        lines.append(line)
    return _REFERENCE.sub(_character, "\n".join(lines))


def _character(found: re.Match[str]) -> str:
    if found[1]:
        return f"&{found[1].removeprefix('amp;')}#{found[2]};"
    return chr(int(found[2]))


_MOST_PLAIN: Final = 100
_PLAIN_WORD: Final = re.compile(r"[^\W\d_][\w-]*(?: [\w-]+)*\Z")
_YAML_WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_UNPRINTED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def render_block(values: Mapping[str, Any]) -> str:
    """Lines of YAML, one a value."""
    return "".join(f"{name}: {_render(value)}\n" for name, value in values.items())


def _render(value: Any) -> str:
    if isinstance(value, str):
        if len(value) <= _MOST_PLAIN and _PLAIN_WORD.match(value) and value.lower() not in _YAML_WORDS:
            return value
        text = orjson.dumps(value.encode("utf-8", "replace").decode()).decode()
        return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_render, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{_render(str(key))}: {_render(each)}" for key, each in value.items()]) + "}"
    return orjson.dumps(value).decode()


def parse_block(text: str) -> dict[str, Any]:
    """The values of a block or of front matter, as strings, lists and maps. Raises ValueError.

    It reads the events of the parser itself: a loader follows deep nesting until the process dies, and aliases
    until its memory is full.
    """
    events = yaml.parse(text, Loader=yaml.CBaseLoader)
    try:
        values = _build((event for event in events if not isinstance(event, _FRAME)), _DEEPEST)
    except StopIteration:
        return {}
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError(f"is no YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(values, dict):
        raise ValueError("is no list of `name: value`")
    return values


_FRAME: Final = (yaml.StreamStartEvent, yaml.DocumentStartEvent)
_CLOSING: Final = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_DEEPEST: Final = 3


def _build(events: Iterator[Any], depth: int) -> Any:
    """The next value; None at the end of a list or map. Raises StopIteration where there is none."""
    event = next(events)
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, _CLOSING):
        return None
    if isinstance(event, yaml.StreamEndEvent):
        raise StopIteration
    if not isinstance(event, yaml.CollectionStartEvent) or depth == 0:
        raise ValueError("has an alias, or lists in lists: neither is read")
    parts = list(iter(lambda: _build(events, depth - 1), None))
    if isinstance(event, yaml.SequenceStartEvent):
        return parts
    if not all(isinstance(part, str) for part in parts[::2]):
        raise ValueError("has a list where a name belongs")
    return dict(zip(parts[::2], parts[1::2], strict=True))


_ALWAYS_SET: Final = frozenset(("node_type", "energy", "confidence", "name", "valid_at"))
"""Fields that every memory has: one whose line a person removed stays what it was."""


class FoundAtom(NamedTuple):
    """An atom in a file. `bucket` and `tag`: of the front matter, for a memory that a person added."""

    path: str
    section: Section
    bucket: str | None = None
    tag: str | None = None

    @property
    def where(self) -> str:
        return f"{self.path}:{self.section.line}"


class StoredMemory(NamedTuple):
    """What the store has of a memory: as it was when the mirror was written, and its version now.

    `base` is None when the store never had that version; `version` when the memory does not hold now.
    """

    base: Atom | None
    version: int | None


class WrittenPlace(NamedTuple):
    """The file and the version in which a memory was written."""

    path: str
    version: int

    @property
    def where(self) -> str:
        return self.path


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
    owner: Owner,
    found: Sequence[FoundAtom],
    missing: Mapping[str, WrittenPlace],
    known: Mapping[str, StoredMemory],
) -> Edits:
    """The commands that make the store say what the files say.

    `missing`: the file and the written version of each memory that stands in no file any more. `known`: for the
    ids of both. Sent twice, the commands are the same. A file with a part that cannot be read removes nothing.
    """
    outcomes: list[Edit | Refusal | None] = []
    for each in found:
        outcomes += [Refusal(each.path, f"{each.where}: {fault}") for fault in each.section.faults]
    unread = {each.path for each in found if each.section.faults}
    by_id: defaultdict[str, list[FoundAtom]] = defaultdict(list)
    for each in found:
        if not each.section.faults:
            by_id[each.section.atom.id].append(each)
    for atom_id, copies in by_id.items():
        if atom_id == NEW:
            outcomes += [_added(owner, each) for each in copies]
        else:
            outcomes.append(_changed(owner, copies, *known[atom_id]))
    for atom_id, written in missing.items():
        if written.path not in unread:
            outcomes.append(_removed(owner, atom_id, written, known[atom_id]))
    edits = [each for each in outcomes if isinstance(each, Edit)]
    return Edits(edits, [each for each in outcomes if isinstance(each, Refusal)])


def _has_other_heading(section: Section, base: Atom) -> bool:
    """True when a person changed a heading that only shows the beginning of a text."""
    name = base.fields.get("name")
    return section.atom.fields.get("name") == name and section.heading not in (name, label_of(base))


def _changed(
    owner: Owner, copies: Sequence[FoundAtom], base: Atom | None, version: int | None
) -> Edit | Refusal | None:
    """The outcome of an edited memory; None when no copy was edited. See `StoredMemory`."""
    if base is not None:  # else all of its copies count
        told = [(each, each.section) for each in copies]
        copies = [each for each, own in told if _has_other_heading(own, base) or any(_differences(own.atom, base))]
    if not copies:
        return None
    first, *others = copies
    atom = first.section.atom
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
        return Refusal(first.path, f"{first.where}: {fault}")
    return _correction(owner, first, base)


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
    if name in (*TIMES, "created_at") and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return value
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return value


def _correction(owner: Owner, found: FoundAtom, base: Atom) -> Edit | Refusal:
    atom = found.section.atom
    changes = list(_differences(atom, base))
    fixed = [name for name, *_ in changes if name in SHOWN_ONLY]
    if fixed:
        return Refusal(found.path, f"{found.where}: {', '.join(fixed)} of {atom.id} cannot be changed here")
    if _has_other_heading(found.section, base):
        reason = f"the heading of {atom.id} is made of its text and name: edit these"
        return Refusal(found.path, f"{found.where}: {reason}")
    fields: dict[str, Any] = {}
    for name, _, after in changes:  # an emptied text or list is empty, another emptied value None
        empty = "" if name == "description" else () if name in LISTS else None
        fields[name] = (after or empty) if name == "description" or after is None else after
    raw = {**owner.fields, "id": atom.id, "expected_version": base.version, **fields}
    shown = [line for name, before, after in changes for line in _show(name, before, after)]
    return _make(Correct, owner, raw, place=found, shown=(f"correct {atom.id} ({found.where})", *shown))


def _make(
    kind: type[Command],
    owner: Owner,
    raw: dict[str, Any],
    *,
    place: FoundAtom | WrittenPlace,
    shown: tuple[str, ...],
) -> Edit | Refusal:
    named = orjson.dumps([owner.known_at, kind.__name__, raw], default=str, option=orjson.OPT_SORT_KEYS)
    command_id = f"mirror:{blake2b(named, digest_size=10).hexdigest()}"
    try:
        return Edit(place.path, kind.model_validate({"command_id": command_id, **raw}), shown)
    except ValidationError as error:
        faults = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors(include_url=False)]
        told = "; ".join(f"{name}: {message}" if name else message for name, message in faults)
        return Refusal(place.path, f"{place.where}: {told}")


def _show(name: str, before: Any, after: Any) -> list[str]:
    if name != "description":
        sides = (("-", before), ("+", after))
        return [f"{sign} {name}: {_plain(value)}" for sign, value in sides if value not in (None, ())]
    old, new = (guard(text or "").split("\n") if text else [] for text in (before, after))
    return [line for line in list(unified_diff(old, new, n=1, lineterm=""))[2:] if not line.startswith("@@")]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _added(owner: Owner, found: FoundAtom) -> Edit | Refusal:
    """A memory that a person added, under the bucket and tag of its file."""
    atom = found.section.atom
    fields = {name: value for name, value in atom.fields.items() if name in EDITABLE}
    for name, own in (("buckets", found.bucket), ("tags", found.tag)):
        if own is not None and name not in fields:
            fields[name] = (own,)
    if not fields.get("name"):
        fields["name"] = snippet(atom.text)
    raw = {**owner.fields, "description": atom.text, **fields}
    lines = [f"+ {name}: {_plain(value)}" for name, value in fields.items()]
    shown = (f"remember ({found.where})", *lines, *_show("description", "", atom.text))
    return _make(Remember, owner, raw, place=found, shown=shown)


def _removed(owner: Owner, atom_id: str, written: WrittenPlace, known: StoredMemory) -> Edit | Refusal | None:
    """A memory that stands in no file any more; None when it does not hold any more."""
    path, version = written
    if known.version is None:
        return None
    if known.version != version:
        reason = f"conflict: {atom_id} was removed, but has version {known.version} now, and it was {version}"
        return Refusal(path, f"{path}: {reason}")
    raw = {**owner.fields, "id": atom_id, "expected_version": version}
    label = "" if known.base is None else snippet(known.base.text or str(known.base.fields.get("name", "")))
    return _make(Retract, owner, raw, place=written, shown=(f"retract {atom_id} ({path})", f"- {label}"))
