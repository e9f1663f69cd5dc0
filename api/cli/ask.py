"""`substrate ask`, `wake` and `resonate`: a question, a state or a wave signal in; what comes to mind out."""

from __future__ import annotations

from operator import attrgetter, itemgetter

from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, stream_text, support
from api.cli.program import argument, option
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.retrieval import retrieve_consciousness_context
from schemas.errors import InvalidRequest
from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.mind.state import CitizenState
from schemas.temporal import TemporalMode
from schemas.wave_signal import Resonances, Resonate


class AskCommand(options.StoreCommand, name="ask"):
    """Ask a citizen's memory, and see what comes to mind and why."""

    query_text: str = argument("question", "What context is needed.")
    citizen_id: str = options.CITIZEN
    as_of_time: str | None = options.AS_OF
    known_at: str | None = options.KNOWN_AT
    temporal_mode: str | None = option("--mode", "current, point_in_time, evolution or full_history.")
    time_range_start: str | None = option(
        "--since TIME", "With --mode evolution: what was known from this time on."
    )
    time_range_end: str | None = option("--until TIME", "With --mode evolution: what was known before this time.")
    query_levels: list[str] | None = options.ANY_LEVELS
    collectives: list[str] | None = options.COLLECTIVES
    max_results_per_level: int = options.RESULTS_OF_A_QUERY
    time_zone: str = option(
        "--time-zone NAME", 'The zone in which "yesterday" is read, such as Europe/Berlin.', "UTC"
    )
    min_energy: float | None = option("--min-energy", "0 to 1.")
    min_confidence: float | None = option("--min-confidence", "0 to 1.")
    required_emotions: list[str] | None = option(
        "--emotion NAME", "Only memories with this emotion; repeat for several."
    )
    emotions_match: bool = option("--any-emotion", "Any one of several emotions is enough.", False)
    filters: list[str] | None = options.FILTER
    plurality: bool = options.PLURAL
    rerank: str | None = options.RERANK
    prefer: str | None = option("--prefer NAME", "Show generalisations too: general (first) or concrete (behind).")
    conversation: str | None = option("--conversation ID", "The running conversation, whose message asks this.")
    message_id: str | None = option("--message-id ID", "The message of it that asks this, and is not returned.")
    max_tokens: int | None = options.MAX_TOKENS
    explain: bool = options.EXPLAIN
    compact: bool = option("--compact", "Print a text for a prompt, of 1,500 tokens.", False)
    references: bool = options.REFERENCES
    parts: list[str] | None = options.PARTS
    as_json: bool = options.STREAM_AS_JSON
    graphml: bool = options.GRAPHML
    node_link: bool = options.NODE_LINK

    def run(self) -> None:
        """Without `--mode`, the mode follows from the time options; `--known-at` alone asks about now."""
        if self.compact and self.references:
            raise InvalidRequest("--compact and --references are two forms", remedy="Leave out one of them.")
        mode, momentary = self.temporal_mode, self.as_of_time or self.known_at
        if mode is None and not momentary and (self.time_range_start or self.time_range_end):
            mode = TemporalMode.EVOLUTION
        intention = self.request(
            RetrievalIntention,
            temporal_mode=mode,
            emotions_match="any" if self.emotions_match else None,
            form="references" if self.references else "compact" if self.compact else None,
            explain=self.explain or not self.as_json,
            generated_by="substrate ask",
        )
        if not self.as_json and not self.compact:
            intention = intention.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
        stream = self.ask(retrieve_consciousness_context, intention)
        if self.graphml or self.node_link:
            support.write_graph(stream, graphml=self.graphml, node_link=self.node_link)
        elif self.as_json:
            support.write_json(send(stream, intention, budget_of(intention)).decode())
        elif self.compact:
            support.write_json(stream.text or "")
        else:
            question, scope = intention.query_text, stream_text.describe_scope(intention)
            page = support.output()
            stream_text.show_within(
                self.max_tokens, stream, page, question=question, scope=scope, explain=self.explain
            )


class WakeCommand(options.StoreCommand, name="wake"):
    """Wake a citizen from its state alone, and see what comes to mind.

    What is not given is read from the state that is kept of it, else from its memories of the last days.
    """

    citizen_id: str = option("--citizen -c ID", "Who wakes.", ...)
    current_energy: float | None = option("--energy", "The energy it wakes with, 0 to 1. Default: its own.")
    current_emotions: list[str] | None = option(
        "--emotion NAME=X", "drive=0.8; repeat for several. Default: its own."
    )
    current_goal: str | None = option("--goal", "What it is trying to do. Default: its own goal.")
    query_mode: str = option(
        "--mode",
        "find_related_unresolved, _similar_state, _what_i_was_doing, _resolution_patterns.",
        "find_related_unresolved",
    )
    temporal_scope: str = option("--scope", "recent (what changed lately counts more) or all_time.", "recent")
    as_of_time: str | None = options.AS_OF
    known_at: str | None = options.KNOWN_AT
    query_levels: list[str] | None = options.LEVELS
    collectives: list[str] | None = options.COLLECTIVES
    max_results_per_level: int = options.RESULTS_OF_A_QUERY
    filters: list[str] | None = options.FILTER
    plurality: bool = options.PLURAL
    max_tokens: int | None = options.MAX_TOKENS
    apply_feedback: bool = option("--feedback", "Let the stream change the citizen's own energy.", False)
    explain: bool = options.EXPLAIN
    references: bool = options.REFERENCES
    parts: list[str] | None = options.PARTS
    as_json: bool = options.STREAM_AS_JSON
    graphml: bool = options.GRAPHML
    node_link: bool = options.NODE_LINK

    def run(self) -> None:
        mode = self.query_mode
        state = self.request(
            StateBasedRetrieval,
            query_mode=mode if mode.startswith("find") else f"find_{mode.lstrip('_')}",
            form="references" if self.references else None,
            explain=self.explain or not self.as_json,
        )
        if not self.as_json:
            state = state.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
        from orchestration.waking.ask import (  # noqa: PLC0415  (a question wakes nobody)
            retrieve_consciousness_context_from_state,
        )

        stream = self.ask(retrieve_consciousness_context_from_state, state)
        if self.graphml or self.node_link:
            support.write_graph(stream, graphml=self.graphml, node_link=self.node_link)
            return
        if self.as_json:
            support.write_json(send(stream, state, budget_of(state)).decode())
            return
        question, page = _describe_state(state.query_mode, stream.state), support.output()
        scope = "from its state alone"
        stream_text.show_within(
            self.max_tokens, stream, page, question=question, scope=scope, explain=self.explain
        )


def _describe_state(mode: QueryMode, state: CitizenState | None) -> str:
    """The mode and the state that a citizen woke from, in one line."""
    if state is None:
        return mode.value
    felt = ", ".join(f"{name} {much:g}" for name, much in state.emotion_vector.items())
    goal = f", goal {state.goal}" if state.goal else ""
    return formatting.to_line(f"{mode.value}: energy {state.energy:g}{', ' if felt else ''}{felt}{goal}")


class ResonateCommand(options.StoreCommand, name="resonate"):
    """Send a wave signal into a citizen's memory, and see what resonates and by which channel."""

    query_text: str | None = argument("question", "What the signal is about, in words.", None)
    citizen_id: str = options.CITIZEN
    by: str = option("--by", "signal, or shape: what happened as around the memory --id.", "signal")
    id: str | None = option("--id ID", "The memory, with --by shape.")
    nodes: list[str] | None = option("--node NAME", "A name or id; repeat.")
    relations: list[str] | None = option("--relation TRIPLE", "CRITICIZED, or 'Egor|CRITICIZED|code'; repeat.")
    emotion: str | None = option("--emotion NAME", "loneliness, curiosity …")
    intensity: float | None = option("--intensity", "Of the emotion, 0 to 1.")
    result: str | None = option("--result", "positive, negative, complex, or your own word.")
    window: list[str] | None = option(
        "--window TEXT", "A text that the citizen sees; the signal is built from it."
    )
    focus: str | None = option("--focus TEXT", "The text that the citizen attends to.")
    drive_bias: list[str] | None = option("--drive NAME=X", "How satisfied a drive is, 0 to 1; repeat.")
    weights: list[str] | None = option("--weight CHANNEL=X", "nodes=2; 0 turns a channel off; repeat.")
    max_level: str = option("--max-level", "Highest abstraction: L0, L1, L2 or L3.", "L3")
    overlap: str = option(
        "--overlap", "Divide the shared nodes by those of the signal or of the memory.", "signal"
    )
    as_of_time: str | None = options.AS_OF
    known_at: str | None = options.KNOWN_AT
    query_levels: list[str] | None = options.LEVELS
    collectives: list[str] | None = options.COLLECTIVES
    max_results_per_level: int = option("--limit", "Results of each level, 1 to 100.", 7)
    suppress_recent: bool = option(
        "--suppress-recent/--no-suppress-recent", "What became true within the last day resonates less.", True
    )
    rerank: str | None = options.RERANK
    filters: list[str] | None = options.FILTER
    plurality: bool = options.PLURAL
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        signal = self.request(Resonate, max_level=self.max_level.upper())
        from orchestration.resonance.ask import resonate  # noqa: PLC0415  (nor does it resonate)

        self.show(self.ask(resonate, signal), _show_resonances)


def _show_resonances(answer: Resonances, page: support.Sheet) -> None:
    """The signal in one line, then a table for each level, with the channels that say something in it."""
    page.fold(_describe_signal(answer), "bold")
    for level, resonances in answer.levels.items():
        if not resonances:
            continue
        scores = list(map(attrgetter("channels"), resonances))
        counted = [
            name for name, weight in answer.weights.items() if weight and any(map(itemgetter(name), scores))
        ]
        table = Table("resonance", "memory", *counted, title=level, title_justify="left", box=None)
        for resonance in resonances:
            cells = (f"{resonance.channels[channel]:.2f}" for channel in counted)
            title = Text(formatting.to_line(resonance.memory.name))
            if resonance.shared:
                title.append(" ").append(formatting.to_line(f"[{'; '.join(resonance.shared)}]"), style="dim")
            table.add_row(f"{resonance.resonance:.3f}", title, *cells)
        page.print(table)
    if not any(answer.levels.values()):
        page.print("nothing resonates")
    for rule in answer.rules:
        page.fold(f"rule: {formatting.to_line(rule)}")
    page.notes((*answer.notes, *formatting.describe_missing(answer.degraded)))


def _describe_signal(answer: Resonances) -> str:
    """The signal in one line; shapes are compared without one."""
    if not answer.weights:
        return "by shape"
    sent = answer.signal
    triples = [f"{r.source or '…'} {r.relation_type} {r.target or '…'}" for r in sent.relations]
    felt = [f"{sent.emotion} {sent.intensity:g}"] if sent.emotion else []
    parts = [*sent.nodes, *triples, *felt, *([f"result {sent.result}"] if sent.result else [])]
    said = " · ".join([*parts, *(f"drive {drive}" for drive in sent.drives)]) or "words only"
    return formatting.to_line(f"signal: {said}")
