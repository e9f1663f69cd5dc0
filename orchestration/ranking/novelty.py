"""Aspects: what says other words than its speaker's last turn opens a new one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from orchestration.ranking.candidates import Candidate, Key
from substrate.text import stems


def opened(memories: Mapping[Key, Candidate], asked: Collection[Key]) -> dict[Key, float]:
    """For each memory of `asked` the share of its stems that its speaker's last one among them lacks; in [0, 1].

    In the order of `valid_at`, level by level; a speaker's first opens all that it says. An order of events is an
    order of aspects, and each is where somebody began to speak of it (Hearst, "TextTiling", 1997: a new subject
    shows by its new words).
    """
    before: dict[tuple[object, object], frozenset[str]] = {}
    shares: dict[Key, float] = {}
    for key in sorted(asked, key=lambda key: (key[0], int(memories[key].get("valid_at")), key)):
        memory = memories[key]
        said, speaker = stems(memory.get("description") or ""), (key[0], memory.get("speaker"))
        shares[key] = len(said - before.get(speaker, frozenset())) / max(1, len(said))
        before[speaker] = said
    return shares
