"""Checks an action against the rules of a citizen, keeps that it was checked, and lists the rules (002).

The rules are read from the store by an index, the nearest are judged with vectors, all of them by their words.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.rules import clauses
from orchestration.features.rules import judgement as rules
from orchestration.features.rules import queries as store
from orchestration.features.rules.queries import forget_checks
from orchestration.features.rules.values import (
    ListedRule,
    RulesAnswer,
    RulesCheck,
    RulesPage,
    RulesVerdict,
    SpeakingRule,
    UnjudgedRule,
)
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_plain_view
from schemas.base import CitizenId
from schemas.errors import Fault, StoreTimeout, Unavailable
from schemas.memory import GraphKey, Level, collective_of, level_of
from schemas.operation import Method, Operation, citizen_may, group
from schemas.paging import decode_cursor, encode_cursor
from schemas.stream import ConsciousnessStream, StreamRule
from schemas.stream_forms import all_memories
from schemas.temporal import AFTER_ALL, Instant, Scope, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.emotions import kindred
from substrate.language.text import words
from substrate.store.kept import Kept
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
    findings: list[rules.Finding] = []
    for rule in rules.find_rules(read, request.citizen_id):
        judgement = rules.judge(rule.text, request.action, rules.NO_LIKENESS, today)
        findings.append(rules.Finding(rule, judgement, _resonance(rule, judgement, request, near)))
    if vector is not None:
        findings = await _judge_by_likeness(request, findings, deps, today)
    findings.sort(key=rules.order)
    action_key = _action_key(request.action)
    kept = await _read_checks(view)
    of_action = [check for check in kept if check.action_key == action_key]
    keep = keep and scope.is_present
    decided = rules.decide(findings, of_action if keep else (), now - DAY)
    if not words(request.action):
        decided = rules.RuleDecision("unchecked", "the action has no words")
    if keep:
        await _keep(request, findings, decided, view)
    most = max(Counter(rule.key for rule in read).values(), default=0)
    many = f"only the {store.MOST_RULES:,} newest memories with a rule were read"
    cut = [many] if most >= store.MOST_RULES else []
    if cut and decided.verdict == "allow":
        decided = rules.RuleDecision("unchecked", cut[0])
    answer = _answer(request, findings, decided, kept)
    return answer.model_copy(update={"notes": (*view.notes, *notes, *cut)})


def _answer(
    request: RulesCheck,
    findings: Sequence[rules.Finding],
    decided: rules.RuleDecision,
    kept: Sequence[store.StoredCheck],
) -> RulesVerdict:
    speaking = [finding for finding in findings if rules.speaks(finding)]
    contradictions = rules.find_contradictions([finding.rule for finding in speaking])
    shown: list[SpeakingRule] = []
    for finding in speaking:
        key, record = finding.rule.key, rules.count_record(finding.rule, kept)
        overridden = key in decided.overridden
        shown.append(rules.show_speaking(finding, record, contradictions.get(key, ()), overridden=overridden))
    unjudged: list[UnjudgedRule] = []
    for rule, judgement, _ in findings:
        if judgement.outcome == "unreadable":
            unjudged.append(UnjudgedRule(rule=rule.text, why=judgement.why, memories=rules.memories_of(rule)))
    return RulesVerdict(
        citizen_id=request.citizen_id,
        action=request.action,
        verdict=decided.verdict,
        why=decided.why,
        overridden=bool(decided.overridden),
        rules=tuple(shown),
        unjudged=tuple(unjudged),
        judged=len(findings) - len(unjudged),
    )


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
    listed: list[ListedRule] = []
    for rule in shown[: page.limit]:
        record, forms = rules.count_record(rule, kept), clauses.read_forms(rule.text)
        kind = forms[0].kind if forms else "unread"
        shown_rule = rules.show(rule, record, contradictions.get(rule.key, ()))
        listed.append(ListedRule(kind=kind, dissonance=rules.find_dissonance(rule, record), **shown_rule))
    last = shown[page.limit - 1] if len(shown) > page.limit else None
    known_at = min(scope.known.start, max(clocks, default=now))
    return RulesAnswer(
        citizen_id=citizen_id,
        rules=tuple(listed),
        next=None if last is None else encode_cursor(*_place(last), scope.valid.start, known_at, counted),
        notes=view.notes,
    )


def _place(rule: rules.HeldRule) -> tuple[int, str]:
    return -rule.memories[0].valid_at, rule.memories[0].memory_id


async def _read(view: View, graphs: Sequence[GraphKey], vector: Sequence[float] | None) -> list[store.StoredRule]:
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


async def _read_checks(view: View) -> list[store.StoredCheck]:
    own = view.targets.get(Level.N1)
    return [] if own is None else await store.read_checks(own.graph)


async def _embed(text: str, deps: Deps) -> tuple[list[float] | None, tuple[str, ...]]:
    if not words(text) or len(text) > clauses.MOST_READ:
        return None, ()
    try:
        vector = await deps.embedder.embed_query(text)
    except (Unavailable, Fault) as error:
        return None, (f"likeness of meaning was not used: {error.detail}",)
    return (vector, ()) if vector else (None, (NO_EMBEDDER,))


async def _judge_by_likeness(
    request: RulesCheck, findings: Sequence[rules.Finding], deps: Deps, today: int
) -> list[rules.Finding]:
    """The findings, those that words did not decide judged anew with vectors: the nearest of them."""
    open_ones = sorted(filter(_is_open, findings), key=lambda each: (-each.resonance, each.rule.key))
    compared = [finding.rule for finding in open_ones[:COMPARED]]
    if not compared:
        return list(findings)
    likeness = await _likeness(request.action, compared, deps)
    anew = {rule.key: rules.judge(rule.text, request.action, likeness, today) for rule in compared}
    return [finding._replace(judgement=anew.get(finding.rule.key, finding.judgement)) for finding in findings]


def _is_open(finding: rules.Finding) -> bool:
    judgement = finding.judgement
    if judgement.outcome == "unreadable" or judgement.outcome == "broken":
        return False
    return judgement.outcome != "unrelated" or bool(judgement.words) or finding.rule.alike >= LEAST_NEAR


async def _likeness(action: str, near: Sequence[rules.HeldRule], deps: Deps) -> rules.Likeness:
    codes = sorted({form.code for rule in near for form in clauses.read_forms(rule.text)})
    texts = rules.phrases_of_action(action, codes)
    for rule in near:
        texts += rules.phrases_of(rule.text)
    each = list(dict.fromkeys(texts))
    try:
        return rules.Likeness({text: await deps.embedder.embed_query(text) for text in each})
    except (Unavailable, Fault):
        return rules.NO_LIKENESS


def _resonance(
    rule: rules.HeldRule, judgement: rules.Judgement, request: RulesCheck, near: Mapping[tuple[GraphKey, str], int]
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
    return hashlib.blake2b(" ".join(words(action)).encode(), digest_size=12).hexdigest()


async def _keep(
    request: RulesCheck, findings: Sequence[rules.Finding], decided: rules.RuleDecision, view: View
) -> None:
    """Keep what became of the action with each rule that spoke. Without a graph of the citizen nothing is kept."""
    own = view.targets.get(Level.N1)
    speaking = [finding for finding in findings if rules.speaks(finding)][: store.MOST_CHECKS]
    if own is None or not speaking:
        return
    checks: list[dict[str, Any]] = []
    action_key = _action_key(request.action)
    for finding in speaking:
        memory, overridden = finding.rule.memories[0], finding.rule.key in decided.overridden
        check = {"rule_id": memory.memory_id, "graph": str(memory.key), "action_key": action_key}
        blocked = rules.blocks(finding) and not overridden
        fate = {"blocked": int(blocked), "overridden": int(overridden)}
        key, action = f"{memory.key} {memory.memory_id} {action_key}", request.action[: store.ACTION_KEPT]
        checks.append({**check, **fate, "key": key, "action": action})
    try:
        await store.keep_checks(own.graph, checks, at=view.now, since=view.now - DAY)
    except GraphMissing:
        return


MOST_SHOWN: Final = 8
"""At most 8 rules come with a stream: those of its memories first, then the gravest, newer before older ones."""
_GRAVITY: Final = ("block", "warn", "note")


async def rules_of_stream(stream: ConsciousnessStream, view: View) -> tuple[StreamRule, ...]:
    """The rules in force that come with a stream; none where they are not read in time."""
    target = view.targets.get(Level.N1)
    if target is None:
        return ()
    try:
        held = rules.find_rules(await store.read_rules(target, view.scope, None), stream.citizen_id)
    except (GraphMissing, StoreTimeout, Fault):
        return ()
    shown = {(node.graph_key, node.node_id) for node in all_memories(stream)}

    def weight(rule: rules.HeldRule) -> tuple[bool, int]:
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


OPERATIONS: Final = group(
    "mind",
    Operation("check_rules", "POST /v1/rules/check", "Check an action against rules",
              citizen_may("read", "citizen:ID:read; also :write to be recorded; LEVEL:read for N2 and N3",
                          narrows=True),
              check, notes=True,
              call=Method(says="Whether an action may be done by the citizen's rules: `allow`, `warn`, `block` "
                               "or `unchecked`.", once=True)),
    Operation("list_rules", "GET /v1/citizens/{citizen_id}/rules", "List rules with their record",
              citizen_may("read", "citizen:ID:read; LEVEL:read for N2 and N3", narrows=True),
              list_rules, notes=True,
              call=Method("rules", "The rules that hold, the newest first, each with how often it held, failed "
                          "and was checked.")),
)  # fmt: skip
FEATURE: Final = Feature(
    "rules", OPERATIONS, (Kept("RuleCheck", forget=forget_checks),), sections={"rules": rules_of_stream}
)
