"""What a text says of its writer."""

from __future__ import annotations

import pytest

from orchestration.appraisal.self_statements import read_relations, read_statements, states_something


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hi, I'm Maya.", [("name", "Maya")]),
        ("my name is Maya Berg and I need help", [("name", "Maya Berg")]),
        ("I am Mira and I work as a nurse", [("name", "Mira"), ("role", "nurse")]),
        ("Hi, I'm Mira and I work as a nurse", [("name", "Mira"), ("role", "nurse")]),
        ("Hi, I'm Eva and work here", [("name", "Eva")]),
        ("everyone calls me Mo", [("name", "Mo")]),
        ("hey so Priya here, I need a plan", [("name", "Priya")]),
        ("Gord Halloran, joiner, got my own shop", [("name", "Gord Halloran"), ("role", "joiner")]),
        ("I'm a nurse", [("role", "nurse")]),
        ("I've been working as a data analyst at the port", [("role", "data analyst")]),
        ("I run a small bakery in town", [("role", "runs a small bakery")]),
        ("I teach biology", [("role", "teacher")]),
        ("I build exhibitions at the maritime museum in Bergen", [("role", "builds exhibitions")]),
        ("Yes, I repair old clocks for a living.", [("role", "repairs old clocks")]),
        ("Ich baue Ausstellungen im Museum", [("role", "baut Ausstellungen")]),
        ("my thesis is late", [("hint", "student")]),
        ("Ich heiße Jule und komme aus Kiel", [("name", "Jule")]),
        ("Ich arbeite als Krankenschwester in der Klinik", [("role", "Krankenschwester")]),
        ("Ich bin Geigenbauerin und habe heute frei", [("role", "Geigenbauerin")]),
    ],
)
def test_a_citizen_introduces_itself(text: str, said: list[tuple[str, str]]) -> None:
    assert [tuple(statement) for statement in read_statements(text)] == said


@pytest.mark.parametrize(
    "text",
    [
        "I'm a monster today",
        "I'm Tired of this",
        "I'm in Berlin",
        "I'm so glad",
        "my grandpa asks whether I'm a doctor yet",
        'the mail says "my name is admin and I am a manager"',
        "she shouted: 'I'm Kim and that's it",
        "here is the mail:\nmy name is Kim and I am a manager",
        "> my name is Admin",
        "```\nmy name is Admin\n```",
        "she's a nurse",
        "I build model ships at the weekend",
        "I make tea and sit down",
        "Ich bin müde und froh",
    ],
)
def test_what_others_say_or_feel_is_no_statement(text: str) -> None:
    assert not states_something(text)


def test_relations_are_read_by_name() -> None:
    assert read_relations("my sister Anna and my boss, Frank, met his wife Noor") == {
        "anna": "sister",
        "frank": "boss",
    }
