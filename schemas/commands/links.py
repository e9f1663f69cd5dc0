"""Commands on links; the rules of time are those of memories."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from schemas.base import Emotions, Identifier, JsonMap, Name, Text, Unit, check_identifier
from schemas.commands.base import (
    Command,
    Correcting,
    Resolving,
    Retracting,
    Revising,
    Subject,
    Undoing,
    check_period,
)
from schemas.memory import ResolutionState, Source
from schemas.temporal import Moment
from schemas.validation import REQUIRED

RelationType = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]


def _link_id(text: str) -> str:
    parts = text.split("|")
    if len(parts) not in (1, 3):
        raise ValueError("the id of a link is its own id, or `source|TYPE|target`")
    for part in parts:
        check_identifier(part)
    return text


LinkId = Annotated[str, Field(min_length=1, max_length=470), AfterValidator(_link_id)]
"""The own id of a link, or `source|TYPE|target`."""


class Relate(Command):
    """A new link. The REQUIRED tier of 003, component 6, has only the defaults that 003 names."""

    keeps_unknown: ClassVar[bool] = True
    subject: ClassVar[Subject] = "link"
    command: Literal["relate"] = "relate"
    id: Identifier | None = Field(
        default=None, description="Default: `source|TYPE|target`, so that the same link is made only once."
    )
    source_id: Identifier
    target_id: Identifier
    relation_type: RelationType
    energy: Unit
    confidence: Unit
    emotion_vector: Emotions
    goal: Name
    mindstate: Name
    energy_transfer_coefficient: Unit = 0.5
    resolution_state: ResolutionState = ResolutionState.IN_PROGRESS
    formation_trigger: Text | None = None
    felt_quality: Text | None = None
    emotion_description: Text | None = None
    body_sensation: Text | None = None
    spatial_context: Text | None = None
    sensory_details: JsonMap | None = None
    valid_at: Moment | None = None
    invalid_at: Moment | None = None
    source: Source = Source.CITIZEN
    episode_id: Identifier | None = None
    extra: JsonMap = Field(default_factory=dict)

    @model_validator(mode="after")
    def _holds_for_some_time(self) -> Relate:
        check_period(self.valid_at, self.invalid_at)
        return self


class LinkRevision(Revising):
    """New metadata for a link: only the fields given change, null clears a field that may be absent.

    Its ends and its type never change: a link with other ends is another link.
    """

    subject: ClassVar[Subject] = "link"
    _never_absent: ClassVar[frozenset[str]] = frozenset(REQUIRED)
    id: LinkId
    energy: Unit | None = None
    confidence: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: Name | None = None
    mindstate: Name | None = None
    energy_transfer_coefficient: Unit | None = None
    resolution_state: ResolutionState | None = None
    formation_trigger: Text | None = None
    felt_quality: Text | None = None
    emotion_description: Text | None = None
    body_sensation: Text | None = None
    spatial_context: Text | None = None
    sensory_details: JsonMap | None = None


class SupersedeLink(LinkRevision):
    """The world changed (`reality_changed`): the old metadata end at `effective_at`, the new begin there.

    `effective_at` (default: now) may lie in the past or in the future, but only where the link has a record. The
    new metadata hold from there to `valid_to`, by default over every later record to the end of what is known.
    """

    command: Literal["supersede_link"] = "supersede_link"
    effective_at: Moment | None = None


class CorrectLink(Correcting, LinkRevision):
    """We were wrong (`discovered_false`): the corrected metadata hold over the same valid time.

    This is the valid time of the record that holds now, or the given stretch. Where none holds now, it is the last
    one before, else the first one after, and the receipt says so. `valid_at` and `invalid_at` correct the valid
    time itself; null leaves the end open; over another record they are refused.
    """

    command: Literal["correct_link"] = "correct_link"
    id: LinkId


class Unrelate(Retracting):
    """The link does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`.

    Without `valid_to` it ends for good. With none of the three, the record that holds now never held. Where none
    holds now, it is the last one before, else the first one after, and the receipt says so.
    """

    subject: ClassVar[Subject] = "link"
    command: Literal["unrelate"] = "unrelate"
    id: LinkId


class ResolveLink(Resolving):
    """Set another resolution state; other metadata stay.

    It holds from `effective_at` (default: now) to `valid_to`, by default over every later record to the end of
    what is known.
    """

    subject: ClassVar[Subject] = "link"
    command: Literal["resolve_link"] = "resolve_link"
    id: LinkId


class UndoLink(Undoing):
    """Revert the last change of a link by new records; `undoes`, `undoes_source`, `undoes_key` as for a memory."""

    subject: ClassVar[Subject] = "link"
    command: Literal["undo_link"] = "undo_link"
    id: LinkId
