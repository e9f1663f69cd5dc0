"""Checks of rules over a store: what blocks, what is kept of it, and what erasure leaves."""

from __future__ import annotations

from typing import Any

from orchestration.dependencies import Deps
from orchestration.features.rules.feature import check_rules, list_rules
from orchestration.features.rules.values import ListedRule, RulesCheck, RulesPage, RulesVerdict
from orchestration.writing.erasure import erase
from schemas.commands import Correct, EraseMemory, Retract
from schemas.memory import Level, Source
from schemas.temporal import Instant, to_datetime
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from tests.integration.store import ASKED, NOW, moment, remember, send, stored

CHECKS = Query("checks_left", "MATCH (k:RuleCheck) RETURN count(k)")
FRIDAY = "Never deploy on Fridays"
ACT = "Deploy the new version on Friday"


async def checked(deps: Deps, citizen: str, action: str, now: Instant = ASKED, **fields: Any) -> RulesVerdict:
    return await check_rules(RulesCheck(citizen_id=citizen, action=action, **fields), deps, now)


async def listed(deps: Deps, citizen: str, **fields: Any) -> list[ListedRule]:
    answer = await list_rules(citizen, RulesPage(query_levels=(Level.N1,), **fields), deps, ASKED)
    return list(answer.rules)


async def test_a_block_is_overridden_the_third_time_and_recorded(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "r", rule=FRIDAY, severity="block"))
    verdicts = [await checked(deps, fresh_citizen, ACT, ASKED + number) for number in range(3)]
    assert [(verdict.verdict, verdict.overridden) for verdict in verdicts] == [
        ("block", False),
        ("block", False),
        ("warn", True),
    ]
    [rule] = await listed(deps, fresh_citizen)
    assert (rule.record.checked, rule.record.blocked, rule.record.overridden) == (3, 2, 1)
    other = await checked(deps, fresh_citizen, "Deploy on Friday")
    assert other.verdict == "block"


async def test_what_a_key_that_only_reads_checks_is_not_kept_and_overrides_nothing(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "r", rule=FRIDAY, severity="block"))
    request = RulesCheck(citizen_id=fresh_citizen, action=ACT)
    verdicts = [await check_rules(request, deps, ASKED + n, keep=False) for n in range(3)]
    assert {verdict.verdict for verdict in verdicts} == {"block"}
    [rule] = await listed(deps, fresh_citizen)
    assert rule.record.checked == 0


async def test_a_rule_is_checked_as_of_a_moment_and_revised_like_every_memory(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "r", rule=FRIDAY, severity="block", valid_at=moment(50)))
    correct = Correct(citizen_id=fresh_citizen, id="r", rule="Never deploy on Mondays")
    await stored(deps, correct, now=NOW + 10)
    assert (await checked(deps, fresh_citizen, ACT)).verdict == "allow"
    before = await checked(deps, fresh_citizen, ACT, known_at=to_datetime(NOW + 5))
    assert (before.verdict, before.rules[0].memories[0].severity) == ("block", "block")
    early = await checked(deps, fresh_citizen, ACT, as_of_time=moment(10))
    assert (early.verdict, early.judged) == ("unchecked", 0)
    await stored(deps, Retract(citizen_id=fresh_citizen, id="r"), now=NOW + 20)
    assert await listed(deps, fresh_citizen) == []


async def test_a_rule_of_a_tool_or_a_file_only_warns(deps: Deps, fresh_citizen: str) -> None:
    sources = (Source.TOOL, Source.INGESTION, Source.UPKEEP)
    rules = [remember(fresh_citizen, each.value, rule=FRIDAY, severity="block", source=each) for each in sources]
    await stored(deps, *rules)
    verdict = await checked(deps, fresh_citizen, ACT)
    assert (verdict.verdict, verdict.rules[0].severity) == ("warn", "warn")
    assert verdict.rules[0].lowered is not None
    await stored(deps, remember(fresh_citizen, "own", rule=FRIDAY, severity="block", source=Source.SYSTEM))
    assert (await checked(deps, fresh_citizen, ACT)).verdict == "block"


async def test_a_rule_of_the_collective_warns_its_members_and_blocks_them_where_the_operator_wrote_it(
    deps: Deps, fresh_citizen: str
) -> None:
    team = {"level": "N2", "rule": f"Never publish {fresh_citizen}", "severity": "block"}
    await stored(deps, remember(fresh_citizen, f"team-{fresh_citizen}", **team))
    assert (await checked(deps, fresh_citizen, f"Publish {fresh_citizen}")).verdict == "warn"
    await stored(deps, remember(fresh_citizen, f"operator-{fresh_citizen}", source=Source.SYSTEM, **team))
    verdict = await checked(deps, fresh_citizen, f"Publish {fresh_citizen}")
    assert (verdict.verdict, verdict.rules[0].memories[0].level) == ("block", Level.N2)
    own = await checked(deps, fresh_citizen, f"Publish {fresh_citizen}", query_levels=(Level.N1,))
    assert (own.verdict, own.judged) == ("unchecked", 0)
    for who in ("team", "operator"):
        retract = Retract(
            citizen_id=fresh_citizen, level=Level.N2, id=f"{who}-{fresh_citizen}", source=Source.SYSTEM
        )
        await send(deps, retract)


async def test_erasing_a_rule_erases_what_was_kept_of_its_checks(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "r", rule=FRIDAY, severity="block"), remember(fresh_citizen, "m"))
    await checked(deps, fresh_citizen, ACT)
    graph = graph_name(Level.N1, fresh_citizen)
    assert await deps.connection.read(graph, CHECKS, parameters({})) == [[1]]
    await erase(EraseMemory(citizen_id=fresh_citizen, id="r"), deps, NOW + 100, deps.directory)
    assert await deps.connection.read(graph, CHECKS, parameters({})) == [[0]]


async def test_a_rule_that_keeps_failing_is_a_dissonance_and_a_contradiction_is_named(
    deps: Deps, fresh_citizen: str
) -> None:
    failed = [remember(fresh_citizen, f"f{n}", rule=FRIDAY, result="negative") for n in range(3)]
    await stored(deps, *failed, remember(fresh_citizen, "o", rule="Always deploy on Fridays"))
    by_text = {rule.rule: rule for rule in await listed(deps, fresh_citizen)}
    assert by_text[FRIDAY].dissonance is not None
    assert by_text["Always deploy on Fridays"].contradicts == (FRIDAY,)
    verdict = await checked(deps, fresh_citizen, ACT, query_levels=(Level.N1,))
    assert {rule.rule: rule.contradicts for rule in verdict.rules} == {
        FRIDAY: ("Always deploy on Fridays",),
        "Always deploy on Fridays": (FRIDAY,),
    }


async def test_what_cannot_be_judged_is_no_permission(deps: Deps, fresh_citizen: str) -> None:
    long = remember(fresh_citizen, "long", rule="never deploy " * 4_000, severity="block")
    empty = remember(fresh_citizen, "empty", rule="")
    await stored(deps, long, empty)
    own = (Level.N1,)
    assert (await checked(deps, fresh_citizen, "Deploy", query_levels=own)).verdict == "unchecked"
    await stored(deps, Retract(citizen_id=fresh_citizen, id="long"), remember(fresh_citizen, "r", rule=FRIDAY))
    actions = ("", "  ", "🙂", "金曜日にデプロイする", "Déployer la version vendredi", "deploy " * 7_000)
    verdicts = [await checked(deps, fresh_citizen, action, query_levels=own) for action in actions]
    assert [verdict.verdict for verdict in verdicts] == ["unchecked"] * len(actions)
