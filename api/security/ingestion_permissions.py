"""Permissions of the routes by which conversations and files come in, declared as those of `permissions`."""

from __future__ import annotations

from typing import Final

from api.security.permissions import Arguments, Caller, Permission, path_check_anywhere
from schemas.memory import Level, Source


def _check_conversation(caller: Caller, arguments: Arguments) -> Arguments:
    conversation = arguments["conversation"]
    caller.require(Level.N1, conversation.citizen_id, "write")
    caller.require_source(Source.INGESTION)
    if conversation.extract_facts:
        caller.require_source(Source.TOOL)
    if conversation.known_as_happened:
        caller.require_admin()
    return arguments


CONVERSATION: Final = Permission(
    "citizen:ID:write; admin with known_as_happened",
    _check_conversation,
    path_check_anywhere("write", shared=False),
)
"""For whole conversations: their records have the source ingestion, facts drawn from them the source tool."""


def _ingests(name: str) -> Permission:
    """Requires to write for the citizen of the argument `name`, with the source ingestion."""

    def check(caller: Caller, arguments: Arguments) -> Arguments:
        caller.require(Level.N1, arguments[name].citizen_id, "write")
        caller.require_source(Source.INGESTION)
        return arguments

    return Permission("citizen:ID:write", check, path_check_anywhere("write", shared=False))


FILE: Final = _ingests("file")
"""For files of other programs: their records have the source ingestion."""
TURNS: Final = _ingests("turns")
"""For messages of a conversation: their records have the source ingestion."""
