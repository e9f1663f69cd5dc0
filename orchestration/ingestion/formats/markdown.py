"""`markdown`: a folder of notes. Pure.

Each file is a document, each heading a section of it. The parser reads front matter (`title`, `date` or `created`,
`author`, `tags`, `aliases`), `#tags`, `[[wikilinks]]`, relative links to other notes, and tasks: `- [ ] sweep 📅
2026-06-20` is also a memory of its own, open until it is ticked. It ignores all of these inside code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from posixpath import dirname, normpath
from posixpath import join as join_path
from typing import Final, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt

from orchestration.appraisal.key_phrases import written_tags
from orchestration.ingestion.formats.notebook import Document, Notebook, Section, day_of, free_key
from orchestration.ingestion.formats.reader import File, FileSet, Format, ParsedFiles, Reader, fault, short_name
from schemas.memory import ResolutionState

FORM: Final = Format(
    "markdown", "a folder of notes, UTF-8 texts whose names end in .md", (".md", ".markdown"), documents=True
)
MAX_TAGS: Final = 64
_NOTION_ID: Final = re.compile(r" [0-9a-f]{32}\Z")
"""Notion's own id of a page, behind its name."""
MOST_LINES: Final = 200_000
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")
_FIELD = re.compile(r"([A-Za-z_][\w -]*):(?:\s+(.*))?\Z")
_ITEM = re.compile(r"\s*-\s+(.+)\Z")
_COMMENT = re.compile(r"(?<!\s)\s+#\s.*\Z")
_TASK = re.compile(
    r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[([ xX/<>-])\][ \t]+(\S.*)|(\S.*[ \t]@(?:due|start|done)(?:\(.*|$)))"
)
_MARKS = re.compile(r"\s*(?:[📅⏳🛫✅➕❌⏰🔁🔺⏫🔼🔽⏬🆔⛔]|@\w+(?:\(|$)|[\[(]\w+::)")
"""What the days and the rank of a task begin with, in Obsidian's plugins and in TaskPaper."""
_OVER = re.compile("[xX-]")
_LINK = re.compile(r"\]\(<?([^()<>\s#?]+\.md)(?:#[^()\s]*)?>?(?:\s+\"[^\"\n]*\")?\)", re.IGNORECASE)

# The id of a section is made of its heading, so the rules for headings must not change: an underlined line is no
# heading, and a line between HTML tags can be one.
_PARSER: Final = MarkdownIt("commonmark").disable(["lheading", "html_block", "reference"])
_PARSER.core.ruler.enableOnly(["normalize", "block"])


class _Block(NamedTuple):
    """A heading and the lines below it. `number`: its line in the file; `depth`: 1 to 6, 0 without a heading."""

    number: int
    depth: int
    heading: str
    lines: list[str]
    prose: list[str]
    """The lines without code, in which tags and links are searched."""
    tasks: list[re.Match[str]]


def parse(files: FileSet) -> ParsedFiles:
    """Parse all files to one notebook.

    The date of a note is the `date` of its front matter, else its `created`, else the day at the start of its name
    (`2024-03-01 Standup.md`), else the time at which its file was changed. Raises InvalidRequest with the name of
    the first file that is empty, has a section that is too long, or an invalid date.
    """
    if files.citizen_id is None:
        raise fault(FORM, files.name, "", "has no owner: name a citizen")
    warnings: list[str] = []
    notes: list[tuple[Document, str]] = []
    for file in sorted(files.files, key=lambda file: file.name):
        reader = Reader(FORM, file.name)
        notes.append(_read_note(reader, file))
        warnings += reader.notes()
    paths = _paths_by_name([document for document, _ in notes])
    documents = []
    for document, prose in notes:
        links = [(name.strip(), name.strip().lower()) for name in _WIKILINK.findall(prose)]
        for target in _LINK.findall(prose):
            if "://" not in target:
                links.append((target, normpath(join_path(dirname(document.path), unquote(target))).lower()))
        known = dict.fromkeys(paths[key] for _, key in links if key in paths)
        dead_links = [name for name, key in links if key not in paths]
        mentions = tuple(target for target in known if target != document.path)
        documents.append(replace(document, mentions=mentions))
        if dead_links:
            warnings.append(
                f"{document.path}: links lead to no note here, such as {dead_links[0]} ({len(dead_links)})"
            )
    return ParsedFiles((Notebook(files.name, files.citizen_id, tuple(documents)),), tuple(warnings))


def _read_note(reader: Reader, file: File) -> tuple[Document, str]:
    """Return the note without its mentions, and its text without code, in which links are searched."""
    text = reader.text(file.text, "", limit=len(file.text)).replace("\r\n", "\n")
    if not text.strip():
        reader.fail("", "is empty")
    if (lines := text.count("\n")) > MOST_LINES:
        reader.fail("", f"has {lines:,} lines; at most {MOST_LINES:,} are read")
    fields, body, first_line = _front_matter(text)
    blocks = _blocks(body, first_line)
    stem = _NOTION_ID.sub("", file.stem)
    heading, opening, *rest = stem, *blocks
    if rest and rest[0].depth == 1 and not "".join(opening.lines).strip():  # it is the title
        heading, opening, *rest = rest[0].heading, *rest
    title = reader.name(fields["title"][0], "front matter, title") if fields.get("title") else heading
    given = tuple(reader.name(name, "front matter, aliases") for name in _given_values(fields, "aliases", "alias"))
    aliases = tuple(dict.fromkeys(name for name in (*given, stem) if name != title))
    named = next((name for name in ("date", "created") if fields.get(name)), None)
    date = None if named is None else reader.moment(fields[named][0], f"front matter, {named}")
    own_date = date or day_of(file.stem)
    authors = [name.strip("[]") for name in _given_values(fields, "author", "authors")]
    document = Document(
        path=file.name,
        title=title,
        text=reader.text("\n".join(opening.lines).strip(), f"line {first_line}"),
        date=own_date or file.modified,
        sections=tuple(_sections(reader, opening, rest)),
        tags=_tags(reader, opening.prose, _given_values(fields, "tags", "tag")),
        aliases=aliases[:MAX_TAGS],
        dated=own_date is not None,
        modified=file.modified,
        author=reader.name(", ".join(authors), "front matter, author")[:200] if any(authors) else None,
    )
    return document, "\n".join(line for block in blocks for line in _prose_of(block))


def _given_values(fields: Mapping[str, Sequence[str]], *names: str) -> Sequence[str]:
    """The values of the first of these fields that the front matter has."""
    return next((fields[name] for name in names if fields.get(name)), ())


def _front_matter(text: str) -> tuple[dict[str, list[str]], str, int]:
    """Return the fields between two `---` at the top, the text below, and the number of its first line.

    Fields are `key: value`, `key: [a, b]`, and `key:` with `- a` lines below; keys are changed to lower case. It
    is not read as YAML, because notes contain `tags: #idea`, which is empty in YAML, and `title: Standup:
    Monday`, which is an error in YAML.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text, 1
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return {}, text, 1
    fields: dict[str, list[str]] = {}
    values: list[str] = []
    for line in lines[1:end]:
        if field := _FIELD.match(line):
            values = fields.setdefault(field[1].strip().lower(), [])
            values += _values(_COMMENT.sub("", field[2] or ""))
        elif item := _ITEM.match(line):
            values += _values(_COMMENT.sub("", item[1]))
    return fields, "\n".join(lines[end + 1 :]), end + 2


def _values(text: str) -> list[str]:
    text = text.strip()
    is_list = text.startswith("[") and text.endswith("]")
    parts = text[1:-1].split(",") if is_list else [text]
    return [plain for part in parts if (plain := part.strip().strip("\"'").strip())]


def _blocks(body: str, first_line: int) -> list[_Block]:
    """Split a note into the block before its first heading and one block per heading."""
    heading_lines: set[int] = set()
    code_lines: set[int] = set()
    for token in _PARSER.parse(body.replace("\r", " ")):  # a lone carriage return does not end a line here
        if token.type == "heading_open" and token.map:
            heading_lines.add(token.map[0])
        elif token.type == "fence" and token.map:
            code_lines.update(range(*token.map))
    blocks = [_Block(first_line, 0, "", [], [], [])]
    for number, line in enumerate(body.split("\n")):
        match = _HEADING.match(line) if number in heading_lines else None
        heading = match[2].rstrip(" \t").rstrip("#").rstrip(" \t") if match else ""
        if match and heading:
            blocks.append(_Block(first_line + number, len(match[1]), heading, [], [], []))
            continue
        blocks[-1].lines.append(line)
        if number not in code_lines:
            blocks[-1].prose.append(_INLINE_CODE.sub(" ", line))
            blocks[-1].tasks.extend(filter(None, [_TASK.match(line)]))
    return blocks


def _sections(reader: Reader, opening: _Block, blocks: Sequence[_Block]) -> Iterator[Section]:
    """The sections, then the tasks of all blocks: so a section has its key whatever tasks there are."""
    keys: dict[str, int] = {}
    for block in blocks:
        heading = reader.name(block.heading, f"line {block.number}, heading")
        yield Section(
            key=free_key(heading, keys),
            heading=heading,
            text=reader.text("\n".join(block.lines).strip(), f"line {block.number}, section {heading}"),
            tags=_tags(reader, _prose_of(block)),
        )
    for task in chain.from_iterable(block.tasks for block in (opening, *blocks)):
        text = (task[2] or task[3]).strip()
        name = short_name(_MARKS.split(text, 1)[0]) or short_name(text)
        is_over = _OVER.match(task[1]) if task[1] else "@done" in text
        state = ResolutionState.RESOLVED if is_over else ResolutionState.IN_PROGRESS
        yield Section(free_key(name, keys), name, text, _tags(reader, [_INLINE_CODE.sub(" ", text)]), state)


def _prose_of(block: _Block) -> list[str]:
    return [_INLINE_CODE.sub(" ", block.heading), *block.prose]


def _tags(reader: Reader, prose: Sequence[str], front_matter: Sequence[str] = ()) -> tuple[str, ...]:
    """Return at most `MAX_TAGS` tags: those of the front matter, then the `#tags` of the text."""
    tags = [tag.lstrip("#") for tag in front_matter]
    for line in prose:
        tags += written_tags(line)
    distinct = list(dict.fromkeys(tag.rstrip("/-") for tag in tags if tag.rstrip("/-")))
    if len(distinct) > MAX_TAGS:
        reader.counts[f"notes had more than {MAX_TAGS} tags; only the first {MAX_TAGS} are stored"] += 1
    return tuple(distinct[:MAX_TAGS])


def _paths_by_name(documents: Sequence[Document]) -> dict[str, str]:
    """Return the path of a note by each name that a wikilink may use, in lower case; the first note wins."""
    paths = {document.path.lower(): document.path for document in documents}
    for document in documents:
        without_ending = document.path.rsplit(".", 1)[0]
        names = (without_ending, without_ending.rpartition("/")[2], *document.aliases, document.title)
        for name in names:
            paths.setdefault(name.lower(), document.path)
    return paths
