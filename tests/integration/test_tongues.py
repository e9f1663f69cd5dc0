"""What was told in a script without blanks is found by its words alone, and by names, on the real engine."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from tests.integration.store import ask, remember, stored

CITIZEN = "tongues"
TOLD = {
    "cat": "うちの猫のミンカは、掃除機をかけるたびにソファの下に隠れてしまう。",
    "phone": "昨日はiPhone15を買って、サーバーも新しくした。",
    "guests": "来週は田中さんと黒猫が泊まりに来る。",
    "violin": "我从一月份开始学小提琴，老师星期三到家里来。",
    "typewriter": "我在跳蚤市场淘到一台1931年的打字机。",
    "bakery": "Le boulanger du coin ferme parce qu'il ne trouve pas de successeur.",
}


@pytest.fixture(scope="module")
async def told(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    store = StoreSettings(data=tmp_path_factory.mktemp("tongues"), names="off")
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="none"))) as runtime:
        messages = [remember(CITIZEN, key, description=text) for key, text in TOLD.items()]
        person = remember(CITIZEN, "tanaka", name="田中", node_type="Person", description="同僚")
        await stored(runtime.deps, *messages, person)
        yield runtime.deps


def shown(stream: ConsciousnessStream) -> dict[str, str]:
    """The texts of an answer by the ids of their memories, best first."""
    tiers = stream.activation_tiers
    nodes = (*tiers.focus, *tiers.peripheral, *tiers.background)
    return {node.node_id: node.description or "" for node in nodes}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("掃除機が怖いのは誰？", "cat"),
        ("ｉＰｈｏｎｅ１５はいつ買ったの？", "phone"),
        ("ｻｰﾊﾞｰはどうした？", "phone"),
        ("谁在学小提琴？", "violin"),
        ("那台打字机是哪里来的？", "typewriter"),
        ("Qui sont les successeurs des boulangers ?", "bakery"),
    ],
)
async def test_a_fact_is_found_by_words_alone(told: Deps, question: str, found: str) -> None:
    assert next(iter(shown(await ask(told, CITIZEN, question)))) == found


async def test_one_character_is_found_at_the_end_of_a_run_too(told: Deps) -> None:
    assert {"cat", "guests"} <= shown(await ask(told, CITIZEN, "猫")).keys()


async def test_a_name_inside_running_text_is_named(told: Deps) -> None:
    assert "田中" in (await ask(told, CITIZEN, "昨日田中さんは何をした？")).entities


async def test_the_text_shown_is_the_text_told(told: Deps) -> None:
    assert shown(await ask(told, CITIZEN, "谁在学小提琴？"))["violin"] == TOLD["violin"]


@pytest.mark.parametrize("question", ["。、！？", "猫" * 2000, "が\u3099😀", "的"])
async def test_odd_questions_are_answered(told: Deps, question: str) -> None:
    assert (await ask(told, CITIZEN, question)).degraded == ()
