"""What a rule says: whether it forbids, bids or reserves, what it is about, and when it holds. Pure.

"never deploy on Fridays", "always run the tests before a release", "only Ana may approve invoices".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from orchestration.features.rules.clauses import Clause, Word, content_words, languages_of, read_clauses, stems_of
from orchestration.features.rules.limits import Limits, is_ceiling
from schemas.bounded_cache import cached_within
from substrate.language.languages import Language

type Kind = Literal["never", "always", "order", "only"]

MOST_READ: Final = 2_000
"""A rule or an action with more characters is not judged: nobody says one so."""


class RuleForm(NamedTuple):
    """What a rule says. `matter`: the words it is about, of which `verb` is the deed, if it has one.

    `condition`: when it holds. `licence`: what makes the forbidden allowed; where it is `awaited`, an action that
    does not mention it may be right. `needed`: what `order` wants done before the matter. `who`: to whom `only`
    reserves it; without anybody its limits are meant.
    """

    code: str
    kind: Kind
    text: str
    matter: tuple[Word, ...]
    verb: Word | None
    limits: Limits
    condition: tuple[Word, ...] = ()
    licence: tuple[Word, ...] = ()
    needed: tuple[Word, ...] = ()
    who: tuple[str, ...] = ()


@cached_within(8 << 20)
def read_forms(text: str) -> tuple[RuleForm, ...]:
    """What a rule says, one form for each of its bids; none where it cannot be read."""
    if len(text) > MOST_READ:
        return ()
    for spoken in languages_of(text):
        if found := tuple(form for form in _forms(text, spoken) if form.matter):
            return found
    return ()


def _forms(text: str, spoken: Language) -> Iterator[RuleForm]:
    unit: list[Clause] = []
    for clause in read_clauses(text, spoken.code):
        new = clause.role == "main" and (
            not unit or unit[0].sentence != clause.sentence or _is_bid(clause, spoken)
        )
        if new and unit and any(each.role == "main" and each.words for each in unit):
            yield from _unit_forms(unit, spoken)
            unit = []
        unit.append(clause)
    if unit:
        yield from _unit_forms(unit, spoken)


def _is_bid(clause: Clause, spoken: Language) -> bool:
    """Whether a clause after another one bids by itself: ", and never …"."""
    texts = {token.text for token in clause.tokens}
    return clause.negated or not texts.isdisjoint((*spoken.rules["only"], *spoken.rules["bidding"]))


def _unit_forms(unit: Sequence[Clause], spoken: Language) -> Iterator[RuleForm]:
    mains = [clause for clause in unit if clause.role == "main" and (clause.words or clause.limits.any())]
    if not mains:
        return
    first, *others = mains
    form = _form(first, unit, spoken)
    yield form
    is_list = form.kind == "never" and form.verb is None
    for other in others:  # "no nuts, eggs or milk for Mira"; a word alone is else a filler
        if len(other.words) > 1 or (is_list and other.words):
            yield _form(other._replace(negated=first.negated), (other, *unit), spoken)


def _form(main: Clause, unit: Sequence[Clause], spoken: Language) -> RuleForm:
    by_role = {clause.role: clause for clause in reversed(unit) if clause.role != "main"}
    texts = [token.text for token in main.tokens]
    negated = main.negated != is_ceiling(texts, spoken) if not main.negated else True
    text = " ".join(word.text for word in main.words)
    form = RuleForm(spoken.code, "never" if negated else "always", text, main.words, None, main.limits)
    form = form._replace(verb=_verb(main, spoken))
    earlier, later = by_role.get("before"), by_role.get("after")
    if any(text in spoken.rules["only"] for text in texts) and not negated:
        form = _reserved(form, main, spoken)
    if earlier is not None and earlier.words:
        if negated:
            form = form._replace(kind="order", needed=earlier.words)
        else:
            trigger = earlier.words
            form = form._replace(
                kind="order", needed=main.words, matter=trigger, text=earlier.text, verb=_verb(earlier, spoken)
            )
    condition = by_role.get("when") or later
    licence = by_role.get("unless") or by_role.get("without")
    if condition is not None:
        form = form._replace(condition=condition.words, limits=form.limits.joined(condition.limits))
    if licence is not None:
        form = form._replace(licence=licence.words)
    return form


def _verb(clause: Clause, spoken: Language) -> Word | None:
    """The deed of a clause: its first word, or the last where verbs come last; none after "no" or a light verb."""
    texts = [token.text for token in clause.tokens]
    light = stems_of(spoken.code, "light")
    if not clause.words or (clause.words[0].stem not in light and not light.isdisjoint(map(spoken.stem, texts))):
        return None
    places = [place for place, text in enumerate(texts) if text.removesuffix("'s") == clause.words[0].text]
    if places and places[0] and texts[places[0] - 1] in spoken.rules["nothing"]:
        return None
    last = "verbs_last" in spoken.rules or any(text in ("be", "been") for text in texts)
    return clause.words[-1 if last else 0]


def _reserved(form: RuleForm, main: Clause, spoken: Language) -> RuleForm:
    """Who alone may ("only Ana may approve invoices"), or when ("only water the orchids on Sundays")."""
    texts = [token.text for token in main.tokens]
    place = next(i for i, text in enumerate(texts) if text in spoken.rules["only"]) + 1
    rest = main.tokens[place:]
    modal = next((i for i, token in enumerate(rest) if token.text in spoken.rules["may"]), 0)
    who = rest[:modal] if 0 < modal <= 4 else rest[:1] if rest and rest[0].shape else ()
    if not who:
        return form._replace(kind="only") if form.limits.any() else form
    matter = content_words(rest[len(who) :], Limits(), spoken)
    names = tuple(word.stem for word in content_words(who, Limits(), spoken))
    verb = matter[-1 if "verbs_last" in spoken.rules else 0] if matter else None
    return form._replace(kind="only", who=names, matter=matter, verb=verb, text=" ".join(w.text for w in matter))
