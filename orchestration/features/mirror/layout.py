"""Where each memory lies in a mirror: `@bucket/#tag/Source_Name_PathHash.md`, at most 100 a file. Pure.

A memory lies under its first bucket and the most common of its given tags, with what came from the same source.
The hash is that of the whole names: no two files meet, also where a file system ignores case or a name was cut.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from statistics import fmean
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import orjson

from orchestration.features.mirror import text as markdown
from orchestration.features.mirror.queries import KeyRow
from orchestration.features.mirror.text import Atom, ShownLink, label
from schemas.base import without_nulls
from schemas.collectives import owner_of
from schemas.errors import InvalidRequest
from schemas.memory import GraphKey, Level, collective_of, graph_fields, level_of
from schemas.temporal import END_OF_TIME, Instant, to_datetime
from substrate.graphs.names import GraphOf
from substrate.language.text import count_of

ATOMS_A_FILE: Final = 100
CHARACTERS_A_FILE: Final = 1_000_000
LINKS_SHOWN: Final = 50
INDEX: Final = "README.md"
NO_BUCKET: Final = "general"
NO_TAG: Final = "untagged"
TAGS_INDEXED: Final = 1000
_MOST_NAME: Final = 60
_IN_ADDRESSES: Final = "/@~"


class MirrorOf(GraphOf):
    """What a mirror shows: the memory of a citizen, or a shared graph."""

    @property
    def name(self) -> str:
        return owner_of(self.key, self.citizen_id)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields by which a command goes to its graph."""
        return {"citizen_id": self.citizen_id} if self.key == Level.N1 else dict(graph_fields(self.key))

    @property
    def folder(self) -> str:
        """Its folder. No id of a citizen begins with `_`, as `_n2`, `_n3` and `_n2.atlas` do."""
        collective = collective_of(self.key)
        whose = self.citizen_id or collective
        shared = "" if self.key == Level.N1 else f"_{level_of(self.key).lower()}{'.' if collective else ''}"
        return f"{shared}{citizen_folder(whose) if whose else ''}"

    def front(self) -> dict[str, str | None]:
        """The line of the front matter that names it."""
        return {"citizen": self.citizen_id} if self.key == Level.N1 else {"graph": self.key}


class AtomKey(NamedTuple):
    """What the layout needs of a memory. `made`: its tags were made at ingestion, and decide no place.

    `length`: the characters of its text. `made_tags`: those that upkeep made.
    """

    id: str
    version: int
    created_at: Instant
    valid_at: Instant
    label: str
    source: str
    tags: Sequence[str] = ()
    buckets: Sequence[str] = ()
    made: bool = False
    length: int = 0
    made_tags: Sequence[str] = ()


def key_of(row: KeyRow) -> AtomKey:
    """The key of a memory of its columns."""
    words = label(row.id, row.name, row.speaker, row.text)
    path = orjson.loads(row.extra).get("path") if row.extra else None
    source = path if isinstance(path, str) and path else row.episode_id or row.source or "citizen"
    tags, buckets = (orjson.loads(names or "[]") for names in (row.tags, row.buckets))
    made = "tags" in (row.unset or "").split(",")
    length = row.length or 0
    return AtomKey(
        row.id, row.version or 1, row.created_at, row.valid_at, words, source, tags, buckets, made, length
    )


class Bundle(NamedTuple):
    """One file. `bucket` and `tag`: None where its memories have none. `before`, `after`: the pages beside it."""

    path: str
    bucket: str | None
    tag: str | None
    source: str
    page: int
    atoms: Sequence[AtomKey]
    before: str | None = None
    after: str | None = None

    @property
    def length(self) -> int:
        return sum(atom.length for atom in self.atoms)

    @property
    def title(self) -> str:
        return f"{markdown.snippet(self.source)}{f' ({self.page})' if self.page > 1 else ''}"


class FilePlace(NamedTuple):
    """The file in which a memory stands."""

    path: str
    atom: AtomKey


class Plan(NamedTuple):
    """All files of a mirror but the index. `links`: type and target of each, by the id of their memory."""

    bundles: Sequence[Bundle]
    places: Mapping[str, FilePlace]
    links: Mapping[str, Sequence[tuple[str, str]]]

    def digest(self, bundle: Bundle) -> str:
        """A digest of all that decides the text of the file."""
        targets = [
            (kind, target_id, place.path, place.atom.label)
            for atom in bundle.atoms
            for kind, _, target_id, place in self._targets(atom.id)
        ]
        inputs = [bundle.before, bundle.after, list(map(tuple, bundle.atoms)), targets]
        return blake2b(orjson.dumps(inputs, default=list), digest_size=16).hexdigest()

    def _targets(self, atom_id: str) -> list[tuple[str, Instant, str, FilePlace]]:
        """Type, time, id and place of the target of each link, in this order."""
        own = [(kind, target_id, self.places[target_id]) for kind, target_id in self.links.get(atom_id, ())]
        return sorted([(kind, place.atom.valid_at, target_id, place) for kind, target_id, place in own])

    def shown_links(self, atom_id: str) -> tuple[list[ShownLink], int]:
        """The first links of a memory, and how many more it has."""
        here, own = self.places[atom_id].path, self._targets(atom_id)
        shown: list[ShownLink] = []
        for kind, _, _, (path, atom) in own[:LINKS_SHOWN]:
            fragment = f"#{quote(markdown.anchor(markdown.heading(atom.id, atom.label)), safe='')}"
            shown.append(ShownLink(kind, atom.label, fragment if path == here else f"{relative(path)}{fragment}"))
        return shown, max(0, len(own) - LINKS_SHOWN)


def make_plan(atoms: Iterable[AtomKey], links: Iterable[Sequence[str]]) -> Plan:
    """The files of a mirror and the links that each atom shows. The order of the arguments makes no difference.

    `links`: source, target and type of each.
    """
    bundles = sorted(_bundles(atoms), key=lambda each: (each.path.rpartition("/")[0], each.source, each.page))
    places = {atom.id: FilePlace(bundle.path, atom) for bundle in bundles for atom in bundle.atoms}
    by_source: dict[str, list[tuple[str, str]]] = {}
    for source_id, target_id, relation_type in links:
        if source_id in places and target_id in places:
            by_source.setdefault(source_id, []).append((relation_type, target_id))
    return Plan(bundles, places, by_source)


def _bundles(atoms: Iterable[AtomKey]) -> Iterator[Bundle]:
    atoms = list(atoms)
    sizes: Counter[str] = Counter()
    for atom in atoms:
        sizes.update(() if atom.made else atom.tags)
    groups: dict[tuple[str | None, str | None, str], list[AtomKey]] = {}
    for atom in sorted(atoms, key=attrgetter("valid_at", "id")):
        bucket = next(iter(atom.buckets), None)
        tag = None if atom.made else max(atom.tags, key=sizes.__getitem__, default=None)
        groups.setdefault((bucket, tag, atom.source), []).append(atom)
    folder_of, readable = cache(folder_name), cache(_readable)  # few names, in many groups
    for (bucket, tag, source), members in groups.items():
        folder = f"{folder_of('@', bucket, NO_BUCKET)}/{folder_of('#', tag, NO_TAG)}"
        stem = f"{folder}/{readable(source) or 'source'}_{path_hash(bucket, tag, source)}"
        pages = list(_pages(members))
        paths = [f"{stem}{f'_{number}' if number > 1 else ''}.md" for number in range(1, len(pages) + 1)]
        for place, page in enumerate(pages):
            before = paths[place - 1] if place else None
            after = paths[place + 1] if place + 1 < len(paths) else None
            yield Bundle(paths[place], bucket, tag, source, place + 1, page, before, after)


def _pages(members: Sequence[AtomKey]) -> Iterator[Sequence[AtomKey]]:
    """At most 100 atoms a page, and fewer long ones."""
    page: list[AtomKey] = []
    length = 0
    for atom in members:
        if page and (len(page) == ATOMS_A_FILE or length + atom.length > CHARACTERS_A_FILE):
            yield page
            page, length = [], 0
        page.append(atom)
        length += atom.length
    if page:
        yield page


def relative(path: str) -> str:
    """The address of a file from any other file: both lie two folders deep."""
    return f"../../{quote(path, safe=_IN_ADDRESSES)}"


def folder_name(prefix: str, name: str | None, otherwise: str) -> str:
    """A folder for a bucket or tag: its name, if any file system keeps it as it is, else with a hash behind."""
    if name is None:
        return f"{prefix}{otherwise}"
    readable = _readable(name)
    if readable == name == name.lower() and name != otherwise:
        return f"{prefix}{name}"
    return f"{prefix}{readable}{'~' if readable else ''}{path_hash(name)}"


def citizen_folder(citizen_id: str) -> str:
    """The folder of a citizen. Names that differ only in case, or that Windows keeps for itself, get a hash."""
    plain = citizen_id == citizen_id.lower() and not citizen_id.endswith(".")
    reserved = citizen_id.split(".")[0] in _RESERVED
    return citizen_id if plain and not reserved else f"{citizen_id.rstrip('.')}~{path_hash(citizen_id)}"


_RESERVED: Final = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)))
)


def path_hash(*names: str | None) -> str:
    """Eight characters that tell the whole names apart."""
    whole = orjson.dumps([None if name is None else name.encode("utf-8", "replace").decode() for name in names])
    return blake2b(whole, digest_size=4).hexdigest()


def _readable(name: str) -> str:
    """The name with letters, digits, `-` and `_` alone, emoji among them, at most 60 characters and 120 bytes."""
    normal = unicodedata.normalize("NFC", name)
    kept = "".join(
        char if (char.isalnum() or char in "-_" or unicodedata.category(char) in ("So", "Mn", "Mc")) else "_"
        for char in normal
    )
    short = "_".join(part for part in kept.split("_") if part)[:_MOST_NAME]
    return short.encode("utf-8", "replace")[: 2 * _MOST_NAME].decode("utf-8", "ignore").rstrip("_")


def is_place(path: str) -> bool:
    """True for a path that a mirror may have: two folders and a file, or the index. None leads elsewhere."""
    if path == INDEX:
        return True
    bucket, _, rest = path.partition("/")
    tag, _, name = rest.partition("/")
    parts = (bucket, tag, name)
    clean = all(part not in ("", ".", "..") and part.isprintable() and "\\" not in part for part in parts)
    return clean and "/" not in name and bucket[0] == "@" and tag[0] == "#" and name.endswith(".md")


def render_bundle(plan: Plan, bundle: Bundle, of: MirrorOf, atoms: Mapping[str, Atom]) -> bytes:
    """The bytes of a file. A memory that is missing from `atoms`, because it was erased meanwhile, is left out."""
    held = [(key, atoms[key.id]) for key in bundle.atoms if key.id in atoms]
    parts = [render_head(bundle, of, summary([atom for _, atom in held]))]
    for key, atom in held:
        made_tags = {"made_tags": key.made_tags} if key.made_tags else {}
        whole = atom._replace(fields={**atom.fields, **made_tags})
        parts.append(markdown.render_atom(whole, key.label, *plan.shown_links(key.id)))
    return "\n".join(parts).encode("utf-8", "replace")


def summary(atoms: Sequence[Atom]) -> dict[str, object]:
    """Times and felt metadata of a file: first and last beginning, mean energy, the three strongest feelings."""
    if not atoms:
        return {}
    begins = sorted(str(atom.fields["valid_at"]) for atom in atoms)
    felt: Counter[str] = Counter()
    for atom in atoms:
        felt.update(atom.fields.get("emotion_vector", {}))
    strongest = {name: round(total / len(atoms), 3) for name, total in felt.most_common(3)}
    states = Counter(str(state) for atom in atoms if (state := atom.fields.get("resolution_state")))
    return {
        "from": begins[0],
        "until": begins[-1],
        "energy": round(fmean(atom.fields.get("energy", 0.5) for atom in atoms), 3),
        "confidence": round(fmean(atom.fields.get("confidence", 0.5) for atom in atoms), 3),
        **({"emotions": strongest} if strongest else {}),
        **({"states": dict(sorted(states.items()))} if states else {}),
    }


def render_head(bundle: Bundle, of: MirrorOf, fields: Mapping[str, object]) -> str:
    """Front matter, title and ways to other pages. `fields` are the times and the felt metadata of its atoms."""
    tags: dict[str, None] = {}
    for tag in (tag for atom in bundle.atoms for tag in atom.tags):
        # As Obsidian takes it: without spaces, and not of digits alone.
        kept = "".join(char if char.isalnum() or char in "-_/" else "-" for char in tag).strip("-/")
        if any(not char.isdigit() for char in kept):
            tags[kept] = None
    front = {
        **of.front(),
        **without_nulls({"bucket": bundle.bucket, "tag": bundle.tag}),
        "source": bundle.source,
        "page": bundle.page,
        "memories": len(bundle.atoms),
        **fields,
        "tags": list(tags)[:ATOMS_A_FILE],
    }
    ways = [("Index", INDEX), ("before", bundle.before), ("after", bundle.after)]
    line = " · ".join(f"[{words}]({relative(path)})" for words, path in ways if path is not None)
    return f"---\n{markdown.render_block(front)}---\n\n# {_title(bundle.title)}\n\n{line}\n"


def _title(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\[]<>`*_#" else char for char in text)


def render_index(plan: Plan, of: MirrorOf) -> str:
    """The page from which everything is found: buckets, their tags, the files with their times."""
    atoms = [atom for bundle in plan.bundles for atom in bundle.atoms]
    front = {**of.front(), "memories": len(atoms), "files": len(plan.bundles)}
    parts = [f"---\n{markdown.render_block(front)}---\n\n# The memory of {_title(of.name)}\n\n"]
    parts.append(f"{count_of(len(atoms), 'memory')} in {count_of(len(plan.bundles), 'file')}.\n")
    links = {
        bundle.path: f"[{_title(bundle.title)}]({quote(bundle.path, safe=_IN_ADDRESSES)})"
        for bundle in plan.bundles
    }
    folder = ""
    for bundle in plan.bundles:
        if bundle.path.rpartition("/")[0] != folder:
            folder = bundle.path.rpartition("/")[0]
            bucket = _title(markdown.snippet(NO_BUCKET if bundle.bucket is None else bundle.bucket))
            tag = _title(markdown.snippet(NO_TAG if bundle.tag is None else bundle.tag))
            parts.append(f"\n## @{bucket} / \\#{tag}\n\n")
        first, last = (to_datetime(bundle.atoms[place].valid_at).date().isoformat() for place in (0, -1))
        when = first if first == last else f"{first} to {last}"
        parts.append(f"- {links[bundle.path]}: {count_of(len(bundle.atoms), 'memory')}, {when}\n")
    return "".join((*parts, *_tag_lines(plan, links)))


def _tag_lines(plan: Plan, links: Mapping[str, str]) -> Iterator[str]:
    """For each tag the files with a memory that has it, also where another tag gave the place."""
    files: dict[str, dict[str, str]] = {}
    for bundle in plan.bundles:
        for tag in {tag for atom in bundle.atoms for tag in atom.tags}:
            files.setdefault(tag, {})[bundle.path] = links[bundle.path]
    if files:
        yield "\n## Tags\n\n"
    for tag in sorted(files)[:TAGS_INDEXED]:
        found = list(files[tag].values())
        more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
        yield f"- \\#{_title(markdown.snippet(tag))}: {', '.join(found[:5])}{more}\n"
    if len(files) > TAGS_INDEXED:
        yield f"- and {count_of(len(files) - TAGS_INDEXED, 'tag')} more\n"


VERSION: Final = 1
REMEDY: Final = "Remove the folder, then mirror again."


class FileNote(NamedTuple):
    """A file as it was written: the digest of what decides its text, that of its bytes, and its memories.

    `atoms`: the id and the version of each. `journaled`: digests of bytes that an interrupted run wrote.
    """

    inputs: str
    content: str
    atoms: Sequence[tuple[str, int]] = ()
    journaled: tuple[str, ...] = ()

    def is_ours(self, content: bytes | None) -> bool:
        """True when a file has the bytes that were written, and no person edited it."""
        return content is not None and digest(content) in (self.content, *self.journaled)


class Marker(NamedTuple):
    """What a mirror shows: one moment of one graph. `changes_at`: when it changes without any command.

    `clock`: the last transaction time of the graph then. `memories`, `made_tags`: how many the graph had.
    """

    citizen_id: str | None
    known_at: Instant
    clock: Instant
    memories: int
    made_tags: int = 0
    changes_at: Instant = END_OF_TIME
    files: Mapping[str, FileNote] = {}
    graph: GraphKey = Level.N1

    @property
    def of(self) -> MirrorOf:
        return MirrorOf(self.graph, self.citizen_id)


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def dump_marker(marker: Marker) -> bytes:
    """The marker as JSON, a file a line."""
    fields = marker._asdict()
    fields["files"] = {
        path: [note.inputs, note.content, list(note.atoms)] for path, note in sorted(marker.files.items())
    }
    return orjson.dumps({"substrate": "mirror", "version": VERSION, **fields}, option=orjson.OPT_INDENT_2) + b"\n"


def dump_written(path: str, content: bytes) -> bytes:
    """The line of the journal for a file that is about to be written."""
    return orjson.dumps([path, digest(content)]) + b"\n"


def parse_marker(raw: bytes, journal: bytes | None) -> Marker:
    """Raises InvalidRequest for a marker that is damaged, or that names a place outside."""
    try:
        fields = orjson.loads(raw)
        if fields.pop("substrate") != "mirror" or fields.pop("version") != VERSION:
            raise ValueError("another version")
        files: dict[str, FileNote] = {}
        for path, (inputs, content, held) in fields.pop("files").items():
            atoms = [(str(atom_id), int(version)) for atom_id, version in held]
            files[path] = FileNote(str(inputs), str(content), atoms)
        marker = Marker(files=_with_journal(files, journal or b""), **fields)
        if not marker.of.folder or not all(isinstance(moment, int) for moment in marker[1:6]):
            raise ValueError("times")
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRequest("the marker of the mirror is damaged", remedy=REMEDY) from error
    strange = next((path for path in marker.files if not is_place(path)), None)
    if strange is not None:
        raise InvalidRequest(f"the marker names {strange!r}, which is no place in a mirror", remedy=REMEDY)
    return marker


def _with_journal(files: Mapping[str, FileNote], journal: bytes) -> dict[str, FileNote]:
    noted = dict(files)
    for line in journal.splitlines():
        try:
            path, content = map(str, orjson.loads(line))
        except (orjson.JSONDecodeError, ValueError, TypeError):
            continue  # the last line of a process that was killed while it wrote
        note = noted.get(path, FileNote("", ""))
        noted[path] = note._replace(journaled=(*note.journaled, content))
    return noted
