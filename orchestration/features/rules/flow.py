"""Checks an action against the rules of a citizen, keeps that it was checked, and lists the rules (002).

The rules are read from the store by an index, the nearest are judged with vectors, all of them by their words.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from orchestration.dependencies import Deps
from orchestration.features.rules import judgement as rules
from orchestration.features.rules import queries as store
from orchestration.features.rules.clauses import MOST_READ, read_forms
from orchestration.features.rules.judgement import (
    NO_LIKENESS,
    Decided,
    Finding,
    HeldRule,
    Judgement,
    Likeness,
    find_rules,
    judge,
    phrases_of,
    phrases_of_action,
)
from orchestration.features.rules.queries import MOST_RULES, NewCheck, StoredCheck, StoredRule, read_rules
from orchestration.features.rules.values import ListedRule, RulesAnswer, RulesCheck, RulesPage, RulesVerdict
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_plain_view
from schemas.base import CitizenId
from schemas.errors import Fault, StoreTimeout, Unavailable
from schemas.memory import GraphKey, Level, collective_of, level_of
from schemas.paging import decode_cursor, encode_cursor
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import all_memories
from schemas.stream_parts import StreamRule
from schemas.temporal import AFTER_ALL, Instant, Scope, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.emotions import kindred
from substrate.language.text import words
from substrate.store.reader import read_clock

DAY: Final = 86_400_000_000
"""A block counts for this many microseconds towards an override."""
COMPARED: Final = 16
"""This many rules, the nearest that words alone do not decide, are judged with vectors."""
LEAST_NEAR: Final = 0.35
"""A rule that shares no word with an action is judged with vectors from this cosine of their texts on."""


async def check(
    request: RulesCheck, deps: Deps, now: Instant, may_override: Callable[[str], bool]
) -> RulesVerdict:
    """Whether an action may be done by the citizen's rules: `allow`, `warn`, `block`, or `unchecked`.

    No language model is asked (`docs/rules.md`). With a key that may only read, or that speaks only for tools
    or files, the check is not recorded and overrides nothing. `Substrate-Notes` lists what was assumed.
    """
    return await check_rules(request, deps, now, keep=may_override(request.citizen_id))


async def check_rules(request: RulesCheck, deps: Deps, now: Instant, *, keep: bool = True) -> RulesVerdict:
    """Whether the action may be done. With `keep`, what is checked now is kept with the rules that spoke.

    What is not kept overrides nothing.

    Raises StoreMisfit, Unavailable.
    """
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    graphs = tuple(dict.fromkeys((Level.N1, *request.graphs)))
    view = await open_plain_view(request.citizen_id, graphs, scope, deps, now=now)
    vector, notes = await _embed(request.action, deps)
    read = await _read(view, request.graphs, vector)
    near = await _read_near(view, request.nodes)
    today = to_datetime(scope.valid.start).weekday()
    findings: list[Finding] = []
    for rule in rules.find_rules(read, request.citizen_id):
        judgement = judge(rule.text, request.action, NO_LIKENESS, today)
        findings.append(Finding(rule, judgement, _resonance(rule, judgement, request, near)))
    if vector is not None:
        findings = await _judge_by_likeness(request, findings, deps, today)
    findings.sort(key=rules.order)
    action_key = _action_key(request.action)
    kept = await _read_checks(view)
    of_action = [check for check in kept if check.action_key == action_key]
    keep = keep and scope.is_present
    decided = rules.decide(findings, of_action if keep else (), now - DAY)
    if not words(request.action):
        decided = Decided("unchecked", "the action has no words")
    if keep:
        await _keep(request, findings, decided, view)
    most = max(Counter(rule.key for rule in read).values(), default=0)
    cut = [f"only the {MOST_RULES:,} newest memories with a rule were read"] if most >= MOST_RULES else []
    if cut and decided.verdict == "allow":
        decided = Decided("unchecked", cut[0])
    answer = _answer(request, findings, decided, kept)
    return answer.model_copy(update={"notes": (*view.notes, *notes, *cut)})


async def list_rules(citizen_id: CitizenId, page: RulesPage, deps: Deps, now: Instant) -> RulesAnswer:
    """The rules that hold, a page at a time, each with how often it held, failed, was checked and overridden.

    `Substrate-Notes` lists what was assumed.

    Raises InvalidRequest for an invalid cursor, StoreMisfit, Unavailable.
    """
    scope, after = Scope.resolve_datetimes(page.as_of_time, page.known_at, now), (-AFTER_ALL, "")
    counted = int(scope.is_present)
    if page.cursor is not None:
        *place, valid, known_at, counted = decode_cursor(page.cursor, int, str, int, int, int)
        scope, after = Scope.at(valid, known_at), (place[0], place[1])
    graphs = tuple(dict.fromkeys((Level.N1, *page.graphs)))
    view = await open_plain_view(citizen_id, graphs, scope, deps, now=now)
    clocks = [await read_clock(target.graph, now) for target in view.targets.values()]
    held = rules.find_rules(await _read(view, page.graphs, None), citizen_id)
    kept = await _read_checks(view) if counted else []
    contradictions = rules.find_contradictions(held)
    shown = [rule for rule in sorted(held, key=_place) if _place(rule) > after]
    listed = tuple(_listed(rule, kept, contradictions) for rule in shown[: page.limit])
    last = shown[page.limit - 1] if len(shown) > page.limit else None
    known_at = min(scope.known.start, max(clocks, default=now))
    return RulesAnswer(
        citizen_id=citizen_id,
        rules=listed,
        next=None if last is None else encode_cursor(*_place(last), scope.valid.start, known_at, counted),
        notes=view.notes,
    )


def _place(rule: HeldRule) -> tuple[int, str]:
    return -rule.memories[0].valid_at, rule.memories[0].memory_id


def _listed(
    rule: HeldRule, kept: Sequence[StoredCheck], contradictions: Mapping[str, tuple[str, ...]]
) -> ListedRule:
    record = rules.count_record(rule, kept)
    return ListedRule(
        rule=rule.text,
        kind=rules.kind_of(rule),
        severity=rule.severity,
        lowered=rule.lowered or None,
        memories=rules.memories_of(rule),
        record=record,
        contradicts=contradictions.get(rule.key, ()),
        dissonance=rules.find_dissonance(rule, record),
    )


async def _read(view: View, graphs: Sequence[GraphKey], vector: Sequence[float] | None) -> list[StoredRule]:
    asked = [view.targets[key] for key in graphs if key in view.targets]
    found = await asyncio.gather(*(store.read_rules(target, view.scope, vector) for target in asked))
    return [rule for each in found for rule in each]


async def _read_near(view: View, nodes: Sequence[str]) -> Mapping[tuple[GraphKey, str], int]:
    """With how many of the named nodes each memory with a rule is linked."""
    if not nodes:
        return {}
    targets = list(view.targets.items())
    found = await asyncio.gather(*(store.read_rules_at(target, view.scope, nodes) for _, target in targets))
    counted: dict[tuple[GraphKey, str], int] = {}
    for (key, _), of_graph in zip(targets, found, strict=True):
        counted |= {(key, memory_id): count for memory_id, count in of_graph.items()}
    return counted


async def _read_checks(view: View) -> list[StoredCheck]:
    own = view.targets.get(Level.N1)
    return [] if own is None else await store.read_checks(own.graph)


async def _embed(text: str, deps: Deps) -> tuple[list[float] | None, tuple[str, ...]]:
    """The vector of an action, and a note where there is none."""
    if not words(text) or len(text) > MOST_READ:
        return None, ()
    try:
        vector = await deps.embedder.embed_query(text)
    except (Unavailable, Fault) as error:
        return None, (f"likeness of meaning was not used: {error.detail}",)
    return (vector, ()) if vector else (None, (NO_EMBEDDER,))


async def _judge_by_likeness(
    request: RulesCheck, findings: Sequence[Finding], deps: Deps, today: int
) -> list[Finding]:
    """The findings, those that words did not decide judged anew with vectors: the nearest of them."""
    open_ones = sorted(filter(_is_open, findings), key=lambda each: (-each.resonance, each.rule.key))
    compared = [finding.rule for finding in open_ones[:COMPARED]]
    if not compared:
        return list(findings)
    likeness = await _likeness(request.action, compared, deps)
    anew = {rule.key: judge(rule.text, request.action, likeness, today) for rule in compared}
    return [finding._replace(judgement=anew.get(finding.rule.key, finding.judgement)) for finding in findings]


def _is_open(finding: Finding) -> bool:
    """Whether vectors may say more than the words did."""
    judgement = finding.judgement
    if judgement.outcome == "unreadable" or judgement.outcome == "broken":
        return False
    return judgement.outcome != "unrelated" or bool(judgement.words) or finding.rule.alike >= LEAST_NEAR


async def _likeness(action: str, near: Sequence[HeldRule], deps: Deps) -> Likeness:
    codes = sorted({form.code for rule in near for form in read_forms(rule.text)})
    texts = phrases_of_action(action, codes)
    for rule in near:
        texts += phrases_of(rule.text)
    each = list(dict.fromkeys(texts))
    try:
        return Likeness({text: await deps.embedder.embed_query(text) for text in each})
    except (Unavailable, Fault):
        return NO_LIKENESS


def _resonance(
    rule: HeldRule,
    judgement: Judgement,
    request: RulesCheck,
    near: Mapping[tuple[GraphKey, str], int],
) -> float:
    """The mean of the likeness and of what else was asked with, each in [0, 1]."""
    values = [max(rule.alike, judgement.score, 0.0)]
    if request.nodes:
        hits = max(near.get((each.key, each.memory_id), 0) for each in rule.memories)
        values.append(min(1.0, hits / len(request.nodes)))
    if request.emotion:
        felt = {emotion for each in rule.memories for emotion in each.emotions}
        asked = request.emotion.strip().lower()
        values.append(1.0 if asked in felt else 0.5 if felt & set(kindred(asked)) else 0.0)
    if request.result:
        values.append(float(any(each.result == request.result for each in rule.memories)))
    return sum(values) / len(values)


def _action_key(action: str) -> str:
    """The same for actions of the same words."""
    return hashlib.blake2b(" ".join(words(action)).encode(), digest_size=12).hexdigest()


async def _keep(request: RulesCheck, findings: Sequence[Finding], decided: Decided, view: View) -> None:
    """Keep what became of the action with each rule that spoke. Without a graph of the citizen nothing is kept."""
    own = view.targets.get(Level.N1)
    speaking = [finding for finding in findings if rules.speaks(finding)][: store.MOST_CHECKS]
    if own is None or not speaking:
        return
    checks: list[NewCheck] = []
    for finding in speaking:
        memory, overridden = finding.rule.memories[0], finding.rule.key in decided.overridden
        blocked = rules.blocks(finding) and not overridden
        key = _action_key(request.action)
        checks.append(NewCheck(memory.memory_id, memory.key, key, request.action, blocked, overridden))
    try:
        await store.keep_checks(own.graph, checks, at=view.now, since=view.now - DAY)
    except GraphMissing:
        return


def _answer(
    request: RulesCheck,
    findings: Sequence[Finding],
    decided: Decided,
    kept: Sequence[StoredCheck],
) -> RulesVerdict:
    speaking = [finding for finding in findings if rules.speaks(finding)]
    contradictions = rules.find_contradictions([finding.rule for finding in speaking])
    return RulesVerdict(
        citizen_id=request.citizen_id,
        action=request.action,
        verdict=decided.verdict,
        why=decided.why,
        overridden=bool(decided.overridden),
        rules=tuple(
            rules.show_speaking(
                finding,
                rules.count_record(finding.rule, kept),
                contradictions.get(finding.rule.key, ()),
                overridden=finding.rule.key in decided.overridden,
            )
            for finding in speaking
        ),
        unjudged=tuple(
            rules.show_unjudged(finding) for finding in findings if finding.judgement.outcome == "unreadable"
        ),
        judged=sum(finding.judgement.outcome != "unreadable" for finding in findings),
    )


MOST_SHOWN: Final = 8
"""At most 8 rules come with a stream: those of its memories first, then the gravest, newer before older ones."""
_GRAVITY: Final = ("block", "warn", "note")


async def rules_of_stream(stream: ConsciousnessStream, view: View) -> tuple[StreamRule, ...]:
    """The rules in force that come with a stream; none where they are not read in time."""
    target = view.targets.get(Level.N1)
    if target is None:
        return ()
    try:
        held = find_rules(await read_rules(target, view.scope, None), stream.citizen_id)
    except (GraphMissing, StoreTimeout, Fault):
        return ()
    shown = {(node.graph_key, node.node_id) for node in all_memories(stream)}

    def weight(rule: HeldRule) -> tuple[bool, int]:
        return not any((one.key, one.memory_id) in shown for one in rule.memories), _GRAVITY.index(rule.severity)

    chosen = [(rule, rule.memories[0]) for rule in sorted(held, key=weight)[:MOST_SHOWN]]
    return tuple(
        StreamRule(
            rule=rule.text,
            severity=rule.severity,
            memory_id=newest.memory_id,
            level=level_of(newest.key),
            collective=collective_of(newest.key),
        )
        for rule, newest in chosen
    )
