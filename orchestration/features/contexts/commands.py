"""Refuses or mends what a context says badly, and makes the commands that write it: memory, nodes, edges. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Final, NamedTuple

from orchestration.appraisal.feelings import read_emotions, read_result
from orchestration.features.contexts.values import MOST_NODES, GivenEdge, GivenNode, WriteContext, WrittenEdge
from schemas.base import without_nulls
from schemas.commands import Relate, Remember
from schemas.errors import InvalidRequest
from schemas.memory import CONTEXT, TELLING, TO_REMEMBER, ResolutionState
from substrate.emotions import EMOTION_WORDS, normal_emotion
from substrate.language.text import count_of, name_key

SHOWN_NAME: Final = 80
_HALF: Final = 0.5


class EdgeCommand(NamedTuple):
    """The command of an edge, and how the receipt shows it."""

    command: Relate
    shown: WrittenEdge


def memory_command(mended: CompleteContext, command_id: str) -> Remember:
    """The command that stores the memory of a context."""
    context = mended.context
    names = {"intensity", "result", "rule", "severity", "goal", "importance", "valid_at", "id"}
    given: dict[str, Any] = {**context.model_dump(include=names), "tags": context.tags or None}
    given |= {"confidence": context.certainty, "emotion_vector": _feelings(context), "felt_quality": mended.felt}
    if mended.told_result is not None:
        given["extra"] = {"result_text": mended.told_result}
    begun = shorten(context.description, SHOWN_NAME, placeholder="…")
    return Remember(
        citizen_id=context.citizen_id,
        command_id=command_id,
        node_type=CONTEXT,
        name=context.action or begun or context.description[:SHOWN_NAME],
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
    for place, edge in enumerate(edges):
        names = ("goal", "mindstate", "energy", "certainty")
        filled = tuple(name for name in names if getattr(edge, name) is None)
        link_id = f"{context_id}:{place}"
        source, target = (ids.get(end) or ids[key_of(end)] for end in (edge.source, edge.target))
        certainty = edge.certainty if edge.certainty is not None else context.certainty
        energy = edge.energy if edge.energy is not None else context.intensity
        command = Relate(
            citizen_id=context.citizen_id,
            id=link_id,
            source_id=source,
            target_id=target,
            relation_type=edge.relation_type,
            formation_trigger="context",
            resolution_state=ResolutionState.RESOLVED,
            episode_id=context_id,
            source=context.source,
            goal=edge.goal or context.goal or context.action or TO_REMEMBER,
            mindstate=edge.mindstate or context.emotion or TELLING,
            energy=_HALF if energy is None else energy,
            confidence=_HALF if certainty is None else certainty,
            emotion_vector=_feelings(context) or {},
            **({} if context.valid_at is None else {"valid_at": context.valid_at}),
        )
        assumed = ("confidence" if name == "certainty" else name for name in filled)
        feeling = () if context.emotion else ("emotion_vector",)
        ends = edge.model_dump(include={"source", "relation_type", "target"})
        shown = WrittenEdge(link_id=link_id, **ends, filled=filled, found=not context.edges)
        yield EdgeCommand(command.assuming(*assumed, *feeling), shown)


NOTHING: Final = frozenset(("", "none", "null", "undefined", "n/a"))
"""What programs write for a value that is not there."""
NO_FEELING: Final = NOTHING | {"neutral"}
LONGEST_NAME: Final = 120
"""A node with more characters is a text."""
WORDS_OF_A_NAME: Final = 3
"""A feeling or a result with more words is a text about it."""
MOST_CERTAIN: Final = 0.95
"""What an agent lived and told is never beyond doubt; a certainty of 1 says nothing."""


class CompleteContext(NamedTuple):
    """A context that can be written. `filled`: what nobody gave; `felt`, `told_result`: texts about them."""

    context: WriteContext
    warnings: tuple[str, ...]
    filled: tuple[str, ...]
    felt: str | None = None
    told_result: str | None = None


@dataclass(slots=True)
class _Findings:
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changes: dict[str, Any] = field(default_factory=dict)


def mend(context: WriteContext) -> CompleteContext:
    """The context without what can be mended. Raises InvalidRequest that names everything that cannot."""
    found = _Findings()
    if is_nothing(context.description):
        found.faults.append("description: says nothing; tell what happened")
    for name in ("action", "rule", "goal"):
        value = getattr(context, name)
        if value is not None and is_nothing(value):
            found.changes[name] = None
            found.warnings.append(f"{name}: {value!r} says nothing and was left out")
    _mend_graph(context, found)
    felt = _mend_emotion(context, found)
    told_result = _mend_result(context, found)
    if context.certainty is not None and context.certainty > MOST_CERTAIN:
        found.changes["certainty"] = MOST_CERTAIN
        found.warnings.append(
            f"certainty: {context.certainty:g} was stored as {MOST_CERTAIN}: what was lived is never beyond doubt"
        )
    if found.faults:
        raise InvalidRequest("; ".join(found.faults), faults=found.faults)
    mended = context.model_copy(update=found.changes)
    names = ("certainty", *(("intensity",) if mended.emotion else ()))
    filled = tuple(name for name in names if getattr(mended, name) is None)
    return CompleteContext(mended, (*context.notes, *found.warnings), filled, felt, told_result)


def is_nothing(text: str | None) -> bool:
    """True for no text, a blank one, and the words that programs write for nothing."""
    return (text or "").strip().lower() in NOTHING


def _mend_graph(context: WriteContext, found: _Findings) -> None:
    """Nodes and edges, each once; the ends of edges are nodes too."""
    nodes: dict[str, GivenNode] = {}
    for place, node in enumerate(context.nodes):
        _check_name(node.name if node.id is None else node.id, f"nodes.{place}", found)
        key = node.id or key_of(node.name or "")
        if key in nodes:
            found.warnings.append(f"nodes.{place}: {node.name or node.id} was named twice and counts once")
        nodes.setdefault(key, node)
    edges = _mend_edges(context.edges, found)
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in nodes and key_of(end) not in nodes:
                nodes[key_of(end)] = GivenNode(name=end)
                found.warnings.append(f"nodes: {end} was added, because an edge names it")
    if len(nodes) > MOST_NODES:
        found.faults.append(
            f"nodes: with the ends of its edges the context has {len(nodes)}, at most {MOST_NODES} are allowed"
        )
    found.changes |= {"nodes": tuple(nodes.values()), "edges": edges}


def _check_name(name: str | None, place: str, found: _Findings) -> None:
    shown = name or ""
    if is_nothing(name) or not key_of(shown):
        found.faults.append(f"{place}: {shown!r} is no name; leave it out")
    elif len(shown) > LONGEST_NAME or "\n" in shown:
        found.faults.append(f"{place}: a name has at most {LONGEST_NAME} characters; this text is a description")


def key_of(name: str) -> str:
    """The form in which names are compared; the bare text for a name without letters."""
    return name_key(name) or name.strip()


def _mend_edges(edges: Sequence[GivenEdge], found: _Findings) -> tuple[GivenEdge, ...]:
    kept: dict[tuple[str, str, str], GivenEdge] = {}
    for place, edge in enumerate(edges):
        where = f"edges.{place}"
        for name in ("source", "target"):
            _check_name(getattr(edge, name), f"{where}.{name}", found)
        if edge.relation_type.lower() in NOTHING:
            found.faults.append(f"{where}.relation_type: {edge.relation_type} is no relation")
        key = (key_of(edge.source), edge.relation_type, key_of(edge.target))
        if key[0] == key[2]:
            found.warnings.append(f"{where}: {edge.source} has no relation to itself; the edge was left out")
        elif key in kept:
            found.warnings.append(f"{where}: the same edge was named twice and counts once")
        else:
            kept[key] = edge
    return tuple(kept.values())


def _mend_emotion(context: WriteContext, found: _Findings) -> str | None:
    """Make the feeling a name. Returns the text about it, where it was one."""
    given = context.emotion
    if given is None:
        return None
    if given.strip().lower() in NO_FEELING:
        found.changes["emotion"] = None
        found.warnings.append(f"emotion: {given!r} is no feeling and was left out")
        return None
    if _is_name(given):
        found.changes["emotion"] = normal_emotion(given)
        if found.changes["emotion"] not in EMOTION_WORDS.values():
            found.warnings.append(f"emotion: {given} is no known feeling; only contexts with that word match it")
        return None
    read = next(iter(read_emotions(given)), None)
    if read is None:
        found.faults.append("emotion: name one feeling, such as frustration; no feeling was found in this text")
        return None
    found.changes["emotion"] = read
    found.warnings.append(f"emotion: is a text, so {read} was read from it; the text was kept as felt_quality")
    return given


def _mend_result(context: WriteContext, found: _Findings) -> str | None:
    """Make the result a name. Returns the text about it, where it was one."""
    given = context.result
    if given is None or _is_name(given):
        found.changes["result"] = None if is_nothing(given) else (given or "").strip().lower()
        if given is not None and is_nothing(given):
            found.warnings.append(f"result: {given!r} says nothing and was left out")
        return None
    read = read_result(given)
    if read is None:
        found.faults.append(
            "result: name it: positive, negative, complex, or a word of your own; none was found in this text"
        )
        return None
    found.changes["result"] = read
    found.warnings.append(f"result: is a text, so {read} was read from it; the text was kept in extra")
    return given


def _is_name(text: str) -> bool:
    return len(text.split()) <= WORDS_OF_A_NAME and len(text) <= LONGEST_NAME


def sparse_warning(context: WriteContext, found: Iterable[GivenEdge]) -> str | None:
    """The warning for a context of several nodes without edges; `found` were read from its description."""
    if context.edges or len(context.nodes) < 2:
        return None
    read = [f"{edge.source}|{edge.relation_type}|{edge.target}" for edge in found]
    nodes = count_of(len(context.nodes), "node")
    if not read:
        return f"edges: none was given between {nodes}, and none was found in the description"
    return f"edges: none was given between {nodes}; read from the description: {', '.join(read)}"
