"""A stream as text for a prompt: when, who and what (`form=compact`). Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, repeat, zip_longest
from typing import Final, NamedTuple

from orchestration.assembly.budget import Budget, cut_to_room, shares_words
from orchestration.assembly.displayed_text import attribution, one_line
from orchestration.assembly.stream import is_bare
from orchestration.traversal.paths import STATE_NAMES, relation_words, short_name
from schemas.memory import ConsciousnessNode, Level, Source
from schemas.stream import ConsciousnessStream, Offer, ResolutionPattern, TemporalDissonance
from schemas.temporal import long_date

NO_MEMORIES: Final = "No memories were found."
NOTHING_FITS: Final = "Nothing fits the question. The nearest"
"""The heading of the periphery where nothing fits the question."""
FOCUS, PERIPHERAL, BACKGROUND = "In focus", "Peripheral", "In the background"
LINKS, PATHS, PATTERNS = "Links in focus", "Paths of thought", "Ways out of a blockage"
RULES, CHANGES = "Rules", "Beliefs that changed"
OFFERS, MISSING = "Could be done", "Missing"
MEMORY_HEADINGS: Final = (FOCUS, PERIPHERAL, NOTHING_FITS, BACKGROUND)
_HEADINGS: Final = (*MEMORY_HEADINGS, LINKS, PATHS, PATTERNS, RULES, CHANGES, OFFERS, MISSING)
"""The headings in their order."""
REST_SHARE: Final = 0.2
"""The largest share of the tokens that is kept for what is not a memory."""
MAX_PATHS, MAX_PATTERNS, MAX_RULES = 3, 3, 5
BESIDE: Final = " (beside it: "
"""Begins what a way out is told with where there is room."""
MAX_EMOTIONS: Final = 3
MAX_CONTESTS: Final = 2
REASONS: Final = {
    "reality_changed": "the world changed",
    "discovered_false": "found to be false",
    "quarantined": "quarantined",
    "undone": "undone",
}
LEVEL_WORDS: Final = {Level.N1: "", Level.N2: "collective", Level.N3: "ecosystem"}

_day = lru_cache(maxsize=4096)(long_date)


class CompactText(NamedTuple):
    """A stream as text, the memories that it tells, cut where they had to be, and how many did not fit."""

    text: str
    memories: tuple[ConsciousnessNode, ...]
    omitted: int


def tell(
    stream: ConsciousnessStream, budget: Budget | None = None, words: Collection[str] = (), *, ids: bool = False
) -> CompactText:
    """The memories by tier, one line each; the links among those in focus; paths of thought, ways out of a
    blockage, rules; the beliefs that changed; the offers.

    Each line is `- [day it became true] speaker or name: text (state; emotions)`. What a reader must not take for
    the citizen's own present word says whose it is, until when it held, who contests it. With `ids` it has the id
    of the memory, for a reader who may change it. Of a long text the passage that answers is shown, with its
    place; a name that begins its text is not said twice. Line breaks within a text become spaces, so that one line
    is one memory, and invisible characters are left out. The last block says what is missing. The same stream
    gives the same text.

    A name without a text tells nothing, and is left out. So is a shared memory without the `words`, the stems of
    the question; in focus it stands behind the others. To a citizen without a life of its own all are told.

    Within a `budget` the first memory is always told, whole if it fits alone. A fifth is kept for what is not
    a memory, or as much as there is of it. The others follow in their order, each whole, until one does not fit:
    it is cut to the part with most of the `words`, and ends the list. Which memories are told depends on nothing
    else.
    """
    page = _Page(budget)
    places = _places(stream, words)
    page.reserve(MISSING, f"{len(places)} memories did not fit")
    for gap in stream.degraded:
        line = one_line(f"{gap.query}: {gap.reason}")
        page.insist(MISSING, line)
        page.reserve(MISSING, line)
    keep = page.share(_rest(stream, stream.activation_tiers.ordered(), ids=ids))
    memories = _tell_memories(page, places, words, keep=keep, ids=ids)
    if not places:
        page.begin(NO_MEMORIES)
    for heading, line in _rest(stream, memories, ids=ids):
        if not page.add(heading, line) and heading == PATTERNS:
            page.add(heading, line.partition(BESIDE)[0])
    every = stream.omitted + len(places)
    text = page.text(every - len(memories))
    while page.exceeds(text) and (dropped := page.drop_last()) is not None:
        if dropped in MEMORY_HEADINGS:
            memories.pop()
        text = page.text(every - len(memories))
    return CompactText(text, tuple(memories), every - len(memories))


class _Page:
    """Lines under their headings, within a budget."""

    def __init__(self, budget: Budget | None) -> None:
        self._count: Callable[[str], int] = (lambda _: 0) if budget is None else budget.count
        self.left = self._limit = 0 if budget is None else budget.limit
        self.bounded = budget is not None
        self._blocks: dict[str, list[str]] = {}
        self._first = ""
        self._added: list[str] = []  # the headings of the lines that may be dropped again

    def exceeds(self, text: str) -> bool:
        """Whether the whole has more tokens than it may: sometimes its parts have fewer."""
        return self.bounded and self._count(text) > self._limit

    def drop_last(self) -> str | None:
        """Take back the line that was added last, and say under which heading; None where no line may go."""
        if not self._added:
            return None
        heading = self._added.pop()
        self._blocks[heading].pop()
        if not self._blocks[heading]:
            del self._blocks[heading]
        return heading

    def cost(self, heading: str, line: str) -> int:
        return self._count(f"\n\n# {heading}\n- {line}" if heading not in self._blocks else f"\n- {line}")

    def add(self, heading: str, line: str, keep: int = 0) -> bool:
        """Add a line if this many tokens are left after it; say whether it was added."""
        cost = self.cost(heading, line)
        if self.bounded and cost + keep > self.left:
            return False
        self.insist(heading, line)
        self._added.append(heading)
        self.left -= cost
        return True

    def insist(self, heading: str, line: str) -> None:
        """Add a line whatever it costs."""
        self._blocks.setdefault(heading, []).append(line)

    def reserve(self, heading: str, line: str) -> None:
        """Keep room for a line."""
        self.left -= self.cost(heading, line)

    def share(self, lines: Iterable[tuple[str, str]]) -> int:
        """The tokens to keep for lines under their headings: about what they take, at most their share."""
        most, used = int(self.left * REST_SHARE), 0
        for heading, line in lines:
            used += self.cost(heading, line)
            if used >= most:
                return most
        return used

    def begin(self, line: str) -> None:
        """The line that stands before all blocks."""
        self._first = line

    def text(self, omitted: int) -> str:
        """All lines; the last one tells how many memories were `omitted`."""
        last = [f"{omitted} {'memory' if omitted == 1 else 'memories'} did not fit"] if omitted else []
        lines = {**self._blocks, MISSING: [*self._blocks.get(MISSING, ()), *last]}
        blocks = ["\n- ".join((f"# {name}", *lines[name])) for name in _HEADINGS if lines.get(name)]
        return "\n\n".join(filter(None, (self._first, *blocks)))


def _places(stream: ConsciousnessStream, words: Collection[str]) -> list[tuple[str, ConsciousnessNode]]:
    """Each memory that is to be told with the heading that it stands under, in the order of the telling."""
    tiers = stream.activation_tiers
    has_own = any(node.level is Level.N1 and not is_bare(node) for node in tiers.ordered())
    nearest = NOTHING_FITS if stream.nothing_fits else PERIPHERAL
    places: list[tuple[str, ConsciousnessNode]] = []
    for heading, nodes in ((FOCUS, tiers.focus), (nearest, tiers.peripheral), (BACKGROUND, tiers.background)):
        behind: list[tuple[str, ConsciousnessNode]] = []
        for node in nodes:
            if is_bare(node):
                continue
            if node.level is Level.N1 or not has_own or shares_words(node, words):
                places.append((heading, node))
            elif heading == FOCUS:
                behind.append((heading, node))
        places += behind
    return places


def _tell_memories(
    page: _Page, places: Sequence[tuple[str, ConsciousnessNode]], words: Collection[str], *, keep: int, ids: bool
) -> list[ConsciousnessNode]:
    """Add the memories that fit beside what is kept, and return them. The first is always there."""
    told: list[ConsciousnessNode] = []
    for heading, node in places:
        if page.add(heading, _memory_line(node, ids=ids), keep=keep if told else 0):
            told.append(node)
            continue
        cost = partial(_line_cost, page, heading, ids=ids)
        cut = cut_to_room(node, page.left - keep, words, cost)
        line = _memory_line(cut, ids=ids)
        if told and not page.add(heading, line, keep=keep):
            break
        if not told:
            page.reserve(heading, line)
            page.insist(heading, line)
        told.append(cut)
        break
    return told


def _line_cost(page: _Page, heading: str, node: ConsciousnessNode, *, ids: bool) -> int:
    return page.cost(heading, _memory_line(node, ids=ids))


def _rest(
    stream: ConsciousnessStream, memories: Sequence[ConsciousnessNode], *, ids: bool
) -> Iterator[tuple[str, str]]:
    """What is told beside these memories, in rounds: the first of each kind, then the second of each."""
    shown = {(node.graph_key, node.node_id) for node in memories}
    changes = [one for one in stream.temporal_dissonances if (one.graph_key, one.node_id) in shown]
    paths = stream.traversal_graph.suggested_paths[:MAX_PATHS]
    kinds: list[tuple[str, Iterable[str]]] = [
        (RULES, [f"{one_line(rule.rule)} ({rule.severity})" for rule in stream.rules[:MAX_RULES]]),
        (PATHS, [f"{path.path_narrative} ({path.traversal_probability:.2f} likely)" for path in paths]),
        (PATTERNS, map(_pattern_line, stream.resolution_patterns[:MAX_PATTERNS])),
        (CHANGES, map(_change_line, changes)),
        (OFFERS, (_offer_line(offer, ids=ids) for offer in stream.offers)),
        (LINKS, _link_lines(stream, shown)),
    ]
    rounds = zip_longest(*(zip(repeat(heading), lines, strict=False) for heading, lines in kinds))
    for heading, line in filter(None, chain.from_iterable(rounds)):
        yield heading, one_line(line)


def _pattern_line(pattern: ResolutionPattern) -> str:
    steps = f"{BESIDE}{'; '.join(pattern.steps)})" if pattern.steps else ""
    return f"{pattern.blockage} → resolved by → {pattern.resolution}{steps}"


def _memory_line(node: ConsciousnessNode, *, ids: bool) -> str:
    name, text = one_line(node.speaker or node.name), one_line(node.description)
    passage, shared_by = node.passage, filter(None, (LEVEL_WORDS[node.level], node.collective))
    part = f"characters {passage.start}–{passage.end} of {passage.length}" if passage else ""
    # Whose word it is, unless it is the citizen's own, or that of a speaker who is named.
    spoken = node.source is Source.INGESTION and node.speaker
    is_usual = node.level is Level.N1 and (spoken or node.source is Source.CITIZEN)
    remarks = [part, " ".join(shared_by), "" if is_usual else attribution(node)]
    if node.resolution_state is not None:
        remarks.append(STATE_NAMES[node.resolution_state].lower())
    remarks += [
        _emotions(node.emotion_vector),
        *_ends(node),
        *_contests(node),
        f"id {node.node_id}" if ids else "",
    ]
    if not node.speaker and text.startswith(name.removesuffix("…")):
        name = ""
    told, remark = ": ".join(filter(None, (name, text))), _joined(remarks)
    return f"[{_day(node.valid_at)}] {told}{f' ({remark})' if remark else ''}"


def _joined(remarks: Iterable[str]) -> str:
    return "; ".join(remark for remark in remarks if remark)


def _emotions(vector: Mapping[str, float] | None) -> str:
    strongest = sorted((vector or {}).items(), key=lambda item: (-item[1], item[0]))[:MAX_EMOTIONS]
    return ", ".join(f"{one_line(name)} {intensity:.2g}" for name, intensity in strongest if intensity > 0)


def _ends(node: ConsciousnessNode) -> list[str]:
    """The end of a record on either time axis: a reader must not take the past for the present."""
    ends = []
    if node.invalid_at is not None:
        ends.append(f"true until {_day(node.invalid_at)}")
    if node.expired_at is not None:
        ends.append(f"believed until {_day(node.expired_at)}")
    if node.overtaken_at is not None and node.overtaken_by is not None:
        ends.append(f"held until {_day(node.overtaken_at)}, it seems")
    if node.duplicates:
        ends.append(f"said {len(node.duplicates) + 1} times")
    if ends and node.invalidation_reason is not None:
        ends.append(REASONS[node.invalidation_reason])
    return ends


def _contests(node: ConsciousnessNode) -> list[str]:
    """Who contests a shared memory, and why: the first ones, and how many more there are."""
    said = [
        f"contested by {one_line(contest.by or 'somebody')}: {one_line(contest.reason)}"
        for contest in node.contested[:MAX_CONTESTS]
    ]
    further = len(node.contested) - len(said)
    return [*said, f"and by {further} more"] if further else said


def _link_lines(stream: ConsciousnessStream, shown: Collection[tuple[str, str]]) -> Iterable[str]:
    focus = {(node.graph_key, node.node_id): node for node in reversed(stream.activation_tiers.focus)}
    for link in stream.traversal_graph.edges:
        source, target = (link.graph_key, link.source_id), (link.graph_key, link.target_id)
        if source in focus and target in focus and source in shown and target in shown:
            ends = short_name(focus[source]), relation_words(link.relation_type), short_name(focus[target])
            state = STATE_NAMES[link.resolution_state].lower()
            remarks = _joined((state, f"goal: {one_line(link.goal)}", _emotions(link.emotion_vector)))
            yield f"{' → '.join(ends)} ({remarks})"


def _offer_line(offer: Offer, *, ids: bool) -> str:
    named = f"{offer.kind} {one_line(offer.name)}: {one_line(offer.reason)}"
    return f"{named} (offer {offer.id})" if ids else named


def _change_line(change: TemporalDissonance) -> str:
    pattern = change.correction_pattern_id
    remarks = (
        REASONS[change.dissonance_type],
        one_line(change.correction_trigger) if pattern else "",
        f"believed since {_day(change.belief_held_from)}",
        _emotions(change.discovery_emotions),
    )
    was, now = one_line(change.original_belief), one_line(change.corrected_belief)
    name = one_line(change.node_name)
    return f"[{_day(change.corrected_at)}] {name}: was “{was}”, now “{now}” ({_joined(remarks)})"
