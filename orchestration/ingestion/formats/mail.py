"""`email`: mails as .eml and .mbox files, such as Gmail's. Pure.

A thread becomes an episode. Quoted lines keep their `>`, so that they are not taken for words of the sender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy, Policy
from email.utils import getaddresses, parsedate_to_datetime
from functools import partial
from hashlib import blake2b
from typing import Any, Final

from orchestration.ingestion.formats.conversations import Chat, SaidMessage, parse_chats
from orchestration.ingestion.formats.documents import to_text
from orchestration.ingestion.formats.reader import DAMAGE, File, FileSet, Format, ParsedFiles, Reader, decode

DEEPEST: Final = 20
"""Mails and parts of mails within each other; what lies deeper is left out."""
LONGEST_HEADER: Final = 32 << 10
"""Characters of a header. The library needs memory that grows with the square of its encoded words."""
MOST_PARTS: Final = 1000
MOST_BOUNDARIES: Final = 100
"""The library compares each line with every boundary around it."""
_ENVELOPE: Final = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From \S+ [^\n]{0,99}?\d\d:\d\d[^\n]{0,99}?\d{4}[^\n]*\n"
)
_FIRST: Final = re.compile(r"From \S+ .*\d{4}")
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[ \t]|[ \t]+\S")
_FIRST_LINES: Final = 20
_NAMES: Final = frozenset(("date", "subject", "message-id", "received", "to"))
_BOUNDARY: Final = re.compile(rb"\bboundary[ \t]*=", re.IGNORECASE)
_ESCAPED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_ID: Final = re.compile(r"<([^<>\s]+)>")
_REPLY: Final = re.compile(r"\A(?:(?:re|aw|fwd?|wg|sv|antw|tr|rv)(?:\[\d+\])?:\s*)+", re.IGNORECASE)
_UNWANTED: Final = frozenset(("spam", "trash", "papierkorb", "draft", "drafts", "entwürfe"))


def _is_mail(file: File) -> bool:
    """True for header lines, of which one is From and another of a mail, up to the first empty line."""
    lines = file.start.replace("\r\n", "\n").lstrip().split("\n")
    if _FIRST.match(lines[0]):
        return True
    head = lines[: lines.index("")] if "" in lines else lines
    if not all(map(_HEADER.match, head[:_FIRST_LINES])):
        return False
    names = {line.partition(":")[0].lower() for line in head}
    return "from" in names and not names.isdisjoint(_NAMES)


FORM: Final = Format(
    "email",
    "a mail with headers such as From, Date and Subject, or an mbox file of mails",
    (".eml", ".mbox"),
    looks=_is_mail,
    rank=5,
)


class _TooMuch(Exception):
    """A mail is beyond a bound."""


class _BoundedPolicy(EmailPolicy):
    """Reads no header that is too long."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        if len(value) > LONGEST_HEADER:
            raise _TooMuch(
                f"its header {name[:60]} has {len(value):,} characters; at most {LONGEST_HEADER:,} are read"
            )
        return super().header_fetch_parse(name, value)


class _Parts:
    """Makes the parts of one mail, as many as are allowed."""

    def __init__(self) -> None:
        self._left = MOST_PARTS

    def __call__(self, policy: Policy) -> EmailMessage:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch(f"has more than {MOST_PARTS:,} parts")
        return EmailMessage(policy)


def parse(files: FileSet) -> ParsedFiles:
    """Parse the mails of all files; each thread is one episode.

    Raises InvalidRequest for a file in another format, and when no mail can be read.
    """
    roots: dict[str, str] = {}
    own = tuple(replace(file, encoding=None) for file in files.files)  # each part of a mail names its encoding
    return parse_chats(replace(files, files=own), FORM, partial(_read, roots))


def _read(roots: dict[str, str], reader: Reader, file: File) -> Iterator[Chat]:
    mails = split_mbox(file.raw or file.text.encode("utf-8", "surrogateescape"))
    if not mails:
        reader.fail("", "holds no mail")
    for number, raw in enumerate(mails, start=1):
        place = f"mail {number}" if len(mails) > 1 else ""
        with reader.item():
            try:
                chat = _chat(roots, reader, raw, place)
            except DAMAGE as error:
                reader.fail(place, f"is damaged ({error})"[:200])
            except _TooMuch as error:
                reader.fail(place, str(error))
            if chat is not None:
                yield chat


def split_mbox(raw: bytes) -> list[bytes]:
    """Return the mails of an mbox file, or the one mail that the file is."""
    starts = [match.span() for match in _ENVELOPE.finditer(raw)]
    if not starts or starts[0][0] != 0:
        return [raw] if raw.strip() else []
    ends = [start for start, _ in starts[1:]] + [len(raw)]
    return [_ESCAPED.sub(rb"\1", raw[begin:end]) for (_, begin), end in zip(starts, ends, strict=True)]


def _chat(roots: dict[str, str], reader: Reader, raw: bytes, place: str) -> Chat | None:
    """Return a thread with this mail alone; those of one thread are put together later."""
    if len(_BOUNDARY.findall(raw)) > MOST_BOUNDARIES:
        raise _TooMuch(f"has parts in more than {MOST_BOUNDARIES:,} others")
    mail = BytesParser(policy=_BoundedPolicy(message_factory=_Parts())).parsebytes(raw)
    if not isinstance(mail, EmailMessage) or not any(_header(mail, name) for name in ("from", "date", "subject")):
        reader.fail(place, "has no headers of a mail")
    labels = {label.strip().strip('"').lower() for label in _header(mail, "x-gmail-labels").split(",")}
    if labels & _UNWANTED:
        reader.left_out["mails in spam, drafts and trash"] += 1
        return None
    own_id = _first_id(_header(mail, "message-id")) or blake2b(raw, digest_size=12).hexdigest()
    attached: list[str] = []
    text = "\n\n".join(filter(None, _texts(reader, mail, attached)))
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\u00a0", " ").split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    subject = _line(_header(mail, "subject"))
    if not (text or subject):
        reader.left_out["mails without text"] += 1
        return None
    said = SaidMessage(
        id=reader.name(own_id, place),
        speaker=reader.name(next(iter(_people(mail, "from")), "unknown sender"), place),
        text=reader.text(text or subject, place),
        time=_time(reader, mail, place),
        extra=reader.facts(place, subject=subject, to=_people(mail, "to", "cc"), attachments=attached),
    )
    before = _first_id(_header(mail, "references")) or _first_id(_header(mail, "in-reply-to"))
    roots[own_id] = own_id if before is None else roots.get(before, before)
    return Chat(roots[own_id], _REPLY.sub("", subject), [said])


def _header(mail: EmailMessage, name: str) -> str:
    """Return the text of a header; empty without one, and as it stands where it cannot be read."""
    try:
        return str(mail[name] or "")
    except DAMAGE:
        return next((str(value) for key, value in mail.raw_items() if key.lower() == name.lower()), "")


def _first_id(header: str) -> str | None:
    found = _ID.search(header)
    return found[1] if found else None


def _line(header: str) -> str:
    return " ".join(header.split())


def _people(mail: EmailMessage, *names: str) -> list[str]:
    """Return the names in these headers, or the addresses of those without a name."""
    headers = [str(header) for name in names for header in mail.get_all(name, [])]
    pairs = ((_line(name), address) for name, address in getaddresses(headers))
    return [name or address for name, address in pairs if name or address]


def _time(reader: Reader, mail: EmailMessage, place: str) -> datetime | None:
    header = _header(mail, "date")
    if not header:
        return None
    try:
        time = parsedate_to_datetime(header)
    except DAMAGE:
        return reader.moment(header, f"{place}, date".removeprefix(", "))
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _texts(reader: Reader, part: EmailMessage, attached: list[str], depth: int = 0) -> Iterator[str]:
    """Yield the texts of a mail in order; the names of attached files are added to `attached`."""
    kind = part.get_content_type()
    if depth > DEEPEST:
        reader.left_out["parts of mails that lie too deep in each other"] += 1
    elif kind == "message/rfc822":
        inner = part.get_payload()
        for mail in inner if isinstance(inner, list) else ():
            yield _quoted(reader, mail, attached, depth)
    elif kind == "multipart/alternative":
        yield from _best(reader, part, attached, depth)
    elif part.is_multipart():
        for inner_part in part.iter_parts():
            if isinstance(inner_part, EmailMessage):
                yield from _texts(reader, inner_part, attached, depth + 1)
    else:
        yield _text(reader, part, attached)


def _text(reader: Reader, part: EmailMessage, attached: list[str]) -> str:
    """Return the text of a part without parts; it is empty for an attached file."""
    kind, name = part.get_content_type(), part.get_filename()
    if name or part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
        attached.append(_line(name or "") or kind)
        reader.left_out["attached files"] += 1
        return ""
    if kind == "text/html":
        return to_text(_decoded(part))
    return _unflowed(_decoded(part)) if part.get_param("format") == "flowed" else _decoded(part)


def _best(reader: Reader, part: EmailMessage, attached: list[str], depth: int) -> Iterator[str]:
    """Yield the plain text of several forms of one text; without it the last form that has a text."""
    forms = [form for form in part.iter_parts() if isinstance(form, EmailMessage)]
    plain = [form for form in forms if form.get_content_type() == "text/plain"]
    for form in (*plain, *reversed(forms)):
        text = "\n\n".join(_texts(reader, form, attached, depth + 1))
        if text.strip():
            yield text
            return


def _quoted(reader: Reader, mail: Any, attached: list[str], depth: int) -> str:
    """Return an attached mail as a quotation, with who wrote it and when."""
    if not isinstance(mail, EmailMessage):
        return ""
    told = {name: _line(_header(mail, name)) for name in ("From", "Date", "Subject")}
    head = [f"{name}: {line}" for name, line in told.items() if line]
    text = "\n\n".join(filter(None, _texts(reader, mail, attached, depth + 1)))
    return "\n".join(f"> {line}".rstrip() for line in ("\n".join(head) + f"\n\n{text}").strip().split("\n"))


def _decoded(part: EmailMessage) -> str:
    """Return the text of a part. When it is not in the encoding that it names, it is found out."""
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    try:
        return raw.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return decode(raw).text or ""


def _unflowed(text: str) -> str:
    """Join the lines that were broken for their length alone (RFC 3676): they end with a space."""
    pieces: list[str] = []
    is_open = is_quoted = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if is_open and is_quoted == line.startswith(">"):
            pieces.append(line.lstrip("> "))
        else:
            pieces += ("\n", line)
            is_quoted = line.startswith(">")
        is_open = line.endswith(" ") and line != "-- "
    return "".join(pieces[1:])
