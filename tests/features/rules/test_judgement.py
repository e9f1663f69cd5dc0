"""Whether an action breaks a rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.rules.clauses import MOST_READ, read_forms
from orchestration.features.rules.judgement import Likeness, judge, phrases_of, phrases_of_action

CASES = [
    ("Never share your location with strangers", "Share the location with a stranger", "broken"),
    ("Never share your location with strangers", "Share the recipe with Mira", "unrelated"),
    ("Don't drink coffee after 4 pm", "Drink a coffee at 5 pm", "broken"),
    ("Don't drink coffee after 4 pm", "Drink a coffee at 3 pm", "kept"),
    ("Never close the window at night", "Open the window at night", "kept"),
    ("Always lock the door when you leave the house", "Leave the house at eight", "doubtful"),
    ("Always lock the door when you leave the house", "Leave the house without locking the door", "broken"),
    ("Always lock the door when you leave the house", "Lock the door and leave the house", "kept"),
    ("Never commit secrets to the repository", "Commit the documentation to the repository", "unrelated"),
    ("Sleep at least 7 hours", "Sleep 5 hours tonight", "broken"),
    ("Sleep at least 7 hours", "Sleep 8 hours tonight", "kept"),
    ("Only Maria may drive the truck", "Have Karl drive the truck", "broken"),
    ("Only Maria may drive the truck", "Maria drives the truck to Rostock", "kept"),
    ("Don't forget to feed the cat", "Go out without feeding the cat", "broken"),
    ("Don't forget to feed the cat", "Feed the cat", "kept"),
    ("Be polite and never interrupt a customer", "Interrupt the customer", "broken"),
    ("Never fly on Fridays unless it is an emergency", "Fly to Oslo on Friday, it is an emergency", "kept"),
    ("Never fly on Fridays unless it is an emergency", "Fly to Oslo on Friday for the exhibition", "broken"),
    ("Never lend money to Rob", "Lend money to Eva", "unrelated"),
    ("No eggs, nuts or milk for Mira", "Bring nuts for Mira", "broken"),
    ("Keine Mails nach 20 Uhr", "Um 21 Uhr noch eine Mail an den Chef schicken", "broken"),
    ("Keine Mails nach 20 Uhr", "Um 18 Uhr eine Mail an den Chef schicken", "kept"),
    ("Nur Ana darf Rechnungen freigeben", "Tom soll die Rechnung freigeben", "broken"),
    ("Vor dem Essen immer die Hände waschen", "Essen, ohne die Hände zu waschen", "broken"),
    ("Send Mira small steps", "send Mira one small step", "kept"),
    ("Send Mira small steps", "send Mira ten big steps", "doubtful"),
    ("Always answer in short sentences", "Answer with ten paragraphs about the bridge", "doubtful"),
    ("Always answer in short sentences", "Take the long way home", "unrelated"),
    ("Always call Mira about exams", "Write to Mira about the exam", "doubtful"),
    ("Always call Mira", "Call Mira, then write Mira a letter", "kept"),
    ("Never call Mira", "Call Mira. Then write Mira a letter.", "broken"),
    ("Never answer in long sentences", "Answer in short sentences", "kept"),
    ("Be brief", "Explain it in ten pages", "doubtful"),
    ("Be brief", "Take the long road", "unrelated"),
    ("Mira immer anrufen", "Mira einen Brief schreiben", "doubtful"),
    ("Never call Mr Brandt before nine", "Call Mr Brandt at seven", "doubtful"),
    ("Never call Mr Brandt before nine", "Call Mr Brandt at seven in the evening", "kept"),
    ("Never call Mr Brandt before nine", "Call Mr Brandt at seven in the morning", "broken"),
    ("Never call Mr Brandt before nine", "Call Mr Brandt at ten tomorrow morning", "kept"),
    ("Never call before nine people have signed", "Call Tom at seven", "doubtful"),
    ("Herrn Brandt nie vor neun anrufen", "Herrn Brandt um sieben anrufen", "doubtful"),
    ("Always wake Leo after eight", "Wake Leo at six", "doubtful"),
    ("Never spend more than 300 euros", "Spend money on a new monitor", "doubtful"),
    ("Never deploy on Fridays", "Deploy", "doubtful"),
    ("Never deploy on Fridays", "Hm", "unreadable"),
    ("Never deploy on Fridays", "Am Freitag die neue Version deployen", "unreadable"),
    ("Never deploy on Fridays", "", "unreadable"),
    ("", "Deploy", "unreadable"),
    ("Never", "Deploy", "unreadable"),
]


@pytest.mark.parametrize(("rule", "action", "outcome"), CASES)
def test_an_action_breaks_a_rule_may_break_it_keeps_it_or_has_nothing_to_do_with_it(
    rule: str, action: str, outcome: str
) -> None:
    assert judge(rule, action).outcome == outcome


@pytest.mark.parametrize(("today", "outcome"), [(4, "broken"), (1, "kept"), (None, "doubtful")])
def test_today_is_the_day_on_which_it_is_asked(today: int | None, outcome: str) -> None:
    assert judge("No deployments on Fridays", "Deploy the hotfix today", today=today).outcome == outcome


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never deploy", "never"),
        ("Avoid sugar", "never"),
        ("Always knock", "always"),
        ("Read a lease before you sign it", "order"),
        ("Only Ana may sign", "only"),
        ("Drink at most two cups", "never"),
    ],
)
def test_a_rule_is_read_by_its_form(text: str, kind: str) -> None:
    assert read_forms(text)[0].kind == kind


def test_two_words_of_one_kind_are_as_alike_as_two_of_one_meaning_so_likeness_alone_never_breaks_a_rule() -> None:
    one, other = (1.0, 0.0), (0.8, 0.6)
    like = Likeness({"coffee": one, "tea": other, "drink coffee": one, "drink tea": other})
    assert judge("Never drink coffee", "Drink tea", like).outcome == "doubtful"


def test_a_deed_by_another_word_breaks_a_rule_where_all_else_is_named() -> None:
    like = Likeness({"photograph": (1.0, 0.0), "film": (0.8, 0.6)})
    assert (
        judge("Never photograph the children of guests", "Film the children of guests", like).outcome == "broken"
    )
    assert judge("Never photograph the children of guests", "Film the children of guests").outcome != "broken"


def test_words_that_meet_by_chance_in_a_long_text_are_no_deed() -> None:
    told = "We had lines at the counter. The proof of the sign came back and Anya was proud of it all day long."
    assert judge("Never sign a proof at the counter", told).outcome == "unrelated"


def test_a_text_that_is_too_long_is_not_judged() -> None:
    long = "never deploy " * MOST_READ
    assert (judge(long, "Deploy").outcome, judge("Never deploy", long).outcome) == ("unreadable", "unreadable")
    assert phrases_of(long) == []


def test_the_phrases_to_compare_are_those_of_the_rule_and_of_the_action() -> None:
    assert phrases_of("Never send customer lists") == ["send", "customer", "lists", "send customer lists"]
    assert "email customer list" in phrases_of_action("Email the customer list", ["en"])


@given(st.text(max_size=120), st.text(max_size=120))
def test_every_rule_and_every_action_is_judged_and_what_says_nothing_never_breaks(rule: str, action: str) -> None:
    judged = judge(rule, action)
    assert 0.0 <= judged.score <= 1.0
    if not any(char.isalpha() for char in rule + action):
        assert judged.outcome == "unreadable"
