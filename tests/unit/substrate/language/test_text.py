"""Text in normal form, and query words that cannot harm the full-text engine."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.language.text import (
    MAX_QUERY_WORDS,
    count_of,
    count_stems,
    flat_texts,
    indexed_words,
    is_unspaced,
    name_key,
    normal_text,
    query_words,
    search_form,
    search_text,
    spaced_text,
    stem,
    stems,
    stop_words,
    word_finder,
    word_language,
    words,
)

hostile = st.text(st.sampled_from("""ab @|%*()[]{}"'\\-_:;~$^=<>&!?.,/é\u0130ß\n\t"""), max_size=40)
unspaced = st.text("掃除機をかけると猫がソファーに隠れるｻｰﾊﾞｰ我们家的鱼 、。iPhone15が\u3099\ud800😀", max_size=40)
running = st.text("掃除機をかけると猫がソファーに隠れるサーバー我们家的鱼 、。iPhone15", max_size=40)
"""Without marks that change the character before them."""
texts = st.text(max_size=60) | hostile | unspaced


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "link", "0 links"),
        (1, "memory", "1 memory"),
        (45, "memory", "45 memories"),
        (1000, "past version", "1,000 past versions"),
        (2, "day", "2 days"),
    ],
)
def test_a_count_has_the_right_form_of_its_noun(count: int, noun: str, text: str) -> None:
    assert count_of(count, noun) == text


@given(texts)
def test_query_words_hold_only_word_characters(text: str) -> None:
    for word in query_words(text):
        assert re.fullmatch(r"\w+", word) or not word.isascii()  # an emoji is a word, too
        assert not re.search(r"\s", word)
        assert word not in stop_words()
        assert word.strip("_")


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), max_size=60).map(" ".join))
def test_query_words_are_few_distinct_and_in_the_order_of_the_query(text: str) -> None:
    found = query_words(text)
    assert len(found) == len(set(found)) <= MAX_QUERY_WORDS
    first = {word: place for place, word in reversed(list(enumerate(words(text))))}
    assert found == sorted(found, key=first.__getitem__)


@given(texts)
def test_the_query_words_of_query_words_are_themselves(text: str) -> None:
    found = query_words(text)
    assert query_words(" ".join(found)) == found


@given(st.text() | st.text(st.characters(codec="ascii")), st.sampled_from([r"\w", r"[^\W_]", r"[^\W\d_]"]))
def test_the_words_of_a_text_are_its_runs_of_characters_in_lower_case(text: str, characters: str) -> None:
    assert word_finder(characters)(text) == re.findall(f"{characters}+", text.lower())


@given(st.text(st.characters(codec="ascii")))
def test_the_words_of_plain_text_need_no_normal_form(text: str) -> None:
    assert words(text) == indexed_words(text) == re.findall(r"\w+", text.lower())


@given(st.lists(st.text(max_size=30) | st.sampled_from(["", "a\x1fb", "\x1f", "Tea, for two", "naïve 掃除機"])))
def test_the_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert flat_texts(texts) == [f" {' '.join(words(text))} " for text in texts]


@given(texts)
def test_the_normal_form_of_a_text_has_the_words_of_the_text(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Café CRÈME", "cafe creme"),
        ("naïve", "naive"),
        ("\ufb01ne", "fine"),
        ("Ångström", "angstrom"),
        ("Straße", "straße"),
        ("Sœur", "soeur"),
        ("ｉＰｈｏｎｅ１５", "iphone15"),
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("か\u3099", "が"),
        ("は\u309a", "ぱ"),
        ("あ\u3099", "あ"),
    ],
)
def test_normal_text_has_no_accents_ligatures_or_capitals(text: str, normal: str) -> None:
    assert normal_text(text) == normal


@pytest.mark.parametrize("hostile", ["@name:(x) | y", "%%drop%%", "a*", "-b", '"phrase', "(((", "\\", "_ __"])
def test_the_signs_of_the_query_language_do_not_pass(hostile: str) -> None:
    assert all(re.fullmatch(r"\w+", word) for word in query_words(hostile))


@given(texts)
def test_a_search_text_is_stored_only_where_the_engine_would_read_other_words(text: str) -> None:
    plain = text.isascii() and "\\" not in text and all(c.isprintable() or c in "\n\r\t" for c in text)
    kept = search_text(text)
    assert kept is None if plain else kept == " ".join(indexed_words(text))


@given(texts, st.sampled_from(["en", "de", "ja"]))
def test_the_stems_that_are_counted_are_those_of_each_word_that_is_no_stop_word(text: str, language: str) -> None:
    silent = stop_words(language)
    counted = Counter(stem(word, language) for word in words(text) if word not in silent)
    for _ in range(2):
        assert list(count_stems(words(text), language).items()) == list(counted.items())


@given(texts)
def test_stems_are_those_of_every_word_that_is_no_stop_word(text: str) -> None:
    assert stems(text) == {stem(word) for word in words(text) if word not in stop_words()}


@pytest.mark.parametrize("name", ["person_luca", "Person-Luca", "Person  Luca", "PERSON LÚCA", "(person) luca!"])
def test_a_name_is_compared_without_signs_case_and_accents(name: str) -> None:
    assert name_key(name) == "person luca"


@given(st.text())
def test_between_the_words_of_a_spaced_text_there_are_spaces_and_nothing_else(text: str) -> None:
    spaced = spaced_text(text)
    assert spaced[0] == spaced[-1] == " "
    assert [word for word in spaced.split(" ") if word] == indexed_words(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where do I live?", "en"),
        ("Wo wohne ich?", "de"),
        ("Was kostet die Praxis?", "de"),
        ("What was in the will?", "en"),
        ("Lisbon", "en"),
        ("Où habite ma sœur ?", "fr"),
        ("Qu'est-ce que j'ai acheté ?", "fr"),
        ("うちの猫は何が怖いですか", "ja"),
        ("我们家的猫害怕什么？", "zh"),
        ("What did 田中 say about the flat?", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text_is_that_of_its_stop_words(text: str, language: str) -> None:
    assert word_language(text) == language


def test_the_words_and_stems_of_a_text_are_those_of_its_language() -> None:
    text = "Wie hoch ist die Miete für meine Wohnungen?"
    assert query_words(text, "de") == ["hoch", "miete", "wohnungen"]
    assert "die" in query_words(text)
    assert stem("wohnungen", "de") == stem("wohnung", "de") != stem("wohnungen")


def test_only_in_a_language_of_many_forms_a_word_is_searched_by_its_beginning() -> None:
    assert search_form("wohnungen", "de") == "wohnung*"
    assert search_form("opa", "de") == "opa"
    assert search_form("flats", "en") == "flats"
    assert search_form("mangeons", "fr") == "mangeon*"


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("掃除機", ["掃除", "除機"]),
        ("猫", ["猫"]),
        ("猫、犬", ["猫", "犬"]),
        ("サーバー", ["サー", "ーバ", "バー"]),
        ("人々", ["人々"]),
        ("iPhone15を買った", ["iphone15", "を買", "買っ", "った"]),
        ("用WiFi上网", ["用", "wifi", "上网"]),
        ("𠮟る", ["𠮟る"]),
        ("。、！「」", []),
        ("한국 사람", words("한국 사람")),
    ],
)
def test_the_words_of_a_run_without_blanks_are_its_pairs_of_characters(text: str, pairs: list[str]) -> None:
    assert words(text) == pairs


@given(running, running, running)
def test_every_pair_of_a_question_that_stands_in_a_text_is_found(before: str, question: str, after: str) -> None:
    found = set(indexed_words(before + question + after))
    assert {word for word in words(question) if len(word) == 2 and is_unspaced(word)} <= found


@given(unspaced)
def test_each_character_of_a_run_begins_one_of_the_words_it_is_indexed_by(text: str) -> None:
    beginnings = {word[0] for word in indexed_words(text)}
    assert {char for word in words(text) if is_unspaced(word) for char in word} <= beginnings
    assert all(search_form(char, "en") == f"{char}*" for char in beginnings if is_unspaced(char))


def test_of_too_many_pairs_those_of_han_and_katakana_are_kept() -> None:
    kana = [f"{one}{other}" for one in "あいうえお" for other in "かきくけこ"]
    assert query_words(" ".join([*kana, "東京", "サー"]))[-2:] == ["東京", "サー"]
    assert len(query_words("漢字仮名交文東京都京都府大阪市福岡県沖縄島北海道" * 80, "ja")) <= MAX_QUERY_WORDS


@given(st.text())
def test_any_text_has_a_language_and_safe_words(text: str) -> None:
    language = word_language(text)
    forms = [search_form(word, language).removesuffix("*") for word in query_words(text, language)]
    assert all(form in words(form) for form in forms)


def test_an_emoji_is_a_word_without_its_colour_and_a_flag_is_one() -> None:
    assert words("ok 👍🏽👍 🇫🇷 ❤️ café☕") == ["ok", "👍", "👍", "🇫🇷", "❤", "cafe", "☕"]
    assert query_words("who sent 🐙?") == ["sent", "🐙"]
    assert search_text("Look", "here 🐙🐙") == "look here 🐙 🐙"
