"""The rules that hold among memories: what may block, how a rule fared, which contradict, and the verdict. Pure.

A rule is one however many memories hold it: those whose rule has the same words. It held where their `result`
is positive and failed where it is negative. It keeps being wrong when it failed `LEAST_FAILED` times or more, and
more often than it held: a dissonance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.standing_rules import is_revocation, matter_of
from orchestration.features.rules.clauses import RuleForm, Word, is_opposite, opposites_of, read_forms
from orchestration.features.rules.judgement import Judgement
from orchestration.features.rules.limits import compare
from orchestration.features.rules.queries import StoredCheck, StoredRule
from orchestration.features.rules.values import (
    RuleCounts,
    RuleKind,
    RuleMemory,
    SpeakingRule,
    UnjudgedRule,
    Verdict,
)
from orchestration.mind.dissonance import DISCOVERY_ENERGY
from schemas.memory import Level, Severity, Source, graph_fields, level_of
from schemas.stream import TemporalDissonance
from schemas.temporal import Instant, to_datetime
from substrate.language.languages import Language
from substrate.language.text import words

MAY_BLOCK: Final = frozenset((Source.CITIZEN, Source.SYSTEM))
"""The citizen itself, and the operator with its policies. What a file, a tool or another citizen says blocks
nothing."""
BLOCKS_BEFORE: Final = 2
"""After this many blocks of the same action by the same rule within a day it is only warned of."""
LEAST_FAILED: Final = 3
"""A rule that failed less often is not called wrong."""
MOST_MEMORIES: Final = 10
"""This many memories of a rule are shown, the newest."""
_GRAVEST: Final[Sequence[Severity]] = ("block", "warn", "note")


class HeldRule(NamedTuple):
    """A rule with the memories that hold it, the newest first. `severity`: what it may do at most.

    `lowered`: why that is less than was written; empty if it is not.
    """

    text: str
    memories: tuple[StoredRule, ...]
    severity: Severity
    lowered: str = ""

    @property
    def key(self) -> str:
        return " ".join(words(self.text)) or self.text

    @property
    def alike(self) -> float:
        """The greatest likeness of one of its memories to what is asked, in [0, 1]."""
        return max((min(1.0, each.alike) for each in self.memories if each.alike is not None), default=0.0)


class Finding(NamedTuple):
    """A rule and what an action does to it. `resonance`: how near the rule is to what is asked."""

    rule: HeldRule
    judgement: Judgement
    resonance: float


def find_rules(stored: Iterable[StoredRule], citizen_id: str) -> list[HeldRule]:
    """The rules that these memories hold for a citizen, the newest first. What revokes a rule is none: it ends the
    other."""
    standing: list[StoredRule] = []
    for each in sorted(stored, key=lambda rule: (rule.valid_at, rule.memory_id, rule.version)):
        if not is_revocation(each.rule):
            standing.append(each)
            continue
        ended = _ended_by(each, standing)
        standing = [rule for rule in standing if rule not in ended]
    by_words: defaultdict[str, list[StoredRule]] = defaultdict(list)
    for each in reversed(standing):
        by_words[" ".join(words(each.rule)) or each.rule].append(each)
    return [_held(tuple(memories), citizen_id) for memories in by_words.values()]


def _ended_by(revocation: StoredRule, standing: Sequence[StoredRule]) -> list[StoredRule]:
    """The memories of the rule that a revocation of the same graph means: the one that shares the most with it.

    What may not block revokes nothing that may, and on a shared level an author revokes its own alone.
    """
    matter = matter_of(revocation.rule)
    may_end = [
        rule
        for rule in standing
        if rule.key == revocation.key
        and (revocation.source in MAY_BLOCK or rule.source not in MAY_BLOCK)
        and (rule.author is None or _is_own(rule, revocation.author) or revocation.source is Source.SYSTEM)
    ]
    shared = [(len(matter & matter_of(rule.rule)), rule.valid_at, rule) for rule in may_end]
    best = max(shared, key=lambda each: each[:2], default=None)
    if best is None or not best[0]:
        return []
    return [rule for rule in may_end if rule.rule == best[2].rule]


def _is_own(rule: StoredRule, author: str | None) -> bool:
    """Whether the rule is this author's: in N1 every rule is the citizen's."""
    return rule.key == Level.N1 or rule.author == author


def _why_not_block(rule: StoredRule, citizen_id: str) -> str:
    """Why the rule may not block what the citizen does; empty where it may."""
    if rule.source not in MAY_BLOCK:
        return f"its source is {rule.source.value}, which may not block"
    if rule.source is not Source.SYSTEM and not _is_own(rule, citizen_id):
        return f"{rule.author or 'nobody named'} wrote it, and only an operator blocks others"
    return ""


def _held(memories: tuple[StoredRule, ...], citizen_id: str) -> HeldRule:
    allowed: set[Severity] = set()
    lowered = ""
    for each in memories:
        severity = each.severity or "warn"
        if severity == "block" and (why := _why_not_block(each, citizen_id)):
            lowered, severity = why, "warn"
        allowed.add(severity)
    gravest = next(severity for severity in _GRAVEST if severity in allowed)
    return HeldRule(memories[0].rule, memories, gravest, "" if gravest == "block" else lowered)


# --- the record ---


def count_record(rule: HeldRule, checks: Iterable[StoredCheck]) -> RuleCounts:
    """How a rule fared: by the results of its memories, and by the checks that are kept of them."""
    results = [(each.result or "").strip().lower() for each in rule.memories]
    held, failed = Language.gather("telling.held"), Language.gather("telling.failed")
    own = {(each.memory_id, each.key) for each in rule.memories}
    kept = [check for check in checks if (check.rule_id, check.graph) in own]
    return RuleCounts(
        held=sum(result in held for result in results),
        failed=sum(result in failed for result in results),
        checked=sum(check.checked for check in kept),
        blocked=sum(check.blocked for check in kept),
        overridden=sum(check.overridden for check in kept),
    )


def find_dissonance(rule: HeldRule, record: RuleCounts) -> TemporalDissonance | None:
    """The dissonance of a rule that keeps being wrong; None for another one."""
    if record.failed < LEAST_FAILED or record.failed <= record.held:
        return None
    bad = Language.gather("telling.failed")
    failed = [each for each in rule.memories if (each.result or "").strip().lower() in bad]
    first, last, newest = rule.memories[-1], failed[0], rule.memories[0]
    until, since = to_datetime(last.created_at), to_datetime(first.created_at)
    return TemporalDissonance(
        node_id=newest.memory_id,
        level=level_of(newest.key),
        node_name=newest.name,
        original_belief=rule.text,
        corrected_belief=f"it failed {record.failed} times and held {record.held}",
        dissonance_type="discovered_false",
        correction_trigger=f"last failed with {last.memory_id}",
        discovery_energy=DISCOVERY_ENERGY,
        belief_held_from=since,
        belief_held_until=until,
        corrected_at=until,
        held_seconds=max(0.0, (until - since).total_seconds()),
    )


def kind_of(rule: HeldRule) -> RuleKind:
    """How the rule is read; `unread` where it cannot be."""
    forms = read_forms(rule.text)
    return forms[0].kind if forms else "unread"


def memories_of(rule: HeldRule) -> tuple[RuleMemory, ...]:
    """The newest memories of a rule, as answers show them."""
    return tuple(
        RuleMemory(
            memory_id=stored.memory_id,
            **graph_fields(stored.key),
            name=stored.name,
            source=stored.source,
            author=stored.author,
            severity=stored.severity,
            result=stored.result,
            valid_at=to_datetime(stored.valid_at),
        )
        for stored in rule.memories[:MOST_MEMORIES]
    )


# --- contradictions ---


def find_contradictions(rules: Sequence[HeldRule]) -> Mapping[str, tuple[str, ...]]:
    """Of each rule, by its key, the texts of those that bid the opposite."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    by_matter: defaultdict[frozenset[str], list[tuple[HeldRule, RuleForm]]] = defaultdict(list)
    for rule in rules:
        for form in read_forms(rule.text):
            manners = opposites_of(form.code)
            by_matter[_stems(form.matter).difference(manners)].append((rule, form))
    for same in by_matter.values():
        for place, (rule, form) in enumerate(same):
            for other, its in same[:place]:
                if rule.key != other.key and _opposed(form, its):
                    found[rule.key].append(other.text)
                    found[other.key].append(rule.text)
    return {key: tuple(dict.fromkeys(texts)) for key, texts in found.items()}


def _stems(found: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in found)


def _opposed(one: RuleForm, other: RuleForm) -> bool:
    """Whether one rule forbids what the other bids, or bids it in another manner, under the same condition and for
    days and hours that meet."""
    own, its = _stems(one.matter), _stems(other.matter)
    opposed = {one.kind, other.kind} == {"never", "always"} and own == its
    if one.kind == other.kind == "always" and own - its:
        opposed = all(is_opposite(stem, its, one.code) for stem in own - its)
    same_case = _stems(one.condition) == _stems(other.condition) or not (one.condition and other.condition)
    free = opposed and one.code == other.code and same_case and not one.licence and not other.licence
    return free and compare(one.limits, other.limits) != "fails"


# --- the verdict ---


class Decided(NamedTuple):
    """What follows from the findings. `overridden`: keys of the rules whose block is overridden."""

    verdict: Verdict
    why: str
    overridden: frozenset[str] = frozenset()


def speaks(finding: Finding) -> bool:
    """Whether the action breaks the rule, may break it or keeps it."""
    return finding.judgement.outcome in ("broken", "doubtful", "kept")


def blocks(finding: Finding) -> bool:
    return finding.judgement.outcome == "broken" and finding.rule.severity == "block"


def decide(findings: Sequence[Finding], checks: Sequence[StoredCheck], since: Instant) -> Decided:
    """The verdict: the gravest of what the rules say.

    `checks`: those kept of this action. A block is overridden when each rule that blocks has blocked the action
    `BLOCKS_BEFORE` times, the last after `since`.
    """
    if not findings:
        return Decided("unchecked", "there is no rule to check")
    blocking = [finding for finding in findings if blocks(finding)]
    if blocking:
        stuck = [each for each in checks if each.streak >= BLOCKS_BEFORE and each.blocked_at > since]
        often = {(each.rule_id, each.graph) for each in stuck}
        for rule in (finding.rule for finding in blocking):
            if often.isdisjoint((each.memory_id, each.key) for each in rule.memories):
                return Decided("block", blocking[0].judgement.why)
        why = f"overridden: blocked {BLOCKS_BEFORE} times or more within a day; {blocking[0].judgement.why}"
        return Decided("warn", why, frozenset(finding.rule.key for finding in blocking))
    for outcome in ("broken", "doubtful"):
        warned = [finding for finding in findings if finding.judgement.outcome == outcome]
        if warned:
            return Decided("warn", warned[0].judgement.why)
    unread = [finding for finding in findings if finding.judgement.outcome == "unreadable"]
    if unread:
        return Decided("unchecked", unread[0].judgement.why)
    spoken = any(map(speaks, findings))
    return Decided("allow", "it breaks none of the rules" if spoken else "no rule speaks of it")


def order(finding: Finding) -> tuple[int, int, float, str]:
    """The gravest first, then the nearest."""
    outcomes = ("broken", "doubtful", "kept", "unreadable", "unrelated")
    severity = _GRAVEST.index(finding.rule.severity)
    return outcomes.index(finding.judgement.outcome), severity, -finding.resonance, finding.rule.key


def show_speaking(
    finding: Finding, record: RuleCounts, contradicts: Sequence[str], *, overridden: bool
) -> SpeakingRule:
    """A finding as the answer shows it. Raises ValueError for one that does not speak."""
    rule, judgement = finding.rule, finding.judgement
    if judgement.outcome == "unrelated" or judgement.outcome == "unreadable":
        raise ValueError(f"{judgement.outcome} says nothing of the action")
    return SpeakingRule(
        rule=rule.text,
        outcome=judgement.outcome,
        severity=rule.severity,
        lowered=rule.lowered or None,
        overridden=overridden,
        why=judgement.why,
        words=judgement.words,
        likeness=round(judgement.score, 4),
        resonance=round(finding.resonance, 4),
        memories=memories_of(rule),
        record=record,
        contradicts=tuple(contradicts),
    )


def show_unjudged(finding: Finding) -> UnjudgedRule:
    return UnjudgedRule(rule=finding.rule.text, why=finding.judgement.why, memories=memories_of(finding.rule))
