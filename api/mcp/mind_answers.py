"""The structured answers of the tools on what a citizen lives and imagines."""

from __future__ import annotations

from typing import Final

from api.mcp.answers import Noticed
from orchestration.assembly.displayed_text import one_line
from orchestration.features.contexts.values import ContextReceipt
from orchestration.features.imagination.values import Imagination
from orchestration.features.rules.values import RulesVerdict
from orchestration.features.sharing.values import Shared
from schemas.base import Frozen
from schemas.commands import WriteReceipt


class ContextValues(Frozen):
    id: str
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, receipt: ContextReceipt) -> ContextValues:
        return cls(id=receipt.context_id, warnings=receipt.warnings)


class ImagineValues(Noticed):
    enough: bool
    results: dict[str, float]
    prediction_id: str | None = None

    @classmethod
    def of(cls, told: Imagination) -> ImagineValues:
        return cls(enough=told.enough, results=told.results, prediction_id=told.prediction_id)


def imagination_text(told: Imagination) -> str:
    """The shares in a line each, then the nearest cases with what came of them."""
    lines = [
        f"{kind}: {_shares(shares)}" for kind, shares in (("results", told.results), ("feelings", told.emotions))
    ]
    if not told.enough:
        lines = [f"too few to say ({told.cases} cases with a result); usually {_shares(told.usual) or 'unknown'}"]
    for case in told.nearest:
        rule = f"; rule: {case.rule}" if case.rule else ""
        lines.append(one_line(f"- {case.description or case.name} -> {case.result or 'no result'}{rule}"))
    return "\n".join([*lines, *map(one_line, told.notes)])


def _shares(shares: dict[str, float]) -> str:
    return one_line(", ".join(f"{name} {share:.0%}" for name, share in shares.items()))


MOST_RULES: Final = 8
"""So many rules that speak are shown to a model, the gravest."""


class RuleValues(Frozen):
    """What an action does to a rule: it is broken, doubtful or kept."""

    rule: str
    outcome: str
    severity: str
    why: str

    def line(self) -> str:
        return one_line(f"- {self.outcome} ({self.severity}): {self.rule} ({self.why})")


class VerdictValues(Noticed):
    """`verdict`: allow, warn, block or unchecked."""

    verdict: str
    why: str
    overridden: bool = False
    rules: tuple[RuleValues, ...] = ()

    @classmethod
    def of(cls, verdict: RulesVerdict) -> VerdictValues:
        rules = tuple(
            RuleValues(rule=each.rule, outcome=each.outcome, severity=each.severity, why=each.why)
            for each in verdict.rules[:MOST_RULES]
        )
        return cls(verdict=verdict.verdict, why=verdict.why, overridden=verdict.overridden, rules=rules)

    def text(self) -> str:
        return "\n".join((one_line(f"{self.verdict}: {self.why}"), *(rule.line() for rule in self.rules)))


class SharedValues(Frozen):
    id: str
    status: str

    @classmethod
    def of(cls, shared: Shared) -> SharedValues:
        return cls(id=shared.id, status=shared.status)


class ContestValues(Frozen):
    statement_id: str

    @classmethod
    def of(cls, receipt: WriteReceipt) -> ContestValues:
        return cls(statement_id=str(receipt.id))
