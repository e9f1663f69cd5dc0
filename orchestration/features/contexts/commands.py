"""The commands that write a context: its memory, its nodes, its edges. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any, Final, NamedTuple

from orchestration.features.contexts.mending import Mended, key_of
from orchestration.features.contexts.values import GivenEdge, WriteContext, WrittenEdge
from schemas.base import without_nulls
from schemas.commands import Relate, Remember
from schemas.memory import CONTEXT, TELLING, TO_REMEMBER, ResolutionState

SHOWN_NAME: Final = 80
FORMED_BY: Final = "context"
_HALF: Final = 0.5


class EdgeCommand(NamedTuple):
    """The command of an edge, and how the receipt shows it."""

    command: Relate
    shown: WrittenEdge


def memory_command(mended: Mended, command_id: str) -> Remember:
    """The command that stores the memory of a context."""
    context = mended.context
    given: dict[str, Any] = {
        "confidence": context.certainty,
        "intensity": context.intensity,
        "emotion_vector": _feelings(context),
        "felt_quality": mended.felt,
        "result": context.result,
        "rule": context.rule,
        "severity": context.severity,
        "goal": context.goal,
        "importance": context.importance,
        "valid_at": context.valid_at,
        "tags": context.tags or None,
        "id": context.id,
    }
    if mended.told_result is not None:
        given["extra"] = {"result_text": mended.told_result}
    return Remember(
        citizen_id=context.citizen_id,
        command_id=command_id,
        node_type=CONTEXT,
        name=context.action
        or shorten(context.description, SHOWN_NAME, placeholder="…")
        or context.description[:SHOWN_NAME],
        description=context.description,
        abstraction=context.abstraction,
        source=context.source,
        restate=True,
        **without_nulls(given),
    )


def _feelings(context: WriteContext) -> dict[str, float] | None:
    if context.emotion is None:
        return None
    return {context.emotion: _HALF if context.intensity is None else context.intensity}


def edge_commands(
    context: WriteContext, context_id: str, edges: Sequence[GivenEdge], ids: Mapping[str, str]
) -> Iterator[EdgeCommand]:
    """The commands of the edges, each with an id of its own. `ids`: of the nodes, by `key_of` and by themselves.

    An edge belongs to its context by `episode_id`. What it leaves out is taken from the context.
    """
    read = not context.edges
    for place, edge in enumerate(edges):
        filled = tuple(
            name for name in ("goal", "mindstate", "energy", "certainty") if getattr(edge, name) is None
        )
        link_id = f"{context_id}:{place}"
        source, target = (ids.get(end) or ids[key_of(end)] for end in (edge.source, edge.target))
        command = Relate(
            citizen_id=context.citizen_id,
            id=link_id,
            source_id=source,
            target_id=target,
            relation_type=edge.relation_type,
            formation_trigger=FORMED_BY,
            resolution_state=ResolutionState.RESOLVED,
            episode_id=context_id,
            source=context.source,
            **_values(edge, context),
            **({} if context.valid_at is None else {"valid_at": context.valid_at}),
        )
        assumed = ("confidence" if name == "certainty" else name for name in filled)
        feeling = () if context.emotion else ("emotion_vector",)
        shown = WrittenEdge(
            link_id=link_id,
            source=edge.source,
            relation_type=edge.relation_type,
            target=edge.target,
            filled=filled,
            found=read,
        )
        yield EdgeCommand(command.assuming(*assumed, *feeling), shown)


def _values(edge: GivenEdge, context: WriteContext) -> dict[str, Any]:
    certainty = edge.certainty if edge.certainty is not None else context.certainty
    energy = edge.energy if edge.energy is not None else context.intensity
    return {
        "goal": edge.goal or context.goal or context.action or TO_REMEMBER,
        "mindstate": edge.mindstate or context.emotion or TELLING,
        "energy": _HALF if energy is None else energy,
        "confidence": _HALF if certainty is None else certainty,
        "emotion_vector": _feelings(context) or {},
    }
