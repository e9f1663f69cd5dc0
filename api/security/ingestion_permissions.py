"""Permissions of the routes by which conversations and files come in, declared as those of `permissions`."""

from __future__ import annotations

from typing import Final

from api.security.permissions import Arguments, Caller, Permission, path_check_anywhere
from schemas.memory import Source


def _check_conversation(caller: Caller, arguments: Arguments) -> Arguments:
    conversation = arguments["conversation"]
    caller.require(conversation.graph_key, conversation.citizen_id, "write")
    caller.require_source(Source.INGESTION)
    if conversation.extract_facts:
        caller.require_source(Source.TOOL)
    if conversation.known_as_happened:
        caller.require_admin()
    return arguments


CONVERSATION: Final = Permission(
    "citizen:ID:write or LEVEL:write; admin with known_as_happened",
    _check_conversation,
    path_check_anywhere("write"),
)
"""For whole conversations: their records have the source ingestion, facts drawn from them the source tool."""


def _ingests(name: str) -> Permission:
    """Requires to write in the graph of the argument `name`, with the source ingestion."""

    def check(caller: Caller, arguments: Arguments) -> Arguments:
        caller.require(arguments[name].graph_key, arguments[name].citizen_id, "write")
        caller.require_source(Source.INGESTION)
        return arguments

    return Permission("citizen:ID:write or LEVEL:write", check, path_check_anywhere("write"))


FILE: Final = _ingests("file")
"""For files of other programs: their records have the source ingestion."""
TURNS: Final = _ingests("turns")
"""For messages of a conversation: their records have the source ingestion."""
