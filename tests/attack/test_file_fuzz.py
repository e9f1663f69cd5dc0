"""Files that were built or broken to harm whoever reads them, in a process with bounds of its own.

Reading ends within the bounds, with memories or with a refusal, whatever the file: nothing else is raised, and the
operating system ends no process. The bounds are those of the process; no clock is asked.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from orchestration.ingestion.formats import FORMATS
from tests.docs_pages import ROOT
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS

SECONDS: Final = 20
MEMORY: Final = 900 << 20
MUTATIONS: Final = 40
"""Of each file that a format reads; a multiple is drawn with FUZZ_TIMES."""
TIMES: Final = int(os.environ.get("FUZZ_TIMES", "1"))  # noqa: TID251  # how long to look, not a setting
READS: Final = """
import json, pickle, resource, sys
from orchestration.ingestion.file_readers import FilesToRead, read
from schemas.errors import InvalidRequest
files = pickle.load(sys.stdin.buffer)
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]), resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
def used():
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) >> 10
for form, name, raw in files:
    begun = used()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begun) + 1 + int(sys.argv[2]), resource.RLIM_INFINITY))
    print(json.dumps({"begun": name}), flush=True)
    try:
        told = [*read(FilesToRead(name, len(raw), raw, form, "ada")).intake.parsed.formats]
    except InvalidRequest as error:
        told = error.detail[:200]
    print(json.dumps({"told": told, "seconds": used() - begun, "peak": peak()}), flush=True)
"""


class Given(NamedTuple):
    """A file: the format that it is read as, its name, its bytes."""

    form: str | None
    name: str
    raw: bytes


class Said(NamedTuple):
    """What was said of a file, the seconds of processor time that it took, and the peak of MiB so far."""

    told: Any
    seconds: float
    peak: int


def read_all(files: list[Given]) -> list[Said]:
    """Read the files one after another in a process with bounds. Fails for the file that breaks them."""
    words = [sys.executable, "-c", READS, str(MEMORY), str(SECONDS)]
    sent = pickle.dumps([tuple(file) for file in files])
    done = subprocess.run(words, input=sent, capture_output=True, cwd=ROOT, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    last = lines[-1] if lines else None
    assert done.returncode == 0, (last, done.returncode, done.stderr.decode()[-1000:])
    said = [Said(**line) for line in lines if "told" in line]
    assert len(said) == len(files)
    return said


# --- structure, repeated ----------------------------------------------------------------------------------------

EVENT: Final = b"BEGIN:VCALENDAR\nBEGIN:VEVENT\n"
MAIL: Final = b"From: a@b.c\nDate: Fri, 1 Mar 2024 10:00:00 +0000\n"
ENVELOPE: Final = b"From x Fri Mar 1 10:00:00 2024\n"
TURN: Final = b'{"role":"user","content":"x"}'
NODE: Final = b'"n%d":{"parent":"n%d","message":{"author":{"role":"user"},"content":{"parts":["x"]}}}'
LINE: Final = b"25/12/2024, 18:05 - A: "
MARK: Final = "\u200e".encode()
ENTITY: Final = b'{"type":"entity","name":"e%d","entityType":"x","observations":["y"]}'


def pdf(stream: bytes, *, pages: int = 1) -> bytes:
    """A file of one drawing, shown on so many pages."""
    packed = zlib.compress(stream, 9)
    kids = b"3 0 R " * pages
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, kids),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    written = b"%PDF-1.4\n"
    places = []
    for number, part in enumerate(parts, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n%d\n%%%%EOF" % len(written)
    return written + b"xref\n0 6\n0000000000 65535 f \n" + table + end


def packed(names: Iterator[str], raw: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, raw)
    return target.getvalue()


def word(body: bytes) -> bytes:
    """A document of Word with this body."""
    name = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    whole = b'<w:document xmlns:w="' + name + b'"><w:body>' + body + b"</w:body></w:document>"
    return packed(iter(("word/document.xml",)), whole)


def joined(each: bytes, times: int) -> bytes:
    return b",".join([each] * times)


def numbered(each: bytes, times: int, by: bytes = b",") -> bytes:
    numbers = each.count(b"%d")
    return by.join(each % tuple(max(0, n - back) for back in range(numbers)) for n in range(times))


def deep_mail(times: int) -> bytes:
    kind = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"
    return MAIL + b"".join(kind % (n, n) for n in range(min(times, 3000))) + b"\nx\n" * times


STRUCTURES: Final[dict[str, tuple[str | None, str, Callable[[int], bytes]]]] = {
    "encoded words": ("email", "a.eml", lambda n: MAIL + b"Subject: " + b"=?utf-8?q?x?= " * n + b"\n\nhi"),
    "addresses": ("email", "a.eml", lambda n: MAIL + b"To: " + numbered(b"a%d@b.c", n) + b"\n\nhi"),
    "headers": ("email", "a.eml", lambda n: MAIL + b"X: y\n" * n + b"\nhi"),
    "mails": ("email", "a.mbox", lambda n: (ENVELOPE + MAIL + b"Subject: s\n\nhi\n\n") * min(n, 10_000)),
    "no mails": ("email", "a.mbox", lambda n: (ENVELOPE + b"\n") * n),
    "an envelope": ("email", "a.mbox", lambda n: b"From x " + b"00:00 " * n + b"\n" + MAIL + b"\nhi"),
    "parts of a mail": (
        "email", "a.eml", lambda n: MAIL + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * n
    ),
    "parts in parts": ("email", "a.eml", deep_mail),
    "lines of a paragraph": (
        "email", "a.eml", lambda n: MAIL + b"Content-Type: text/plain; format=flowed\n\n" + b"a \n" * n
    ),
    "names of an attachment": (
        "email", "a.eml",
        lambda n: MAIL + b"Content-Disposition: attachment;" + numbered(b" filename*%d=a", n, b";") + b"\n\nhi",
    ),
    "quotations of a mail": (
        "email", "a.eml", lambda n: MAIL + b"Content-Type: text/html\n\n" + b"<blockquote>" * n + b"hi"
    ),
    "tags without an end": ("html", "a.html", lambda n: b"<html><body>x" + b"<a " * n),
    "tags of no end": ("html", "a.html", lambda n: b"<html><body>x" + b"</a " * n),
    "comments without an end": ("html", "a.html", lambda n: b"<html><body>x" + b"<!--" * n),
    "sections without an end": ("html", "a.html", lambda n: b"<html><body>x" + b"<![if " * n),
    "instructions without an end": ("html", "a.html", lambda n: b"<html><body>x" + b"<?x " * n),
    "values without an end": ("html", "a.html", lambda n: b"<html><body>x" + b"<a b='" * n),
    "scripts without an end": ("html", "a.html", lambda n: b"<html><body>x" + b"<script " * n),
    "attributes": ("html", "a.html", lambda n: b"<html><body>x<a " + b"b=c " * n + b">y</a>"),
    "elements of a title": ("html", "a.html", lambda n: b"<html><title>" + b"x<i>" * n + b"</title><body>y"),
    "quotations": ("html", "a.html", lambda n: b"<html><body>" + b"<blockquote>" * n + b"x<br>y"),
    "lines of a quotation": ("html", "a.html", lambda n: b"<html>" + b"<blockquote>" * 90 + b"x<br>" * n),
    "headings of a page": ("html", "a.html", lambda n: b"<html><body>" + b"<h1>x</h1>y" * min(n, 10_000)),
    "elements": ("html", "a.html", lambda n: b"<html><body>" + b"<div><p>" * n + b"x"),
    "references": ("html", "a.html", lambda n: b"<html><body>" + b"&amp;&#x" * n),
    "comments before a page": (None, "a.html", lambda n: b"<!---->" * n + b"x"),
    "texts shown": ("pdf", "a.pdf", lambda n: pdf(b"BT /F 9 Tf " + b"(x)Tj " * n + b"ET")),
    "pages": ("pdf", "a.pdf", lambda n: pdf(b"BT /F 9 Tf (x)Tj ET", pages=min(n, 20_000))),
    "states saved": ("pdf", "a.pdf", lambda n: pdf(b"q " * n + b"BT /F 9 Tf (x)Tj ET")),
    "lists in a drawing": ("pdf", "a.pdf", lambda n: pdf(b"BT /F 9 Tf " + b"[" * n + b"]TJ ET")),
    "a long text shown": ("pdf", "a.pdf", lambda n: pdf(b"BT /F 9 Tf (" + b"x" * n + b")Tj ET")),
    "empty entries": (None, "a.zip", lambda n: packed((f"{k}.md" for k in range(min(n, 21_000))), b"")),
    "exports in an archive": (
        None, "a.zip", lambda n: packed((f"{k}/result.json" for k in range(min(n, 5_000))), b"[]")
    ),
    "headings of one name": ("markdown", "a.md", lambda n: b"# a\nx\n" * min(n, 10_000)),
    "tasks of one name": ("markdown", "a.md", lambda n: b"- [ ] a\n" * min(n, 10_000)),
    "quotations of a note": ("markdown", "a.md", lambda n: b"> " * n + b"a\n" + b"> > > > > > > > a\n" * n),
    "lists in lists": ("markdown", "a.md", lambda n: b"".join(b"  " * k + b"- a\n" for k in range(min(n, 1000)))),
    "stars": ("markdown", "a.md", lambda n: b"* " * n + b"a\n" + b"* * * * * * * * a\n" * n),
    "aliases of YAML": ("markdown", "a.md", lambda n: b"---\na0: &a0 [x]\n" + numbered(b"a%d: &x [*a%d]", n, b"\n")
                        + b"\n---\nx"),
    "fields of a note": ("markdown", "a.md", lambda n: b"---\n" + b"tags: [a, b]\n" * n + b"---\nx"),
    "links of a note": ("markdown", "a.md", lambda n: b"[[a" * n + b"[a](b.md" * n),
    "fences": ("markdown", "a.md", lambda n: b"```\nx\n" * n),
    "tags of a note": ("markdown", "a.md", lambda n: b"#a " * n),
    "columns": ("csv", "a.csv", lambda n: numbered(b"c%d", n) + b"\n1\n"),
    "cells": ("csv", "a.csv", lambda n: numbered(b"c%d", 1000) + b"\n" + (b"1," * 999 + b"1\n") * (n // 1000)),
    "empty cells": ("csv", "a.csv", lambda n: numbered(b"c%d", 1000) + b"\n" + (b"," * 999 + b"\n") * (n // 1000)),
    "a cell without an end": ("csv", "a.csv", lambda n: b'text,b\n"' + b"x" * n),
    "rows": ("csv", "a.csv", lambda n: b"text,b\n" + b"a,b\n" * min(n, 10_000)),
    "rows of a talk": ("csv", "a.csv", lambda n: b"text,speaker\n" + b"a,b\n" * min(n, 10_000)),
    "messages of a tree": (
        "chatgpt", "a.json",
        lambda n: b'[{"id":"x","current_node":"n%d","mapping":{%s}}]'
        % (min(n, 40_000) - 1, numbered(NODE, min(n, 40_000))),
    ),
    "lists in a cut export": (
        "chatgpt", "a.json", lambda n: b'[{"id":"x","mapping":' + b"[" * 900 + b"[]," * n + b"!"
    ),
    "parts of Claude": (
        "claude", "a.json", lambda n: b'[{"uuid":"x","chat_messages":[{"uuid":"y","sender":"human","content":['
        + joined(b'{"type":"text","text":"x"}', n) + b"]}]}]",
    ),
    "nothing in a chat": ("telegram", "a.json", lambda n: b'{"id":1,"messages":[' + joined(b"{}", n) + b"]}"),
    "parts of Telegram": (
        "telegram", "a.json",
        lambda n: b'{"id":1,"messages":[{"id":1,"type":"message","from":"y","text":[%s]}]}' % joined(b'"x"', n),
    ),
    "messages": ("messages", "a.json", lambda n: b"[" + joined(TURN, min(n, 10_000)) + b"]"),
    "lists": ("messages", "a.json", lambda n: b"[" * n),
    "digits": ("messages", "a.json", lambda n: b'[{"role":"user","content":"x","timestamp":' + b"9" * n + b"}]"),
    "spaces of a chat": ("whatsapp", "a.txt", lambda n: LINE + b"x" + b" " * n + b"y"),
    "marks of a chat": ("whatsapp", "a.txt", lambda n: LINE + MARK * n + b"\n" + LINE + (MARK + b"<") * n),
    "points of a chat": ("whatsapp", "a.txt", lambda n: LINE + b"a.b" * n),
    "lines of a chat": ("whatsapp", "a.txt", lambda n: (LINE + b"x\n") * min(n, 10_000)),
    "a title of WhatsApp": ("whatsapp", "a " * 2000 + "WhatsApp.txt", lambda n: LINE + b"x"),
    "a text": ("text", "a.txt", lambda n: b"um 5 Uhr " * n),
    "no text": ("text", "a.txt", lambda n: b"\0" * n),
    "halves of characters": (None, "a.txt", lambda n: b"\xff\xfe" + b"\0\xd8" * n),
    "commands": (
        "commands", "a.jsonl",
        lambda n: numbered(b'{"command":"remember","id":"m%d","name":"x"}', min(n, 10_000), b"\n")
    ),
    "turns of LoCoMo": (
        "locomo", "a.json", lambda n: b'[{"sample_id":"x","conversation":{"session_1":['
        + numbered(b'{"dia_id":"D%d","speaker":"a","text":"x"}', min(n, 10_000)) + b"]}}]",
    ),
    "sessions of LoCoMo": (
        "locomo", "a.json",
        lambda n: b'[{"sample_id":"x","conversation":{%s}}]' % numbered(b'"session_%d":[]', n),
    ),
    "nodes of Graphiti": (
        "graphiti", "a.json",
        lambda n: b'{"nodes":[' + numbered(b'{"uuid":"n%d","name":"x"}', min(n, 10_000)) + b'],"edges":[]}',
    ),
    "a history of mem0": (
        "mem0", "a.json", lambda n: b'[{"id":"x","memory":"y","history":['
        + joined(b'{"event":"UPDATE","new_memory":"z","updated_at":"2024-01-01T00:00:00Z"}', min(n, 10_000))
        + b"]}]",
    ),
    "lines of a session": (
        "claude-code", "a.jsonl",
        lambda n: numbered(b'{"type":"user","uuid":"u%d","isSidechain":false,"sessionId":"s",'
        b'"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}', min(n, 10_000), b"\n"),
    ),
    "an output of a tool": (
        "claude-code", "a.jsonl", lambda n: b'{"type":"user","uuid":"u","isSidechain":false,"message":{"content":'
        b'[{"type":"tool_result","content":"' + b"x" * n + b'"}]}}\n{"isSidechain":true}\n',
    ),
    "parts of a session": (
        "codex", "a.jsonl", lambda n: b'{"timestamp":1,"type":"response_item","payload":{"type":"message","role":'
        b'"user","content":[' + joined(b'{"type":"input_text","text":"x"}', n) + b"]}}",
    ),
    "parts of a message": (
        "opencode", "a.json", lambda n: b'{"info":{},"messages":[{"info":{"role":"user"},"parts":['
        + joined(b'{"type":"tool","tool":"t","state":{"input":[],"output":"x"}}', n) + b"]}]}",
    ),
    "runs that repeat": (
        "langsmith", "a.jsonl",
        lambda n: (b'{"run_type":"llm","trace_id":1,"inputs":{"messages":[' + joined(TURN, min(n, 99)) + b"]}}\n")
        * min(n // 10, 1000),
    ),
    "lists in lists of a run": (
        "langsmith", "a.json", lambda n: b'[{"run_type":"llm","inputs":{"messages":' + b"[" * min(n, 900)
        + b"]" * min(n, 900) + b"}}]",
    ),
    "messages of a dump": (
        "langchain", "a.json",
        lambda n: b"[" + joined(b'{"type":"human","data":{"content":"x","additional_kwargs":{}}}', min(n, 10_000))
        + b"]",
    ),
    "spans": (
        "openai-agents", "a.json", lambda n: b'{"data":[' + numbered(
            b'{"id":"s%d","trace_id":"t","span_data":{"type":"function","name":"f","input":"x","output":"y"}}',
            min(n, 10_000)) + b"]}",
    ),
    "conversations": (
        "conversations", "a.jsonl", lambda n: (b'{"messages":[' + TURN + b"]}\n") * min(n, 10_000)
    ),
    "marks of Slack": (
        "slack", "c/2026-01-01.json", lambda n: b'[{"user":"U","ts":"1.2","text":"' + b"<@a|" * n + b'"}]'
    ),
    "messages of Slack": (
        "slack", "c/2026-01-01.json",
        lambda n: b"[" + numbered(b'{"user":"U","ts":"%d.5","text":"x"}', min(n, 10_000)) + b"]",
    ),
    "messages of Discord": (
        "discord", "messages/c1/messages.csv",
        lambda n: b"ID,Timestamp,Contents\n" + numbered(b"%d,2024-01-01 10:00:00,x", min(n, 10_000), b"\n"),
    ),
    "names of Discord": (
        "discord", "messages/index.json", lambda n: b"{" + numbered(b'"%d":"x"', n) + b"}",
    ),
    "events": (
        "ics", "a.ics", lambda n: b"BEGIN:VCALENDAR\n"
        + numbered(b"BEGIN:VEVENT\nUID:%d\nDTSTART:20260101T100000Z\nEND:VEVENT", min(n, 10_000), b"\n"),
    ),
    "parameters of a line": ("ics", "a.ics", lambda n: EVENT + b"SUMMARY" + b";a=b" * n + b"\n"),
    "folded lines": ("ics", "a.ics", lambda n: b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x" + b"\n x" * n
                     + b"\nEND:VEVENT"),
    "events in events": ("ics", "a.ics", lambda n: b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\nSUMMARY:x\n" * n),
    "attendees": ("ics", "a.ics", lambda n: b"BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + b"ATTENDEE:mailto:x\n" * n
                  + b"END:VEVENT"),
    "paragraphs": ("docx", "a.docx", lambda n: word(b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * n)),
    "tables in tables": ("docx", "a.docx", lambda n: word(b"<w:tbl><w:tr><w:tc><w:p>" * n)),
    "cells of a document": (
        "docx", "a.docx",
        lambda n: word(b"<w:tbl><w:tr>" + b"<w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>" * n),
    ),
    "headings of a document": (
        "docx", "a.docx", lambda n: word(
            b'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>' * min(n, 10_000)),
    ),
    "cards": (
        "canvas", "a.canvas", lambda n: b'{"nodes":['
        + numbered(b'{"id":"%d","x":0,"y":0,"width":1,"height":1,"text":"x"}', min(n, 10_000)) + b"]}",
    ),
    "arrows": (
        "canvas", "a.canvas",
        lambda n: b'{"nodes":[{"id":"a","x":0,"y":0,"width":1,"height":1,"text":"x"}],"edges":['
        + joined(b'{"fromNode":"a","toNode":"a"}', n) + b"]}",
    ),
    "memories of Claude": (
        "claude-memories", "memories.json", lambda n: b'[{"conversations_memory":"' + b"x " * n + b'"}]'
    ),
    "archives in an archive": (
        None, "a.zip", lambda n: packed((f"{k}.zip" for k in range(min(n, 300))), packed(iter("ab"), b"x" * n))
    ),
    "calls in a message": (
        "conversations", "a.json", lambda n: b'[{"messages":[{"role":"assistant","content":"","tool_calls":['
        + joined(b'{"function":{"name":"f","arguments":"{}"}}', n) + b"]}]}]",
    ),
    "entities": ("mcp-memory", "a.jsonl", lambda n: numbered(ENTITY, min(n, 10_000), b"\n")),
}  # fmt: skip
"""For each structure its format, a name, and a file of n of it. Lists of true items end at 10,000."""


@pytest.mark.parametrize("form", [*FORMATS, None])
def test_a_structure_that_is_repeated_ends_within_the_bounds(form: str | None) -> None:
    made = {what: given for what, given in STRUCTURES.items() if given[0] == form}
    assert made, "each format has a structure"
    files = [Given(form, name, build(10**power)) for _, name, build in made.values() for power in (1, 3, 5)]
    files += [Given(form, name, large) for _, name, build in made.values() if len(large := build(10**6)) < 6 << 20]
    said = read_all(files)
    record("repeated", str(form), said)


# --- mutations of what programs write ---------------------------------------------------------------------------

FOREIGN: Final = {
    "messages": (TURN + b"\n") * 3,
    "markdown": b"---\ntitle: T\ntags: [a, b]\ndate: 2024-03-01\n---\n# H #x\n"
    b"- [ ] task @due(2024-03-04)\n[[n]] `c`\n",
    "commands": b'{"command":"remember","id":"m","name":"x","valid_at":"2024-03-01T10:00:00Z"}\n' * 2,
    "locomo": b'[{"sample_id":"x","conversation":{"session_1_date_time":"1:56 pm on 8 May, 2023",'
    b'"session_1":[{"dia_id":"D1:1","speaker":"a","text":"x","blip_caption":"y"}]}}]',
    "graphiti": b'{"nodes":[{"uuid":"a","name":"A","created_at":"2024-03-01T10:00:00Z"},{"uuid":"b","name":"B"}],'
    b'"edges":[{"uuid":"e","source_node_uuid":"a","target_node_uuid":"b","name":"LIKES","fact":"A likes B"}]}',
    "mem0": b'[{"id":"x","memory":"y","created_at":"2024-03-01T10:00:00Z","history":[{"event":"ADD",'
    b'"new_memory":"z",'
    b'"created_at":"2024-03-01T10:00:00Z"}],"categories":["c"],"metadata":{"k":1}}]',
    "slack": b'[{"type":"message","user":"U01","text":"a <@U02> <https://x.y|z>","ts":"1772439000.000200",'
    b'"user_profile":{"real_name":"Ines"},"edited":{"user":"U01","ts":"1772439100.0"},"files":[{"name":"a.pdf"}]}]',
    "mcp-memory": ENTITY % 1 + b"\n" + ENTITY % 2
    + b'\n{"type":"relation","from":"e1","to":"e2","relationType":"likes"}\n',
}  # fmt: skip
"""Small files of the formats of which no export lies in `tests/data`."""
ENDINGS: Final = {
    "chatgpt": "chatgpt_*.json", "claude": "claude_*.json", "telegram": "telegram_*.json", "email": "*.[em][mb]*",
    "claude-code": "agents/claude*", "codex": "agents/codex*", "opencode": "agents/opencode*",
    "langsmith": "agents/langsmith*", "langchain": "agents/langchain*", "openai-agents": "agents/openai*",
    "conversations": "agents/[cs][oh]*s*.json*",
    "ics": "office/*.ics", "docx": "office/*.docx", "canvas": "office/*.canvas",
    "claude-memories": "office/memories.json", "discord": "teams/*.json",
    "csv": "*.csv", "html": "*.html", "pdf": "*.pdf", "text": "2024*.txt",
    "whatsapp": "WhatsApp*/*.txt",
}  # fmt: skip
ODD: Final = (
    b"1e999", b"NaN", b"-Infinity", b"null", b"[]", b"{}", b'""', b"true", b"-1", b"9" * 400, b"[[[[", b"\r",
    b"\n\n", b'"', b"'", b"<", b">", b"--", b"\\", b"\0", b"\xff\xfe",
    MARK, "\ud800".encode("utf-8", "surrogatepass"),
    b"0001-01-01", b"9999-12-31T23:59:60Z", b"1970-01-01T00:00:00+99:99",
)  # fmt: skip


def shapes() -> dict[str, list[Given]]:
    """The files of each format in the shape in which programs write them."""
    made = {form: [Given(form, "a.json" if raw[:1] in b"[{" else "a.md", raw)] for form, raw in FOREIGN.items()}
    for form, pattern in ENDINGS.items():
        found: list[Path] = sorted(EXPORTS.glob(pattern))
        assert found, pattern
        made[form] = [Given(form, file.name, file.read_bytes()) for file in found]
    return made


SHAPES: Final = shapes()


def broken(raw: bytes, chance: random.Random) -> bytes:
    """The bytes with up to four parts cut, doubled, moved or replaced by something odd."""
    for _ in range(chance.randint(1, 4)):
        one, other = sorted(chance.randrange(len(raw) + 1) for _ in range(2))
        other = min(other, one + chance.choice((0, 1, 8, 200)))
        part = raw[one:other]
        way = chance.randrange(4)
        put = (
            b"",
            part * chance.choice((2, 1000)),
            chance.choice(ODD),
            bytes(chance.randrange(256) for _ in part),
        )
        raw = raw[:one] + put[way] + raw[other:]
        if way == 2 and (values := list(re_values(raw))):  # a value of JSON in place of another
            begin, end = chance.choice(values)
            raw = raw[:begin] + chance.choice(ODD) + raw[end:]
    return raw[: 4 << 20]


def re_values(raw: bytes) -> Iterator[tuple[int, int]]:
    """Where values of JSON stand, as far as they begin behind a colon."""
    place = raw.find(b":")
    while 0 <= place < 20_000:
        end = min((found for mark in b",}]" if (found := raw.find(mark, place)) > 0), default=len(raw))
        yield place + 1, end
        place = raw.find(b":", end)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_broken_anywhere_is_read_or_refused_within_the_bounds(form: str) -> None:
    chance = random.Random(form)
    files: list[Given] = []
    for _ in range(MUTATIONS * TIMES):
        given = chance.choice(SHAPES[form])
        files.append(given._replace(form=chance.choice((form, None)), raw=broken(given.raw, chance)))
    record("broken", form, read_all(files))


def record(kind: str, form: str, said: list[Said]) -> None:
    """Print the most that a file of the format took; `pytest -s` shows it."""
    print(f"{kind:9} {form:11} {max(one.seconds for one in said):6.2f} s {max(one.peak for one in said):5} MiB")  # noqa: T201
