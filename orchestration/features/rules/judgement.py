"""Whether an action breaks a rule: by the form of the rule, words, times, numbers and likeness of meaning. Pure.

What a rule is about, its matter (`rule_forms`), is compared with what the action does:

    likeness of both = (share of the words of the matter that the action has + cosine of the two phrases) / 2

A word counts as had when its stem is there, or by its cosine to a word of the action, from `LEAST_ALIKE` on. No
language model is asked. What the words do not tell is said: `doubtful`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain, groupby
from typing import Final, Literal, NamedTuple

from orchestration.features.rules.clauses import (
    LEAST_COMPOUND,
    MOST_READ,
    Clause,
    RuleForm,
    Word,
    all_words,
    is_opposite,
    is_told,
    languages_of,
    opposites_of,
    read_clauses,
    read_forms,
    stems_of,
)
from orchestration.features.rules.limits import Limits, compare

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
"""A clause of so many words that carry meaning is about each of them."""
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
UNREADABLE: Final = Judgement("unreadable", "its words cannot be read")
TOO_LONG: Final = Judgement("unreadable", f"more than {MOST_READ:,} characters are not judged")
OTHER_LANGUAGE: Final = Judgement("unreadable", "the action is in another language, or in none that is known here")


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
        return TOO_LONG
    forms = read_forms(rule)
    if not forms:
        return UNREADABLE
    code = forms[0].code
    if not _is_in(action, code, forms):
        return OTHER_LANGUAGE
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
        return Judgement("kept", f"the action leaves out {_named(left)}", left.score, left.words)
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
        return Judgement(
            "kept", f"its condition does not hold: {_listed(form.condition)}", match.score, match.words
        )
    why = f"the action does what the rule forbids: {_named(match)}"
    if fit == "untold" or condition != "done":
        return Judgement("doubtful", f"{why}; whether its time or condition holds is not told", *match[:2])
    return Judgement("broken" if match.score >= BROKEN else "doubtful", why, *match[:2])


def _judge_licence(form: RuleForm, clauses: Sequence[Clause], likeness: Likeness) -> Judgement | None:
    """What the exception of a ban does; None where the action does not mention it."""
    told = _mention(form.licence, clauses, likeness) if form.licence else "untold"
    if told == "done":
        return Judgement("kept", f"its exception holds: {_listed(form.licence)}")
    if told == "supposed":
        return Judgement("doubtful", f"its exception may hold: {_listed(form.licence)}")
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
            return Judgement(
                "doubtful", "the rule bids it for another time or amount, or none is told", *match[:2]
            )
        return Judgement("kept", f"the action does what the rule bids: {_named(match)}", *match[:2])
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
    what = _listed(form.needed)
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
        by_chance = len(values) == 1 and not any(_is_deed(form.matter[0], clause) for clause in clauses)
        return _Match(NEAR, had) if by_chance else _Match(1.0, had, whole=True)
    share = sum(values.values()) / len(values)
    phrase = likeness.of(form.text, _done(clauses))
    score = max(0.0, share if phrase is None else (share + phrase) / 2)
    return _Match(min(_most(form, values, phrase or 0.0), score), had)


def _is_deed(word: Word, clause: Clause) -> bool:
    """Whether a clause is about one word: the clause is short, or the word stands at its beginning or end."""
    stems = [each.stem for each in (*clause.words, *clause.carried)]
    return word.stem in stems and (len(stems) <= SHORT_CLAUSE or word.stem in (stems[0], stems[-1]))


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
    """How surely a word is among others, in [0, 1]."""
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
    """How the action tells of a condition or an exception."""
    found = [clause for clause in clauses if _is_mentioned(words, clause, likeness)]
    if not found:
        return "untold"
    if any(clause.negated for clause in found):
        return "left out"
    return "supposed" if all(clause.role in ("when", "unless") for clause in found) else "done"


def _limits(clauses: Sequence[Clause]) -> Limits:
    return reduce(Limits.joined, (clause.limits for clause in clauses), Limits())


def _done(clauses: Sequence[Clause]) -> str:
    """What the action does, as one phrase."""
    done = chain.from_iterable(clause.words for clause in clauses if not clause.negated)
    return " ".join(word.text for word in done)


def _named(match: _Match) -> str:
    return ", ".join(match.words) or "by likeness of meaning"


def _listed(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
