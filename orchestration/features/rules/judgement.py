"""Whether an action breaks a rule: by the form of the rule, words, times, numbers and likeness of meaning. Pure.

What a rule is about, its matter (`RuleForm`), is compared with what the action does:

    likeness of both = (share of the words of the matter that the action has + cosine of the two phrases) / 2

A word counts as had when its stem is there, or by its cosine to a word of the action, from `LEAST_ALIKE` on. No
language model is asked. What the words do not tell is said: `doubtful`.

A rule is one however many memories hold it: those whose rule has the same words. It held where their `result`
is positive and failed where it is negative. It keeps being wrong when it failed `LEAST_FAILED` times or more, and
more often than it held: a dissonance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain, groupby
from typing import Any, Final, Literal, NamedTuple

from orchestration.appraisal.standing_rules import is_revocation, matter_of
from orchestration.features.rules.clauses import (
    LEAST_COMPOUND,
    MOST_READ,
    Clause,
    Limits,
    RuleForm,
    Word,
    all_words,
    compare,
    is_opposite,
    is_told,
    languages_of,
    opposites_of,
    read_clauses,
    read_forms,
    stems_of,
)
from orchestration.features.rules.queries import StoredCheck, StoredRule
from orchestration.features.rules.values import RuleCounts, RuleMemory, SpeakingRule, Verdict
from orchestration.mind.dissonance import DISCOVERY_ENERGY
from schemas.memory import Level, Severity, Source, graph_fields, level_of
from schemas.stream import TemporalDissonance
from schemas.temporal import Instant, to_datetime
from substrate.language.languages import Language
from substrate.language.text import words

type Outcome = Literal["broken", "doubtful", "kept", "unrelated", "unreadable"]

BROKEN: Final = 0.64
"""From this likeness on an action does what a rule is about."""
NEAR: Final = 0.56
"""From this likeness on it may."""
LEAST_ALIKE: Final = 0.5
"""Two words with a smaller cosine are different words."""
SAME_DEED: Final = 0.72
"""An action whose verb is another one does the same only from this cosine of the phrases on."""
SURE: Final = 0.9
"""A word with this value or a greater one is the same word, or the end of a compound."""
SHORT_CLAUSE: Final = 4
"""A clause of this many words that carry meaning is about each of them."""
MENTIONED: Final = 0.6
"""A condition or an exception is mentioned when the action has so large a share of its words."""


class Likeness(NamedTuple):
    """Unit vectors of words and phrases by their text; without a vector nothing is alike."""

    vectors: Mapping[str, Sequence[float]]

    def of(self, one: str, other: str) -> float | None:
        """The cosine of two texts; None where a vector is missing."""
        if one == other:
            return 1.0
        mine, theirs = self.vectors.get(one), self.vectors.get(other)
        if mine is None or theirs is None:
            return None
        return sum(a * b for a, b in zip(mine, theirs, strict=True))


NO_LIKENESS: Final = Likeness({})


class Judgement(NamedTuple):
    """What an action does to a rule. `score`: their likeness in [0, 1]. `words`: those of the rule it has."""

    outcome: Outcome
    why: str
    score: float = 0.0
    words: tuple[str, ...] = ()


_ORDER: Final[Mapping[Outcome, int]] = {"broken": 0, "doubtful": 1, "kept": 2, "unreadable": 3, "unrelated": 4}


def phrases_of(text: str) -> list[str]:
    """The words and phrases of a rule whose vectors its judgement can use."""
    forms = read_forms(text)
    words = [word.text for form in forms for word in (*form.matter, *form.condition, *form.licence, *form.needed)]
    return list(dict.fromkeys((*words, *(form.text for form in forms))))


def phrases_of_action(action: str, codes: Sequence[str]) -> list[str]:
    """The words and phrases of an action whose vectors its judgement can use, read in these languages."""
    found: list[str] = []
    for code in codes:
        clauses = read_clauses(action, code)
        found += [word.text for clause in clauses for word in clause.words]
        found += [clause.text for clause in clauses] + [_done(clauses)]
    return list(dict.fromkeys(filter(None, found)))


def judge(rule: str, action: str, likeness: Likeness = NO_LIKENESS, today: int | None = None) -> Judgement:
    """What an action does to a rule. `today`: the weekday (0 is Monday) at which it is asked."""
    if len(rule) > MOST_READ or len(action) > MOST_READ:
        return Judgement("unreadable", f"more than {MOST_READ:,} characters are not judged")
    forms = read_forms(rule)
    if not forms:
        return Judgement("unreadable", "its words cannot be read")
    code = forms[0].code
    if not _is_in(action, code, forms):
        return Judgement("unreadable", "the action is in another language, or in none that is known here")
    clauses = read_clauses(action, code, today)
    if not any(clause.words for clause in clauses):
        return Judgement("unreadable", "the action says nothing that can be compared")
    ways = {"only": _judge_only, "order": _judge_order, "always": _judge_duty, "never": _judge_ban}
    judged = [ways[form.kind](form, clauses, likeness) for form in forms]
    return min(judged, key=lambda each: (_ORDER[each.outcome], -each.score))


def _is_in(action: str, code: str, forms: Sequence[RuleForm]) -> bool:
    """Whether an action is in the language of a rule: by function words, else by a word that both have."""
    if code not in {spoken.code for spoken in languages_of(action)}:
        return False
    if is_told(action, code):
        return True
    stems = {word.stem for clause in read_clauses(action, code) for word in clause.words}
    return any(word.stem in stems for form in forms for word in (*form.matter, *form.needed))


class _Match(NamedTuple):
    """`score`: the likeness. `words`: those of the rule that the action has. `whole`: it has all of them."""

    score: float
    words: tuple[str, ...] = ()
    whole: bool = False


def _judge_ban(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> Judgement:
    left = _match(form, [clause for clause in clauses if clause.negated], likeness)
    if left.whole:
        return Judgement("kept", f"the action leaves out {_name_match(left)}", left.score, left.words)
    done = [clause for clause in clauses if not clause.negated]
    match = _match(form, done, likeness)
    if not match.whole and (other := _other_manner(form, done, likeness)):
        return Judgement("kept", f"the rule forbids another way: {other}")
    if match.score < NEAR:
        return Judgement("unrelated", "the action is about something else", match.score, match.words)
    fit = compare(form.limits, _limits(done))
    if fit == "fails":
        return Judgement("kept", "the rule is for another time or amount", match.score, match.words)
    licensed = _judge_licence(form, clauses, likeness)
    if licensed is not None:
        return Judgement(licensed.outcome, licensed.why, *match[:2])
    condition = _mention(form.condition, clauses, likeness) if form.condition else "done"
    if condition == "left out":
        return Judgement("kept", f"its condition does not hold: {_list_words(form.condition)}", *match[:2])
    why = f"the action does what the rule forbids: {_name_match(match)}"
    if fit == "untold" or condition != "done":
        return Judgement("doubtful", f"{why}; whether its time or condition holds is not told", *match[:2])
    return Judgement("broken" if match.score >= BROKEN else "doubtful", why, *match[:2])


def _judge_licence(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> Judgement | None:
    """What the exception of a ban does; None where the action does not mention it."""
    told = _mention(form.licence, clauses, likeness) if form.licence else "untold"
    if told == "done":
        return Judgement("kept", f"its exception holds: {_list_words(form.licence)}")
    if told == "supposed":
        return Judgement("doubtful", f"its exception may hold: {_list_words(form.licence)}")
    return None


def _judge_duty(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> Judgement:
    done = [clause for clause in clauses if not clause.negated]
    if form.condition and _mention(form.condition, clauses, likeness) in ("untold", "left out"):
        return Judgement("unrelated", "its condition is not told of the action")
    for clause in clauses:
        if clause.negated and clause.words and _denies(clause, form, clauses, likeness):
            words = tuple(word.text for word in clause.words)
            return Judgement("broken", f"the action leaves out what the rule bids: {' '.join(words)}", 1.0, words)
    match = _match(form, done, likeness)
    if not match.whole and (other := _other_manner(form, done, likeness)):
        return Judgement("doubtful", f"the rule bids another way: {other}", NEAR, (other,))
    if match.score >= BROKEN:
        if compare(form.limits, _limits(done)) != "holds":
            why = "the rule bids it for another time or amount, or none is told"
            return Judgement("doubtful", why, *match[:2])
        return Judgement("kept", f"the action does what the rule bids: {_name_match(match)}", *match[:2])
    if form.condition:
        return Judgement("doubtful", f"the action does not tell what the rule bids: {form.text}", match.score)
    return Judgement("unrelated", "the action is about something else", *match[:2])


def _denies(clause: Clause, form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> bool:
    """Whether a negated clause leaves out what the rule bids: all of it, or a part of it beside the rest."""
    if _match(form, [clause], likeness).whole:
        return True
    if _share(clause.words, form.matter, likeness) < 1.0:
        return False
    done = chain.from_iterable(other.words for other in clauses if not other.negated)
    stems = {word.stem for word in done}
    return bool(form.condition or clause.carried) or any(word.stem in stems for word in form.matter)


def _judge_order(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> Judgement:
    done = [clause for clause in clauses if not clause.negated]
    deeds = [(clause, _match(form, [clause], likeness)) for clause in done]
    deed = max(deeds, key=lambda each: each[1].score, default=None)
    if deed is None or deed[1].score < NEAR:
        return Judgement("unrelated", "the action is about something else")
    needed = [(clause, _share(form.needed, (*clause.words, *clause.carried), likeness)) for clause in clauses]
    found = max(needed, key=lambda each: each[1], default=None)
    what = _list_words(form.needed)
    words = deed[1].words
    if found is None or not _is_mentioned(form.needed, found[0], likeness):
        return Judgement("doubtful", f"whether this comes before is not told: {what}", deed[1].score, words)
    if found[0].negated:
        return Judgement("broken", f"the action leaves out what must come before: {what}", 1.0, words)
    if found[0] is not deed[0] and found[0].place > deed[0].place:
        return Judgement("broken", f"the action puts last what must come before: {what}", 1.0, words)
    return Judgement("kept", f"what must come before does: {what}", deed[1].score, words)


def _judge_only(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> Judgement:
    done = [clause for clause in clauses if not clause.negated]
    match = _match(form, done, likeness)
    if match.score < NEAR:
        return Judgement("unrelated", "the action is about something else", *match[:2])
    if form.who:
        stems = {word.stem for clause in done for word in clause.words}
        if stems & set(form.who):
            return Judgement("kept", f"the action names whom the rule names: {', '.join(form.who)}", *match[:2])
        own = {word.stem for word in form.matter}
        if match.score >= BROKEN and any(stem not in own for stem in stems):
            return Judgement("broken", f"the rule reserves it for {', '.join(form.who)}", *match[:2])
        return Judgement("doubtful", f"the rule reserves it for {', '.join(form.who)}", *match[:2])
    fit = compare(form.limits, _limits(done))
    if fit == "holds":
        return Judgement("kept", "the action keeps to the time or amount of the rule", *match[:2])
    if fit == "fails" and match.score >= BROKEN:
        return Judgement("broken", "the rule allows it only at another time or amount", *match[:2])
    return Judgement("doubtful", "whether the time or amount of the rule is kept is not told", *match[:2])


def _match(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> _Match:
    """How much of a rule is in one sentence: words that meet by chance in a long text are no deed."""
    by_sentence = groupby(clauses, key=lambda clause: clause.sentence)
    matches = [_match_sentence(form, list(those), likeness) for _, those in by_sentence]
    return max(matches, key=lambda match: match.score, default=_Match(0.0))


def _match_sentence(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> _Match:
    own = [word for clause in clauses for word in clause.words]
    if not own or not form.matter:
        return _Match(0.0)
    if form.verb is not None and is_opposite(form.verb.stem, {word.stem for word in own}, form.code):
        return _Match(0.0)
    words = [*own, *(word for clause in clauses for word in clause.carried)]
    values = {word: _had(word, words, likeness) for word in form.matter}
    had = tuple(word.text for word, value in values.items() if value)
    if all(value >= SURE for value in values.values()):
        # A clause is about one word when it is short, or when the word stands at its beginning or end.
        word, about = form.matter[0], len(values) > 1
        for clause in clauses:
            stems = [each.stem for each in (*clause.words, *clause.carried)]
            is_near = len(stems) <= SHORT_CLAUSE or word.stem in (stems[0], stems[-1])
            about = about or (word.stem in stems and is_near)
        return _Match(1.0, had, whole=True) if about else _Match(NEAR, had)
    share = sum(values.values()) / len(values)
    phrase = likeness.of(form.text, _done(clauses))
    score = max(0.0, share if phrase is None else (share + phrase) / 2)
    return _Match(min(_most(form, values, phrase or 0.0), score), had)


def _most(form: RuleForm, values: Mapping[Word, float], phrase: float) -> float:
    """The greatest score that an action can have which lacks a word of the matter.

    Words of one kind are as alike as words of one meaning (coffee and tea, red and blue), so a thing that is not
    named itself never counts as surely meant; a deed does where all the rest is named.
    """
    unsure = [word for word, value in values.items() if value < SURE]
    if any(value == 0.0 and word != form.verb for word, value in values.items()):
        return NEAR - 0.01
    if unsure == [form.verb]:
        return 1.0 if values[unsure[0]] and len(values) > 2 else NEAR if phrase >= SAME_DEED else NEAR - 0.01
    return NEAR if phrase >= SAME_DEED else NEAR - 0.01


def _had(word: Word, words: Sequence[Word], likeness: Likeness) -> float:
    best = 0.0
    for other in words:
        if other.stem == word.stem:
            return 1.0
        short, long = sorted((word.stem, other.stem), key=len)
        if len(short) >= LEAST_COMPOUND and long.endswith(short):
            best = max(best, SURE)
            continue
        alike = likeness.of(word.text, other.text) or 0.0
        best = max(best, alike if alike >= LEAST_ALIKE else 0.0)
    return best


def _other_manner(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> str:
    """The word of the rule for a deed or a manner of which one sentence does the opposite, about the same; or "".

    At least half of the other words of the rule must be had: a long walk is no long answer. Of what is said or
    written one word is as good as another, and a rule about nothing else ("be brief") is about that.
    """
    said, keeping = stems_of(form.code, "said"), stems_of(form.code, "keeping")
    if opposites_of(form.code).keys().isdisjoint(word.stem for word in form.matter):
        return ""
    for _, those in groupby(clauses, key=lambda clause: clause.sentence):
        words = [word for clause in those for word in (*all_words(clause.tokens, form.code), *clause.carried)]
        stems = {word.stem for word in words}
        speaks = not said.isdisjoint(stems)
        for word in form.matter:
            if not is_opposite(word.stem, stems, form.code):
                continue
            rest = [other for other in form.matter if other is not word and other.stem not in keeping]
            had = [SURE if other.stem in said and speaks else _had(other, words, likeness) for other in rest]
            if sum(had) >= len(had) / 2 and (had or speaks):
                return word.text
    return ""


def _share(words: Sequence[Word], among: Sequence[Word], likeness: Likeness) -> float:
    return sum(_had(word, among, likeness) for word in words) / len(words) if words else 0.0


def _is_mentioned(words: Sequence[Word], clause: Clause, likeness: Likeness) -> bool:
    """Whether a clause is about these words: it has most of them, or all of its own are among them."""
    if _share(words, (*clause.words, *clause.carried), likeness) >= MENTIONED:
        return True
    return bool(clause.words) and clause.role != "main" and _share(clause.words, words, likeness) >= 1.0


def _mention(
    words: Sequence[Word], clauses: Sequence[Clause], likeness: Likeness
) -> Literal["done", "left out", "supposed", "untold"]:
    found = [clause for clause in clauses if _is_mentioned(words, clause, likeness)]
    if not found:
        return "untold"
    if any(clause.negated for clause in found):
        return "left out"
    return "supposed" if all(clause.role in ("when", "unless") for clause in found) else "done"


def _limits(clauses: Sequence[Clause]) -> Limits:
    return reduce(Limits.joined, (clause.limits for clause in clauses), Limits())


def _done(clauses: Sequence[Clause]) -> str:
    done = chain.from_iterable(clause.words for clause in clauses if not clause.negated)
    return " ".join(word.text for word in done)


def _name_match(match: _Match) -> str:
    return ", ".join(match.words) or "by likeness of meaning"


def _list_words(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


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
    return [_to_held_rule(tuple(memories), citizen_id) for memories in by_words.values()]


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


def _to_held_rule(memories: tuple[StoredRule, ...], citizen_id: str) -> HeldRule:
    allowed: set[Severity] = set()
    lowered = ""
    for each in memories:
        severity, why = each.severity or "warn", ""
        if each.source not in MAY_BLOCK:
            why = f"its source is {each.source.value}, which may not block"
        elif each.source is not Source.SYSTEM and not _is_own(each, citizen_id):
            why = f"{each.author or 'nobody named'} wrote it, and only an operator blocks others"
        if severity == "block" and why:
            lowered, severity = why, "warn"
        allowed.add(severity)
    gravest = next(severity for severity in _GRAVEST if severity in allowed)
    return HeldRule(memories[0].rule, memories, gravest, "" if gravest == "block" else lowered)


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


def memories_of(rule: HeldRule) -> tuple[RuleMemory, ...]:
    """The newest memories of a rule, as answers show them."""
    found: list[RuleMemory] = []
    for stored in rule.memories[:MOST_MEMORIES]:
        fields = {**stored._asdict(), **graph_fields(stored.key), "valid_at": to_datetime(stored.valid_at)}
        found.append(RuleMemory(**fields))
    return tuple(found)


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


class RuleDecision(NamedTuple):
    """What follows from the findings. `overridden`: keys of the rules whose block is overridden."""

    verdict: Verdict
    why: str
    overridden: frozenset[str] = frozenset()


def speaks(finding: Finding) -> bool:
    """Whether the action breaks the rule, may break it or keeps it."""
    return finding.judgement.outcome in ("broken", "doubtful", "kept")


def blocks(finding: Finding) -> bool:
    return finding.judgement.outcome == "broken" and finding.rule.severity == "block"


def decide(findings: Sequence[Finding], checks: Sequence[StoredCheck], since: Instant) -> RuleDecision:
    """The verdict: the gravest of what the rules say.

    `checks`: those kept of this action. A block is overridden when each rule that blocks has blocked the action
    `BLOCKS_BEFORE` times, the last after `since`.
    """
    if not findings:
        return RuleDecision("unchecked", "there is no rule to check")
    blocking = [finding for finding in findings if blocks(finding)]
    if blocking:
        stuck = [each for each in checks if each.streak >= BLOCKS_BEFORE and each.blocked_at > since]
        often = {(each.rule_id, each.graph) for each in stuck}
        for rule in (finding.rule for finding in blocking):
            if often.isdisjoint((each.memory_id, each.key) for each in rule.memories):
                return RuleDecision("block", blocking[0].judgement.why)
        why = f"overridden: blocked {BLOCKS_BEFORE} times or more within a day; {blocking[0].judgement.why}"
        return RuleDecision("warn", why, frozenset(finding.rule.key for finding in blocking))
    for outcome in ("broken", "doubtful"):
        warned = [finding for finding in findings if finding.judgement.outcome == outcome]
        if warned:
            return RuleDecision("warn", warned[0].judgement.why)
    unread = [finding for finding in findings if finding.judgement.outcome == "unreadable"]
    if unread:
        return RuleDecision("unchecked", unread[0].judgement.why)
    spoken = any(map(speaks, findings))
    return RuleDecision("allow", "it breaks none of the rules" if spoken else "no rule speaks of it")


def order(finding: Finding) -> tuple[int, int, float, str]:
    """The gravest first, then the nearest."""
    outcomes = ("broken", "doubtful", "kept", "unreadable", "unrelated")
    severity = _GRAVEST.index(finding.rule.severity)
    return outcomes.index(finding.judgement.outcome), severity, -finding.resonance, finding.rule.key


def show(rule: HeldRule, record: RuleCounts, contradicts: Sequence[str]) -> dict[str, Any]:
    """What every answer shows of a rule."""
    fields = {"rule": rule.text, "severity": rule.severity, "lowered": rule.lowered or None}
    return {**fields, "memories": memories_of(rule), "record": record, "contradicts": tuple(contradicts)}


def show_speaking(
    finding: Finding, record: RuleCounts, contradicts: Sequence[str], *, overridden: bool
) -> SpeakingRule:
    """A finding as the answer shows it. Raises ValueError for one that does not speak."""
    rule, judgement = finding.rule, finding.judgement
    if judgement.outcome in ("unrelated", "unreadable"):
        raise ValueError(f"{judgement.outcome} says nothing of the action")
    return SpeakingRule(
        **show(rule, record, contradicts),
        outcome=judgement.outcome,
        overridden=overridden,
        why=judgement.why,
        words=judgement.words,
        likeness=round(judgement.score, 4),
        resonance=round(finding.resonance, 4),
    )
