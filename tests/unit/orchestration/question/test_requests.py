"""Requests, which standing instructions shape, and questions about what is remembered."""

from __future__ import annotations

import pytest

from orchestration.question.reading import Request, asked_to_forget, read_request


@pytest.mark.parametrize(
    "text",
    [
        "Write a few words for the gate that we are shut on Thanksgiving.",
        "Please, could you proofread this",
        "How does a mortgage work?",
        "What should I pack for three days by the sea?",
        "How many days of holiday must they give me?",
        "She wants half the boat now and I can't sleep over it.",
        "Is a heat pump cheaper than gas?",
        "I have a flat in an old house. What would you suggest against the noise?",
        "Schreib meiner Vermieterin wegen der Heizung",
        "Was schenke ich Ulrike zum Geburtstag?",
        "Klapphelm oder Integralhelm?",
        "Wie viel Trinkgeld gibt man in Italien?",
    ],
)
def test_what_is_to_be_written_advised_explained_or_heard_is_a_request(text: str) -> None:
    assert read_request(text) is Request.SURE


@pytest.mark.parametrize(
    "text", ["how tall is the Eiffel tower?", "Who looks after the cat?", "Wie hoch ist der Turm?"]
)
def test_what_anybody_may_know_is_a_request_only_if_nobody_told_it(text: str) -> None:
    assert read_request(text) is Request.POSSIBLE


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "What did Anna say about the trip?",
        "when did I last see the dentist",
        "What's my sister's name?",
        "What does Noreen drive?",
        "Can you remind me what the doctor wanted?",
        "boiler repair cost",
        "",
        "???",
        "Wie heißt meine Ärztin?",
        "Was hat Anna über die Reise gesagt?",
    ],
)
def test_what_was_said_before_is_no_request(text: str) -> None:
    assert read_request(text) is Request.NONE


def test_a_long_text_is_read_in_part() -> None:
    assert read_request("really " * 100_000 + "explain it") in set(Request)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Please forget my phone number.", "my phone number"),
        ("That was all. Can you delete my alarm code?", "my alarm code"),
        ("Bitte vergiss meine Telefonnummer.", "meine telefonnummer"),
        ("Kannst du bitte meine Adresse löschen?", "meine adresse"),
        ("S'il te plaît, oublie mon numéro de téléphone.", "mon numéro de téléphone"),
        ("私の電話番号を忘れてください。", "私の電話番号"),
        ("请忘记我的电话号码。", "我的电话号码"),
        ("请把我的电话号码删掉。", "我的电话号码"),
        ("Well, forget the address of the shop.", "the address of the shop"),
    ],
)
def test_a_wish_to_forget_says_what(text: str, what: str) -> None:
    assert asked_to_forget(text) == what


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget my phone number!", "I forgot my phone number.", "Never forget the milk.", "Forget it.",
        "Did I forget my keys?", "Vergiss meinen Geburtstag nicht!", "Vergiss nicht, die Milch zu kaufen.",
        "N'oublie pas mon anniversaire.", "電話番号を忘れないでください。", "鍵を忘れてしまった。",
        "不要忘记我的生日。", "我忘记了我的钥匙。",
        "Anna said, forget my phone number.", "Did I ask you to forget my phone number?",
        "Step two. Remove the cake from the oven.", "Anna sagte, vergiss meine Adresse.",
        "我把密码忘记了。", "对不起，忘记带钥匙了。", "忘记密码怎么办？", "電気を消してください。",
    ],
)  # fmt: skip
def test_what_must_not_be_forgotten_or_was_forgotten_is_no_wish(text: str) -> None:
    assert asked_to_forget(text) is None
