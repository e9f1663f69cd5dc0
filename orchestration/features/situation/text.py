"""The situation as text for a prompt, within a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import shorten
from typing import Final, NamedTuple

from orchestration.assembly.displayed_text import one_line
from orchestration.features.situation.values import CHANGE_KINDS, Change, Context, Situation, Stimulus
from schemas.mind.state import CitizenState
from schemas.temporal import long_date

LONGEST: Final = 300
"""This many characters of a text stand on its line; the fields of the situation have more."""
SEEN: Final = 160

type Count = Callable[[str], int]


class Told(NamedTuple):
    """A text, its tokens, and how many lines had no room."""

    text: str
    tokens: int
    left_out: int


def tell(situation: Situation, most: int, count: Count) -> Told:
    """The situation as headings and lines, never more than `most` tokens.

    The lines are taken in their order, which is that of their weight: state, what there is to answer to, focus,
    rules, working memory, changes, window. One that is too long is left out, and shorter ones after it may fit.
    """
    blocks: list[list[str]] = []
    left, left_out = most, 0
    for heading, lines in _blocks(situation):
        block: list[str] = []
        for line in lines:
            added = f"- {line}" if block else f"# {heading}\n- {line}"
            cost = count(f"{added}\n\n")
            if cost > left:
                left_out += 1
                continue
            block.append(added)
            left -= cost
        if block:
            blocks.append(block)
    return _within(blocks, most, count, left_out)


def _within(blocks: list[list[str]], most: int, count: Count, left_out: int) -> Told:
    """The blocks as one text. Tokens of a whole may be more than those of its parts: then the last lines go."""
    while blocks:
        text = "\n\n".join(map("\n".join, blocks))
        tokens = count(text)
        if tokens <= most:
            return Told(text, tokens, left_out)
        blocks[-1].pop()
        left_out += 1
        blocks = [block for block in blocks if block]
    return Told("", 0, left_out)


def _blocks(situation: Situation) -> Iterator[tuple[str, Sequence[str]]]:
    since = "" if situation.since is None else f" since {long_date(situation.since)}"
    focus = [] if situation.focus is None else [_short(situation.focus, LONGEST)]
    seen = [_short(item.text, SEEN) for item in situation.window if item.text]
    yield "State", list(_state_lines(situation.state))
    yield "To answer to", list(map(_stimulus_line, situation.stimuli))
    yield "In mind", focus
    yield "Rules", [_short(rule.rule, LONGEST) for rule in situation.rules]
    yield "Working memory", list(map(_context_line, situation.contexts))
    yield f"Changed{since}", list(_change_lines(situation))
    yield "Seen in the last cycle", seen


def _state_lines(state: CitizenState) -> Iterator[str]:
    felt = sorted(state.emotion_vector.items(), key=lambda item: (-item[1], item[0]))
    emotions = [f"{one_line(name)} {amount:.2g}" for name, amount in felt if amount]
    yield ", ".join((f"energy {state.energy:.2g}", *emotions))
    if state.goal is not None:
        yield f"goal: {_short(state.goal, LONGEST)}"
    drives = sorted(state.drives.items(), key=lambda item: (item[1].satisfaction, item[0]))
    if drives:
        yield "drives: " + ", ".join(f"{one_line(name)} {drive.satisfaction:.2g}" for name, drive in drives)


def _stimulus_line(stimulus: Stimulus) -> str:
    said = _short(stimulus.text, LONGEST)
    if stimulus.kind in ("given", "message"):
        when = "" if stimulus.at is None else f"[{long_date(stimulus.at)}] "
        return f"{when}{one_line(stimulus.speaker)}: {said}" if stimulus.speaker else f"{when}{said}"
    return f"{stimulus.kind}: {said} ({stimulus.reason})"


def _context_line(context: Context) -> str:
    name, text = one_line(context.speaker or context.name), _short(context.description, LONGEST)
    felt = "" if context.emotion is None or context.intensity is None else f" {context.intensity:.2g}"
    remarks = [f"{one_line(context.emotion)}{felt}" if context.emotion else "", one_line(context.result or "")]
    told = "; ".join(remark for remark in (f"resonates {context.score:.2f}", *remarks) if remark)
    return f"[{long_date(context.valid_at)}] {name}: {text} ({told})"


def _change_lines(situation: Situation) -> Iterator[str]:
    """The rarest kinds first: what is new fills any budget."""
    for kind in reversed(CHANGE_KINDS):
        changes: Iterable[Change] = getattr(situation.changes, kind)
        for change in changes:
            speaker = f"{one_line(change.speaker)}: " if change.speaker else ""
            was = f" (before: {_short(change.before, SEEN)})" if change.before else ""
            yield f"{kind}: {speaker}{_short(change.text, LONGEST)}{was}"
        if kind in situation.changes.more:
            yield f"{kind}: {situation.changes.more[kind]} more"


def _short(text: str, most: int) -> str:
    return shorten(one_line(text), most, placeholder=" …")
