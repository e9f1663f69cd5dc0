"""The file formats: each is a pure parser from texts to commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from pydantic import ValidationError

from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats import (
    agents,
    command_files,
    conversations,
    documents,
    mail,
    markdown,
    messages,
    office,
    tables,
    teams,
    whatsapp,
)
from orchestration.ingestion.formats.notebook import Notebook
from orchestration.ingestion.formats.reader import (
    DAMAGE,
    NOTHING_SAID,
    File,
    FileSet,
    Format,
    Names,
    ParsedFiles,
    Parser,
    invalid_field,
    is_citizen_id,
    join,
    names_in,
)
from schemas.errors import InvalidRequest

__all__ = ["FORMATS", "FORMS", "File", "FileSet", "Intake", "ParsedFiles", "guess", "parse"]

_TABLE: Final[Sequence[tuple[Format, Parser]]] = (
    (messages.FORM, messages.parse),
    (conversations.CHATGPT, conversations.parse_chatgpt),
    (conversations.CLAUDE, conversations.parse_claude),
    (whatsapp.FORM, whatsapp.parse),
    (conversations.TELEGRAM, conversations.parse_telegram),
    (teams.SLACK, teams.parse_slack),
    (teams.DISCORD, teams.parse_discord),
    (mail.FORM, mail.parse),
    (tables.FORM, tables.parse),
    (markdown.FORM, markdown.parse),
    (documents.TEXT, documents.parse_texts),
    (documents.HTML, documents.parse_html),
    (documents.PDF, documents.parse_pdf),
    (office.DOCX, office.parse_docx),
    (office.CANVAS, office.parse_canvas),
    (office.MEMORIES, office.parse_memories),
    (office.ICS, office.parse_ics),
    (command_files.FORM, command_files.parse),
    (messages.LOCOMO, messages.parse_locomo),
    (command_files.GRAPHITI, command_files.parse_graphiti),
    (command_files.MEM0, command_files.parse_mem0),
    (command_files.MCP_MEMORY, command_files.parse_mcp_memory),
    *agents.SHAPES,
)
FORMS: Final[Mapping[str, Format]] = {form.name: form for form, _ in _TABLE}
FORMATS: Final[Mapping[str, Parser]] = {form.name: parser for form, parser in _TABLE}
"""The parsers by name."""
_BY_CONTENT: Final = sorted((form for form, _ in _TABLE if form.holds or form.looks), key=lambda form: form.rank)
_DATABASE: Final = re.compile(r"(?P<path>.*)(?P<id> [0-9a-f]{32})(?P<all>_all)?\.csv")
"""A database of Notion."""
MOST_TOLD: Final = 100
"""Faults that the sentence of a refusal names."""
OTHERS_TOLD: Final = 5
"""Files that are not read, of which a note gives the names."""


def parse(form: str | None, files: FileSet) -> ParsedFiles:
    """Parse the files in the format of this name; without a name in the format that each file seems to have.

    Builds every command once, so that an invalid one is found before the first write. Raises InvalidRequest for an
    unknown format, when there is no file, when nothing can be read, and for a file in another format than the
    named one; the error is one line with the file, the place and the expected shape.
    """
    if form is not None and form not in FORMATS:
        raise InvalidRequest(f"there is no format {form!r}", remedy=f"Choose one of {', '.join(FORMATS)}.")
    if not files.files:
        what = "can be read" if form is None else f"has the format {form}"
        raise InvalidRequest(f"{files.name} holds no file that {what}", remedy="Nothing was stored.")
    if files.citizen_id is not None and not is_citizen_id(files.citizen_id):
        raise InvalidRequest(
            f"{files.citizen_id!r} is no citizen_id",
            remedy="Use letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit.",
        )
    parsed = _parse_guessed(files) if form is None else _parse_as(form, files)
    for item in parsed.items:
        try:
            for _ in item.commands():
                pass
        except ValidationError as error:
            field, message = invalid_field(error)
            raise InvalidRequest(f"{item.id}: {field}: {message}", remedy="Nothing was stored.") from error
    return parsed


def _parse_as(form: str, files: FileSet) -> ParsedFiles:
    """Raises InvalidRequest also for what a parser does not foresee: the fault is the file's."""
    try:
        return replace(FORMATS[form](files), formats=(form,))
    except DAMAGE as error:
        detail = f"{files.files[0].name}: is damaged in a way that no {form} is ({type(error).__name__})"
        raise InvalidRequest(detail, remedy="Nothing was stored.") from error


def _parse_guessed(files: FileSet) -> ParsedFiles:
    """Parse the files of each format together. A format of which nothing can be read is a fault, if others can."""
    groups: dict[str, list[File]] = {}
    parts: list[ParsedFiles] = []
    errors: list[InvalidRequest] = []
    for file in files.files:
        form = guess(file)
        if form is None:
            errors.append(
                InvalidRequest(f"{file.name}: its format cannot be told", remedy=f"Name it: {', '.join(FORMATS)}.")
            )
        else:
            groups.setdefault(form, []).append(file)
    for form, group in groups.items():
        try:
            parts.append(_parse_as(form, replace(files, files=tuple(group))))
        except InvalidRequest as error:
            errors.append(error)
    if not parts:
        raise errors[0]
    joined = join([*parts, ParsedFiles((), faults=tuple(error.detail for error in errors))])
    notebooks = [item for item in joined.items if isinstance(item, Notebook)]
    if not notebooks:
        return joined
    # The documents of all formats are one notebook: a folder is one, whatever lies in it.
    every = chain.from_iterable(notebook.documents for notebook in notebooks)
    one = replace(notebooks[0], documents=tuple(sorted(every, key=lambda document: document.path)))
    return replace(joined, items=(one, *(item for item in joined.items if not isinstance(item, Notebook))))


def guess(file: File) -> str | None:
    """Return the name of the format of a file: by what it holds, and only where that says nothing by its name.

    None when nothing tells it.
    """
    names = names_in(file.text) if file.text.lstrip()[:1] in ("[", "{") else Names()
    for form in _BY_CONTENT:
        if (form.holds is not None and form.holds(names)) or (form.looks is not None and form.looks(file)):
            return form.name
    if not file.text.strip():
        return None
    ending = "".join(file.name.lower().rpartition(".")[1:])
    named = [form.name for form in FORMS.values() if form not in _BY_CONTENT and ending in form.endings]
    return named[-1] if named else None  # a .txt is a text rather than a table


class Intake(NamedTuple):
    """Parsed files, and the names of the files that could not be parsed at all."""

    parsed: ParsedFiles
    unread: frozenset[str] = frozenset()


def parse_readable(form: str | None, files: FileSet) -> Intake:
    """Parse the files that can be parsed; `faults` of the parsed files has the others, one line each.

    Raises InvalidRequest as `parse` does when there is no file that can be parsed.
    """
    files, twins = without_twins(files)
    if files.unread and not files.files:
        raise InvalidRequest("; ".join(files.unread.values()), remedy="Nothing was stored.")
    try:
        intake = Intake(parse(form, files))
    except InvalidRequest:
        if len(files.files) < 2:
            raise
        intake = _parse_apart(form, files)
    else:
        if intake.parsed.faults and len(files.files) > 1:
            intake = _parse_apart(form, files)
    parsed = replace(intake.parsed, faults=(*files.unread.values(), *intake.parsed.faults))
    if files.others:
        what = "files of no known format, or beside the conversations of an export, such as"
        named = ", ".join(files.others[:OTHERS_TOLD])
        twins += (f"{files.name}: left out: {what} {named} ({len(files.others):,})",)
    parsed = replace(parsed, notes=(*parsed.notes, *twins))
    if files.unread and len(files.files) == 1:
        parsed = _as_one_of_several(parsed, files.name, files.files[0].name)
    return Intake(parsed, intake.unread | files.unread.keys())


def without_twins(files: FileSet) -> tuple[FileSet, tuple[str, ...]]:
    """The files without the tables of Notion whose rows are there twice, with a note on each that is left out.

    Notion writes a database as a table of what was shown, as one of all rows (`_all`), and each row as a page.
    """
    names = {file.name for file in files.files}
    notes: list[str] = []
    for file in files.files:
        table = _DATABASE.fullmatch(file.name)
        if table is None:
            continue
        folders = (f"{table['path']}{table['id']}/", f"{table['path']}/")
        pages = sum(name.endswith(".md") and name.startswith(folders) for name in names)
        if not table["all"] and f"{table['path']}{table['id']}_all.csv" in names:
            notes.append(f"{file.name}: left out: its rows stand in the table of all rows")
        elif pages and pages >= file.text.strip().count("\n"):
            notes.append(f"{file.name}: left out: its rows are pages of their own ({pages:,})")
    left_out = {note.partition(": left out")[0] for note in notes}
    return replace(files, files=tuple(file for file in files.files if file.name not in left_out)), tuple(notes)


def _parse_apart(form: str | None, files: FileSet) -> Intake:
    """Try each file alone, and parse those together that can be parsed: notes link to each other."""
    faults: dict[str, InvalidRequest] = {}
    for file in files.files:
        try:
            parse(form, replace(files, files=(file,)))
        except InvalidRequest as error:
            if NOTHING_SAID not in error.detail:  # beside others it is no fault
                faults[file.name] = error
    good = tuple(file for file in files.files if file.name not in faults)
    if not good:
        raise next(iter(faults.values()))
    parsed = parse(form, replace(files, files=good))
    if faults and len(good) == 1:
        parsed = _as_one_of_several(parsed, files.name, good[0].name)
    unread = tuple(error.detail for error in faults.values())
    return Intake(replace(parsed, faults=(*unread, *parsed.faults)), frozenset(faults))


def _as_one_of_several(parsed: ParsedFiles, folder: str, file: str) -> ParsedFiles:
    """A chat of a folder has the name of its file in its id, also when it is the only one that could be read."""
    items = (
        replace(item, id=f"{folder}/{file}") if isinstance(item, Episode) and item.id == folder else item
        for item in parsed.items
    )
    return replace(parsed, items=tuple(items))


def parse_strictly(form: str | None, files: FileSet) -> Intake:
    """Parse all files. Raises InvalidRequest with every fault when one of them cannot be parsed."""
    intake = parse_readable(form, files)
    faults = intake.parsed.faults
    if faults:
        raise InvalidRequest("; ".join(faults[:MOST_TOLD]), remedy="Nothing was stored.", faults=faults)
    return intake
