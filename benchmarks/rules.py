"""How often the verdict of rules on an action is that of a person, on four sets of written cases.

    python -m benchmarks.rules
    python -m benchmarks.rules --set sealed --wrong

Each case is judged as the service does: the rules are memories of a citizen of its own, in an engine of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from api.runtime.runtime import Runtime, open_runtime
from orchestration import insertion
from orchestration.features.rules.feature import check_rules
from orchestration.features.rules.values import RulesCheck, RulesVerdict
from schemas.commands import Remember
from schemas.memory import Source
from schemas.settings import Settings
from schemas.temporal import to_instant

DIRECTORY: Final = Path(__file__).parent / "rules"
SETS: Final = ("tune", "sealed", "everyday_tune", "everyday_sealed")
VERDICTS: Final = ("block", "warn", "allow", "unchecked")
UNTRUSTED: Final = frozenset(("tool", "ingestion", "upkeep"))
AT: Final = datetime.fromisoformat("2026-03-10T10:00:00Z")
"""When a case without a moment of its own is asked."""


def read_cases(name: str) -> list[dict[str, Any]]:
    """The cases of one set."""
    cases: list[dict[str, Any]] = json.loads((DIRECTORY / f"{name}.json").read_text("utf-8"))["cases"]
    return cases


async def judge_case(case: dict[str, Any], runtime: Runtime) -> RulesVerdict:
    """The verdict of the service on one case."""
    now = to_instant(datetime.fromisoformat(case["now"]) if "now" in case else AT)
    commands = [_remember(case["id"], rule) for rule in case["rules"]]
    receipts = await insertion.apply(commands, runtime.deps, now - 1_000_000)
    if any(receipt.status == "refused" for receipt in receipts):
        raise RuntimeError(f"a rule of {case['id']} was refused")
    request = RulesCheck(citizen_id=case["id"], action=case["action"])
    return await check_rules(request, runtime.deps, now)


def _remember(citizen: str, rule: dict[str, Any]) -> Remember:
    text, source = rule["text"], Source(rule.get("source", "citizen"))
    return Remember(
        citizen_id=citizen, name=text, rule=text, severity=rule.get("severity", "block"), source=source,
        restate=True,
    )  # fmt: skip


async def run(names: Sequence[str], *, show_wrong: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings()
        store = settings.store.model_copy(update={"data": Path(directory) / "store"})
        async with open_runtime(replace(settings, store=store)) as runtime:
            for name in names:
                cases = read_cases(name)
                verdicts = [await judge_case(case, runtime) for case in cases]
                print(describe(name, cases, verdicts))
                if show_wrong:
                    _show_wrong(cases, verdicts)


def describe(name: str, cases: Sequence[dict[str, Any]], verdicts: Sequence[RulesVerdict]) -> str:
    """A table: of each expected verdict what was given, precision and recall, and blocks by untrusted sources."""
    pairs = Counter((case["expected"], verdict.verdict) for case, verdict in zip(cases, verdicts, strict=True))
    lines = [
        f"{name}: {len(cases)} cases",
        "",
        f"| a person says | {' | '.join(VERDICTS)} |",
        "|---|---|---|---|---|",
    ]
    for expected in VERDICTS:
        given = " | ".join(str(pairs[expected, verdict]) for verdict in VERDICTS)
        lines.append(f"| {expected} | {given} |")
    for verdict in VERDICTS:
        right = pairs[verdict, verdict]
        said = sum(pairs[expected, verdict] for expected in VERDICTS)
        meant = sum(pairs[verdict, given] for given in VERDICTS)
        lines.append(f"{verdict}: precision {_share(right, said)}, recall {_share(right, meant)}")
    short = [verdict.verdict for case, verdict in zip(cases, verdicts, strict=True) if case["kind"] == "short"]
    if short:
        lines.append(f"short actions judged: {len(short) - short.count('unchecked')} of {len(short)}")
    return "\n".join([*lines, f"blocks by untrusted sources: {_untrusted(verdicts)}", ""])


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "none"


def _untrusted(verdicts: Sequence[RulesVerdict]) -> int:
    """How many verdicts block although every rule that is broken comes from an untrusted source."""
    count = 0
    for verdict in verdicts:
        broken = [rule for rule in verdict.rules if rule.outcome == "broken"]
        sources = {memory.source.value for rule in broken for memory in rule.memories}
        count += verdict.verdict == "block" and sources <= UNTRUSTED
    return count


def _show_wrong(cases: Sequence[dict[str, Any]], verdicts: Sequence[RulesVerdict]) -> None:
    for case, verdict in zip(cases, verdicts, strict=True):
        if case["expected"] != verdict.verdict:
            rules = "; ".join(rule["text"] for rule in case["rules"])
            said = f"{case['expected']}, not {verdict.verdict}"
            print(f"{case['id']} {case['kind']}: {said}: {case['action']} | {rules}")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, action="append", help="only this set")
    parser.add_argument("--wrong", action="store_true", help="show the cases that were judged otherwise")
    given = parser.parse_args()
    asyncio.run(run(given.set or SETS, show_wrong=given.wrong))


if __name__ == "__main__":
    main()
