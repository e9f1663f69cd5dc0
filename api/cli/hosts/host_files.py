"""The files of hosts: read, changed as text, written whole or not at all. What others wrote in them stays."""

from __future__ import annotations

import json
import re
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Callable
from itertools import filterfalse
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from api.cli.hosts.table import FREE, NAME, Document, at, is_ours, put, with_hook
from schemas.errors import Conflict

BACKUP: Final = ".before-substrate"
_HERE: Final = Path(__file__).parent
PROGRAMS: Final = _HERE if (_HERE / "hook.py").is_file() else _HERE.parents[2] / "clients" / "hosts"
"""The hook and the plugins of hosts: a wheel has them beside this module."""
_COMMENTS: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


class FileChange(NamedTuple):
    """A file before and after; None where there is none. `is_whole`: all of it is ours, and none of it is kept."""

    path: Path
    before: str | None
    after: str | None
    is_whole: bool = False


def read_json(path: Path) -> Document:
    """The document; empty where there is no file. Raises Conflict for a file that cannot be changed safely."""
    return _parse(path, _read(path) or "")


def read_yaml(path: Path) -> Document:
    """The document; empty where there is no file. Raises Conflict for a file that is no YAML."""
    return _parse_yaml(path, _read(path) or "")


def read_toml(path: Path) -> Document:
    """The document; empty where there is no file. Raises Conflict for a file that is no TOML."""
    return _parse_toml(path, _read(path) or "")


def plan_json(path: Path, edit: Callable[[Document], None], *, removes: bool = False) -> FileChange:
    """The file as an edit of its document makes it.

    One that is the same then as before we came gets its former text, and one that we made is removed. Raises
    Conflict for a file that cannot be changed safely, or whose shape the edit refuses.
    """
    before = _read(path)
    former = _read(backup_of(path))
    document, left, earlier = (_parse(path, text or "") for text in (before, before, former if removes else None))
    indent = re.search(r"^([ \t]+)\S", before or "", re.MULTILINE)
    step = indent[1] if indent else "  "
    try:
        edit(left)
        edit(earlier)
        written = json.dumps(left, indent=step, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as fault:
        raise Conflict(
            f"{path}: {fault}", remedy="Nothing was changed; name another with --name, or change it by hand."
        ) from fault
    if left == document:
        return FileChange(path, before, before)
    if removes and not former and not _bare(left):
        return FileChange(path, before, None)
    if removes and former and _bare(earlier) == _bare(left):
        return FileChange(path, before, former)
    # Half of a character, as of a text that was cut, is no UTF-8.
    return FileChange(path, before, re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", written))


def _bare(document: Document) -> Document:
    """What somebody wrote of it: not the version of its form, nor what is empty."""
    return dict(filter(lambda item: item[0] != "version" and item[1] != {}, document.items()))


def plan_plugin(path: Path, source: str, words: list[str] | None) -> FileChange:
    """A file that the host loads, with the words that call the hook, or without the file.

    Raises Conflict where another's file stands there.
    """
    before, ours = _read(path), (PROGRAMS / source).read_text("utf-8")
    if before is not None and NAME not in before:
        raise Conflict(f"{path} is there and is not ours", remedy="Nothing was changed; move it away first.")
    return FileChange(path, before, None if words is None else with_hook(ours, words), is_whole=True)


def plan_yaml(path: Path, slot: str, *, removes: bool = False) -> FileChange:
    """The file with our name in the slot `block.key`, or without it; all else keeps its bytes.

    Raises Conflict where another holds the slot, or the file is written so that one line cannot set it.
    """
    before, former = _read(path), _read(backup_of(path))
    text, (block, key) = before or "", slot.split(".")
    wanted, held = _parse_yaml(path, text), at(_parse_yaml(path, text), slot)
    if removes != (held == NAME):
        return FileChange(path, before, before)
    if held and held not in FREE:
        raise Conflict(f"{path}: `{slot}` is {held!r}, and there can be one", remedy="Take that one out first.")
    put(wanted, slot, None if removes else NAME)
    if removes and former:
        earlier = _parse_yaml(path, former)
        put(earlier, slot, None)
        if earlier == wanted:
            return FileChange(path, before, former)
    head = re.search(rf"^{block}:[ \t]*(?:#.*)?\n((?:[ \t].*\n|#.*\n|\n)*)", text, re.MULTILINE)
    found = re.search(rf"^[ \t]+{key}:.*\n", head[1], re.MULTILINE) if head else None
    inner = re.search(r"^[ \t]+(?=[^\s#])", head[1], re.MULTILINE) if head else None
    line = "" if removes else f"{inner[0] if inner else '  '}{key}: {NAME}\n"
    if head is None:
        after = text + ("" if not text or text.endswith("\n") else "\n") + f"{block}:\n{line}"
    else:
        rest = head[1].replace(found[0], line, 1) if found else line + head[1]
        opening = head[0][: len(head[0]) - len(head[1])] if rest.strip() else ""
        after = text[: head.start()] + opening + rest + text[head.end() :]
    if _parse_yaml(path, after) != wanted or (
        head is None and re.search(rf"^['\"]?{block}\b", text, re.MULTILINE)
    ):
        raise Conflict(f"{path}: no one line sets `{slot}`", remedy=f"Set it by hand: `{slot}` is `{NAME}`.")
    return FileChange(path, before, after or None)


def plan_toml(path: Path, under: str, name: str, entry: Document | None) -> FileChange:
    """The file with the entry as a block between two comments of ours, or without it; all else keeps its bytes.

    What a user added to the entry stays. Raises Conflict where one of that name is somebody else's, something of
    another name would be lost, or the file is no TOML, before or after.
    """

    def others(text: str) -> Document:
        document = _parse_toml(path, text)
        return {**document, under: dict(filter(lambda item: item[0] != name, document.get(under, {}).items()))}

    before = _read(path)
    begin, end = f"# substrate connect: {name}", f"# end of substrate connect: {name}"
    block = re.compile(rf"\n?^{re.escape(begin)}$(.*?)^{re.escape(end)}$\n?", re.MULTILINE | re.DOTALL)
    rest, former = block.sub("", before or ""), block.search(before or "")
    servers = _parse_toml(path, before or "").get(under, {})
    if not isinstance(servers, dict):
        raise Conflict(f"{path}: `{under}` is no table", remedy="Nothing was changed.")
    if name in servers and (rest == (before or "") or not is_ours(servers[name])):
        raise Conflict(
            f"{path}: `{under}.{name}` is there and is not ours",
            remedy="Nothing was changed; name another with --name, or change it by hand.",
        )
    after = rest
    if entry is not None:
        # A basic string of TOML has the escapes of JSON, but for one character that JSON leaves as it is.
        lines = [begin, f"[{under}.{name}]"]
        for key, value in entry.items():
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
        written = re.compile(rf"\s*(?:\[{re.escape(f'{under}.{name}')}\]|(?:{'|'.join(entry)})\s*=.*)?\s*")
        lines += filterfalse(written.fullmatch, (former[1] if former else "").splitlines())
        lines.append(end)
        gap = "" if not rest else "\n" if rest.endswith("\n") else "\n\n"
        after = rest + gap + "\n".join(lines).replace("\x7f", "\\u007f") + "\n"
    if name in _parse_toml(path, after).get(under, {}) and entry is None:
        raise Conflict(f"{path}: something was added to `{under}.{name}`", remedy="Remove it by hand.")
    if others(before or "") != others(after):
        raise Conflict(f"{path}: something else stands within our block", remedy=f"Move it below `{end}`.")
    return FileChange(path, before, after or ("" if _read(backup_of(path)) else None))


def apply(change: FileChange) -> None:
    """Write the file, through links, and keep what it was before we came. Raises Conflict where that cannot be."""
    if change.before == change.after:
        return
    target, backup = change.path.resolve(), backup_of(change.path)
    if _read(target) != change.before:
        raise Conflict(f"{change.path} was changed meanwhile", remedy="It stays so; run the command again.")
    try:
        former = _read(backup)
        if change.after is None:
            take_away(target, with_place=change.is_whole)
            backup.unlink(missing_ok=True) if former == "" else None
            return
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        if not mode & stat.S_IWUSR:
            raise PermissionError("it is read-only")
        target.parent.mkdir(parents=True, exist_ok=True)
        if change.after == former:
            backup.unlink()
        elif former is None and not change.is_whole:
            _replace(backup, change.before or "", mode)
        _replace(target, change.after, mode)
    except OSError as fault:
        raise Conflict(
            f"{change.path} cannot be written: {fault}", remedy="Nothing in it was changed; see its permissions."
        ) from fault


def take_away(target: Path, *, with_place: bool) -> None:
    """Remove the file; `with_place` also a directory of our name, once nothing else is left in it."""
    target.unlink()
    if with_place and target.parent.name == NAME:
        shutil.rmtree(target.parent / "__pycache__", ignore_errors=True)
        if not any(target.parent.iterdir()):
            target.parent.rmdir()


def backup_of(path: Path) -> Path:
    """Where the file is kept as it was before we came, empty where there was none: beside it, behind links."""
    target = path.resolve()
    return target.with_name(target.name + BACKUP)


def _replace(target: Path, text: str, mode: int) -> None:
    """Write the file whole: who reads it meanwhile sees the former one."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as beside:
        written = Path(beside) / target.name
        written.write_bytes(text.encode())
        written.chmod(mode)
        written.replace(target)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError, UnicodeDecodeError) as fault:
        raise Conflict(f"{path} cannot be read: {fault}", remedy="Nothing was changed.") from fault


def _parse(path: Path, text: str) -> Document:
    """The object that the text is. Raises Conflict for broken JSON, comments, a name that is there twice."""

    def once(pairs: list[Any]) -> Document:
        if len(named := dict(pairs)) < len(pairs):
            raise Conflict(f"{path} has a name twice in one object", remedy="Nothing was changed; mend it first.")
        return named

    text = text.removeprefix("\ufeff")
    if not text.strip():
        return {}
    try:
        document = json.loads(text, object_pairs_hook=once)
    except ValueError as fault:
        try:
            json.loads(_COMMENTS.sub(lambda found: found[1] or "", text))
        except ValueError:
            raise Conflict(f"{path} is no JSON: {fault}", remedy="Nothing was changed.") from fault
        raise Conflict(
            f"{path} has comments or a comma before a bracket, which would be lost",
            remedy="Nothing was changed; write the entry there by hand: docs/hosts.md shows it.",
        ) from fault
    if not isinstance(document, dict):
        raise Conflict(f"{path} is no object of JSON", remedy="Nothing was changed.")
    return document


def _parse_toml(path: Path, text: str) -> Document:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise Conflict(f"{path} is no TOML that takes it: {fault}", remedy="Nothing was changed.") from fault


def _parse_yaml(path: Path, text: str) -> Document:
    try:
        document = yaml.safe_load(text) or {}
    except yaml.YAMLError as fault:
        raise Conflict(f"{path} is no YAML: {fault}", remedy="Nothing was changed.") from fault
    if not isinstance(document, dict):
        raise Conflict(f"{path} is no mapping of YAML", remedy="Nothing was changed.")
    return document
