"""The names of turns and sessions as readers see them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

SHOWN_WORDS: Final = 60
"""This many characters of a turn are shown as its name."""
SUBJECTS: Final = "subjects"
"""The key in `extra` of a session under which its subject words are stored."""
_ROLES: Final = frozenset(("user", "assistant", "system", "tool", "human", "ai"))
_COUNTED_TITLE: Final = re.compile(r"session \d+( \(\d+\))?( · |\Z)")


def shown_name(memory_id: str, name: str, speaker: str | None, text: str | None) -> str:
    """The name of a memory as readers see it: of a turn its speaker and first words, such as "Ada: we moved to …".

    A turn is stored under its place in the conversation, the end of its id. A name given to it later is shown.
    """
    if not speaker or not memory_id.endswith(f":{name}"):
        return name
    by = speaker.capitalize() if speaker in _ROLES else speaker
    line = " ".join((text or "").split())
    if len(line) > SHOWN_WORDS:
        line = f"{line[: SHOWN_WORDS + 1].rpartition(' ')[0] or line[:SHOWN_WORDS]}…"
    return f"{by}: {line}"


def shown_session(name: str, text: str | None, extra: Mapping[str, Any] | None) -> str:
    """The name of a session: its day and what it was about; its title too, unless that only counts it."""
    subjects = (extra or {}).get(SUBJECTS)
    if not isinstance(subjects, list) or not subjects:
        return name
    title = "" if _COUNTED_TITLE.match(name) else name.removesuffix(f" · {text}")
    when = " · ".join(part for part in (title, text) if part)
    return f"{when or name}: {', '.join(map(str, subjects))}"
