"""Whose memory a server of the protocol is: tools for one citizen need not be told so, nor take another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from schemas.base import CitizenId
from schemas.errors import InvalidRequest

CITIZEN: Final = "citizen_id"


class Owner(NamedTuple):
    """The citizen whose memory it is, where it is one's. `alone`: no tool takes another's id."""

    citizen_id: str | None = None
    alone: bool = False

    def asked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, with the citizen where they leave it out. Raises InvalidRequest for another."""
        if self.citizen_id is None:
            return dict(arguments)
        said = {CITIZEN: self.citizen_id, **arguments}
        if self.alone and said[CITIZEN] != self.citizen_id:
            raise InvalidRequest(
                f"{CITIZEN}: this server is for {self.citizen_id} alone", remedy=f"Leave {CITIZEN} out."
            )
        return said

    def offered(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of a tool's arguments, in which the citizen need not be named."""
        if self.citizen_id is None:
            return dict(schema)
        named = {name: said for name, said in schema["properties"].items() if name != CITIZEN or not self.alone}
        needed = [name for name in schema.get("required", ()) if name != CITIZEN]
        return {**schema, "properties": named, "required": needed}


def owner_alone(citizen_id: str, named: str) -> Owner:
    """The owner of a server for one citizen alone. Raises InvalidRequest, by the name that the caller knows."""
    try:
        return Owner(TypeAdapter(CitizenId).validate_python(citizen_id), alone=True)
    except ValidationError as error:
        fault = "a citizen id has 1 to 64 letters, digits and _ . -, and begins with a letter or a digit"
        raise InvalidRequest(f"{named}: {fault}") from error
