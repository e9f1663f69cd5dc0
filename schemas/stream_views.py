"""What notebooks and other programs show of a stream: HTML, and its graph as GraphML. Every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from json import dumps
from re import sub
from typing import Any


def xml_text(value: Any) -> str:
    """A value as text that XML can hold: without control characters, escaped."""
    return escape(sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", str(value)))


def graphml(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> str:
    """Nodes with an `id` and edges with `source` and `target` as GraphML; all else they say is an attribute."""
    keys: dict[str, str] = {}
    body = ""
    for kind, things, own in (("node", nodes, ("id",)), ("edge", edges, ("source", "target"))):
        for thing in things:
            ends = " ".join(f'{name}="{xml_text(thing[name])}"' for name in own)
            body += f"<{kind} {ends}>"
            for name, value in thing.items():
                if name not in own:
                    keys[f'id="{kind}-{name}" for="{kind}" attr.name="{name}"'] = (
                        "double" if isinstance(value, int | float) else "string"
                    )
                    text = dumps(value) if isinstance(value, dict) else value
                    body += f'<data key="{kind}-{name}">{xml_text(text)}</data>'
            body += f"</{kind}>\n"
    declared = "\n".join(f'<key {key} attr.type="{kind}"/>' for key, kind in keys.items())
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f'{head}\n{declared}\n<graph edgedefault="directed">\n{body}</graph>\n</graphml>\n'


def stream_html(rows: Sequence[tuple[bool, datetime, str, str]]) -> str:
    """The memories of a stream on a line of time, and those in focus, which `rows` says first, as a list.

    Each row goes on with when the memory began, its name and its text.
    """
    times = [began.timestamp() for _, began, _, _ in rows] or [0.0]
    first, length = min(times), max(times) - min(times) or 1.0
    dots = listed = ""
    for (focus, began, name, text), time in zip(rows, times, strict=False):
        title = f"{xml_text(name)}, {began:%Y-%m-%d}"
        place = f'cx="{20 + 560 * (time - first) / length:.0f}" cy="20" r="{6 if focus else 4}"'
        dots += f'<circle {place} fill="#5b6bd0" opacity="{0.9 if focus else 0.4}"><title>{title}</title></circle>'
        listed += f"<li><b>{title}</b><br>{xml_text(text)}</li>" if focus else ""
    line = '<line x1="20" x2="580" y1="20" y2="20" stroke="#9a9a9a"/>'
    drawing = f'<svg width="600" height="40" role="img" aria-label="When they began">{line}{dots}</svg>'
    return f"<div>{drawing}<ol>{listed}</ol></div>" if rows else "<p>Nothing came to mind.</p>"
