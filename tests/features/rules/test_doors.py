"""Rules over every door: REST, the client, MCP, with keys that may write and keys that may only read."""

from __future__ import annotations

from api.client import AsyncSubstrate
from tests.acceptance.conftest import ADMIN_KEY, Service

ACT = "Deploy the new version on Friday"


def test_a_rule_blocks_over_rest_and_a_key_of_a_reader_or_a_tool_overrides_nothing(
    service: Service, citizen: str
) -> None:
    service.remember(citizen, name="Fridays", rule="Never deploy on Fridays", severity="block")
    body = {"citizen_id": citizen, "action": ACT, "query_levels": ["N1"]}
    with service.client(service.key(f"citizen:{citizen}:read")) as reading:
        read = [reading.post("/v1/rules/check", json=body).json() for _ in range(3)]
        left_out = reading.post("/v1/rules/check", json={"citizen_id": citizen, "action": ACT})
        assert "N2, N3 was left out" in left_out.headers["Substrate-Notes"]
    with service.client(service.key(f"citizen:{citizen}:*", highest_source="tool")) as tool:
        read += [tool.post("/v1/rules/check", json=body).json() for _ in range(3)]
    assert [answer["verdict"] for answer in read] == ["block"] * 6
    written = [service.http.post("/v1/rules/check", json=body).json() for _ in range(3)]
    assert [(answer["verdict"], answer["overridden"]) for answer in written] == [
        ("block", False), ("block", False), ("warn", True)
    ]  # fmt: skip
    [rule] = service.http.get(f"/v1/citizens/{citizen}/rules", params={"query_levels": "N1"}).json()["rules"]
    assert rule["record"] == {"held": 0, "failed": 0, "checked": 3, "blocked": 2, "overridden": 1}
    assert rule["severity"] == rule["memories"][0]["severity"] == "block"


def test_bad_input_is_refused_or_unchecked_and_never_allowed(service: Service, citizen: str) -> None:
    service.remember(citizen, name="r", rule="Never deploy on Fridays", severity="block")
    own = {"citizen_id": citizen, "query_levels": ["N1"]}
    for action in ("", "金曜日にデプロイする", "deploy " * 7_000):
        answer = service.http.post("/v1/rules/check", json={**own, "action": action})
        assert answer.json()["verdict"] == "unchecked", action[:20]
    assert service.http.post("/v1/rules/check", json={**own, "action": "d" * 200_000}).status_code == 422
    refused = service.http.post(
        "/v1/memories", json={"citizen_id": citizen, "name": "x", "rule": "Never lie", "severity": "stop"}
    )
    assert refused.status_code == 422
    nobody = service.http.post(
        "/v1/rules/check", json={"citizen_id": f"{citizen}x", "action": "Go", "query_levels": ["N1"]}
    ).json()
    assert (nobody["verdict"], nobody["why"]) == ("unchecked", "there is no rule to check")


async def test_the_client_checks_and_lists_rules(service: Service, citizen: str) -> None:
    async with AsyncSubstrate(service.url, ADMIN_KEY) as client:
        await client.remember(citizen_id=citizen, name="Fridays", rule="Never deploy on Fridays", severity="warn")
        verdict = await client.check_rules(citizen_id=citizen, action=ACT, query_levels=["N1"])
        assert (verdict.verdict, verdict.rules[0].outcome) == ("warn", "broken")
        assert [rule.kind for rule in (await client.rules(citizen, query_levels=["N1"])).rules] == ["never"]
