"""A stream within a number of tokens: what is sent holds the limit, and the first memory is always in it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.assembly.budget import COMPACT_TOKENS, Budget, best_part, said_words, stems_of
from orchestration.assembly.compact import tell
from orchestration.assembly.fitting import fit, send
from orchestration.assembly.sent_form import FULL_TOKENS, stream_json
from orchestration.traversal.graph import build_graph
from schemas.intention import Form, Part, RetrievalIntention
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream
from schemas.stream_forms import StreamAnswer, all_memories, as_stream
from substrate.inference.tokens import counter
from tests.builders import a_node, a_relationship
from tests.unit.orchestration.assembly.test_sent_form import a_stream, streams

COUNT = counter()
FRAME = 450
"""What a JSON stream has at least: its frame, and the least part of the first memory."""
ASKED = RetrievalIntention(query_text="harbour", citizen_id="ada")
WORDS = "We met at the harbour and spoke of the boat, the weather and the price of rope. "


def long_stream(memories: int = 40, repeats: int = 3) -> ConsciousnessStream:
    nodes = tuple(
        a_node(node_id=f"m{place}", name=f"Day {place}", description=f"Day {place}. " + WORDS * repeats)
        for place in range(memories)
    )
    level = ConsciousnessLevelResults(vector_results=nodes[::2], graph_results=nodes)
    tiers = ActivationTiers(focus=nodes[:5], peripheral=nodes[5:25], background=nodes[25:])
    return a_stream(levels={"n1_personal": level}, activation_tiers=tiers)


def fitted(stream: ConsciousnessStream, form: Form, limit: int) -> dict[str, Any]:
    budget = Budget(limit, COUNT)
    sent: dict[str, Any] = orjson.loads(stream_json(fit(stream, form, budget), form, None, budget))
    return sent


@pytest.mark.parametrize("limit", [200, 500, 1000, 2000, 5000, 20_000])
@pytest.mark.parametrize("form", ["full", "references"])
@pytest.mark.parametrize("repeats", [1, 3, 40])
def test_what_is_sent_has_at_most_so_many_tokens(form: Form, limit: int, repeats: int) -> None:
    stream = long_stream(repeats=repeats)
    budget = Budget(limit, COUNT)
    body = stream_json(fit(stream, form, budget), form, None, budget)
    assert COUNT(body.decode()) <= max(limit, FRAME)
    answer = as_stream(StreamAnswer.model_validate_json(body).root)
    shown = [node.node_id for node in answer.activation_tiers.ordered()]
    assert shown == [f"m{place}" for place in range(len(shown))]
    assert shown
    assert answer.omitted == 40 - len(shown)
    assert answer.token_counts is not None
    assert answer.token_counts.sent == pytest.approx(COUNT(body.decode()), abs=30)


@given(streams(), st.integers(30, 400))
@settings(max_examples=30)
def test_no_text_is_longer_than_its_budget(stream: ConsciousnessStream, limit: int) -> None:
    told, whole = tell(stream, Budget(limit, COUNT)), tell(stream)
    assert COUNT(told.text) <= max(limit, 80)
    assert [node.node_id for node in told.memories] == [
        node.node_id for node in whole.memories[: len(told.memories)]
    ]
    assert bool(told.memories) is bool(whole.memories)
    assert told.omitted - whole.omitted == len(whole.memories) - len(told.memories)


def test_a_compact_text_that_names_no_limit_has_1500_tokens_and_another_has_those_that_it_names() -> None:
    stream, whole = long_stream(), tell(long_stream())
    assert COUNT(whole.text) > COMPACT_TOKENS + 500
    told = orjson.loads(stream_json(fit(stream, "compact", None), "compact"))
    assert COMPACT_TOKENS - 100 < COUNT(told["text"]) <= COMPACT_TOKENS
    assert told["token_counts"]["text"] == COUNT(told["text"])
    assert told["text"].count("- [") + told["omitted"] == len(whole.memories)
    assert fitted(stream, "compact", 20_000)["text"] == whole.text
    short = fitted(stream, "compact", 300)
    assert short["token_counts"]["text"] == COUNT(short["text"]) <= 300
    named: tuple[Part, ...] = ("activation_tiers",)
    sections = fit(stream, "compact", None, parts=named)
    assert (sections.text, sections.activation_tiers) == (told["text"], stream.activation_tiers)
    for form in ("full", "references"):
        assert fit(stream, form, None) == stream


def test_a_long_hit_is_cut_to_the_part_that_answers_and_says_so() -> None:
    text = "It rained all day. " * 60 + "The anchor weighs 417 pounds. " + "It rained all night. " * 60
    hit, filler = a_node(node_id="hit", description=text), a_node(node_id="filler", description="ok")
    stream = a_stream(activation_tiers=ActivationTiers(focus=(hit, filler)))
    told = tell(stream, Budget(200, COUNT), stems_of("How much does the anchor weigh?"))
    assert "417 pounds" in told.text
    assert f" of {len(text)}" in told.text
    assert "filler" not in [node.node_id for node in told.memories]
    [memory] = told.memories
    assert memory.passage is not None
    assert text[memory.passage.start : memory.passage.end] == memory.description
    assert fitted(stream, "references", 400)["memories"]["N1|hit|1"]["passage"]["length"] == len(text)


@given(st.text(alphabet="ab \n", max_size=200), st.integers(1, 60))
def test_a_part_lies_within_the_text(text: str, most: int) -> None:
    start, end = best_part(text, most, said_words(text, {"a"}))
    assert 0 <= start <= end <= len(text)
    assert end - start <= most


def three_levels(memories: int, repeats: int) -> ConsciousnessStream:
    """Three levels with so many memories each, of which the tiers hold 75, and a link from each to the next."""
    levels, every = {}, list[ConsciousnessNode]()
    for name, level in (("n1_personal", Level.N1), ("n2_collective", Level.N2), ("n3_ecosystem", Level.N3)):
        nodes = tuple(
            a_node(level=level, node_id=f"m{place}", description=f"Day {place}. " + WORDS * repeats)
            for place in range(memories)
        )
        links = tuple(
            a_relationship(
                level=level, link_id=f"l{place}", source_id=f"m{place}", target_id=f"m{(place + 1) % memories}"
            )
            for place in range(memories)
        )
        levels[name] = ConsciousnessLevelResults(
            vector_results=nodes[::2], graph_results=nodes[::-1], relationships=links
        )
        every += nodes
    tiers = ActivationTiers(focus=every[:5], peripheral=every[5:25], background=every[25:75])
    graph = build_graph(every, tiers, [link for each in levels.values() for link in each.relationships])
    return a_stream(levels=levels, activation_tiers=tiers, traversal_graph=graph)


def test_without_a_limit_all_six_lists_are_sent_whole_up_to_what_003_accepts() -> None:
    stream = three_levels(40, 2)
    full = StreamAnswer.model_validate_json(send(stream, ASKED, None)).root
    assert isinstance(full, ConsciousnessStream)
    assert (full.levels, full.omitted) == (stream.levels, 0)
    assert full.token_counts is not None
    assert 50_000 < full.token_counts.sent <= FULL_TOKENS


@pytest.mark.parametrize("repeats", [5, 60])
def test_a_larger_stream_is_cut_in_equal_shares_by_rank_and_tells_what_is_missing(repeats: int) -> None:
    stream = three_levels(90, repeats)
    body = send(stream, ASKED, None)
    assert 0.75 * FULL_TOKENS < COUNT(body.decode()) <= FULL_TOKENS
    full = StreamAnswer.model_validate_json(body).root
    assert isinstance(full, ConsciousnessStream)
    assert full.token_counts is not None
    assert full.token_counts.sent <= FULL_TOKENS
    shares = []
    for name, found in stream.levels.items():
        sent = full.levels[name]
        here = {node.node_id for node in (*sent.vector_results, *sent.graph_results)}
        assert all({link.source_id, link.target_id} <= here for link in sent.relationships)
        for kind in ("vector_results", "graph_results", "relationships"):
            shown, every = getattr(sent, kind), getattr(found, kind)
            assert (sent.omitted or {}).get(kind, 0) == len(every) - len(shown)
            if kind != "relationships":
                assert shown == every[: len(shown)]
                shares.append(len(shown) - len(every) * len(sent.vector_results) / len(found.vector_results))
    assert all(abs(share) <= 2 for share in shares), "each list keeps the same share of its entries"
    shown = {(node.level, node.node_id) for node in all_memories(full)}
    assert full.omitted == 270 - len(shown)
    assert {(node.level, node.node_id) for node in full.traversal_graph.nodes} == shown
    if repeats == 5:
        assert full.activation_tiers == stream.activation_tiers, "the lists give way first"
    small = orjson.loads(send(stream, ASKED.model_copy(update={"form": "references"}), None))
    assert (small["omitted"], len(small["memories"])) == (0, 270)
    assert all("omitted" not in level for level in small["levels"].values())


def test_within_a_limit_each_level_tells_how_many_more_there_are() -> None:
    stream = three_levels(30, 2)
    for form in ("full", "references"):
        sent = answered(stream, form, 9000)
        for name, found in stream.levels.items():
            level = sent["levels"][name]
            for kind in ("vector_results", "graph_results", "relationships"):
                lacking = len(getattr(found, kind)) - len(level[kind])
                assert lacking == level.get("omitted", {}).get(kind, 0)
        assert sent["levels"]["n3_ecosystem"]["omitted"]
        assert COUNT(orjson.dumps(sent).decode()) <= 9000


@pytest.mark.parametrize("form", ["full", "references"])
def test_the_energy_feedback_potential_is_there_however_small_the_limit(form: Form) -> None:
    stream = three_levels(30, 2).model_copy(update={"energy_feedback_potential": 0.4})
    for limit in (1, 200, 1000):
        sent = answered(stream, form, limit)
        assert sent["energy_feedback_potential"] == 0.4
        assert COUNT(orjson.dumps(sent).decode()) <= max(limit, FRAME)
    assert "energy_feedback_potential" not in answered(stream, form, 1000, "activation_tiers")


def answered(stream: ConsciousnessStream, form: Form, limit: int, *parts: Part) -> dict[str, Any]:
    """What a program gets that asks within a limit."""
    asked = RetrievalIntention(query_text="harbour", citizen_id="ada", form=form, parts=parts or None)
    budget = Budget(limit, COUNT)
    fits = fit(stream, form, budget, parts=asked.parts, words=stems_of("harbour"))
    sent: dict[str, Any] = orjson.loads(send(fits, asked, budget))
    return sent


def in_tiers(sent: dict[str, Any]) -> int:
    return sum(map(len, sent["activation_tiers"].values()))


@pytest.mark.parametrize("form", ["full", "references"])
@pytest.mark.parametrize("repeats", [1, 4])
def test_more_tokens_show_as_many_memories_and_hardly_any_stay_unused(form: Form, repeats: int) -> None:
    stream = long_stream(memories=60, repeats=repeats)
    limits = range(700, 24_000, 900)
    answers = [answered(stream, form, limit) for limit in limits]
    shown = list(map(in_tiers, answers))
    assert all(more >= less - 1 for less, more in pairwise(shown))
    assert max(shown) == 60
    for limit, sent in zip(limits, answers, strict=True):
        used = COUNT(orjson.dumps(sent).decode())
        assert used <= limit
        assert used >= 0.8 * limit or sent["omitted"] == 0


@given(streams(), st.sampled_from(["full", "references", "compact"]), st.integers(1, 4000), st.booleans())
@settings(max_examples=60)
def test_what_is_sent_within_a_limit_is_what_its_models_say(
    stream: ConsciousnessStream, form: Form, limit: int, compact_has_parts: bool
) -> None:
    parts: tuple[Part, ...] = ("levels", "traversal_graph") if form == "compact" and compact_has_parts else ()
    sent = answered(stream, form, limit, *parts)
    assert StreamAnswer.model_validate(sent).model_dump(mode="json", exclude_unset=True) == sent


@pytest.mark.parametrize("text", ["ზღვის პირას ვისაუბრეთ ნავზე. ", "我们在港口见面谈论船和天气。", WORDS])
def test_without_a_limit_the_bound_holds_in_every_script(text: str) -> None:
    nodes = tuple(a_node(node_id=f"m{n}", description=f"{n} {text}" * 24) for n in range(70))
    level = ConsciousnessLevelResults(vector_results=nodes, graph_results=nodes)
    tiers = ActivationTiers(focus=nodes[:5], peripheral=nodes[5:])
    stream = a_stream(levels={"n1_personal": level}, activation_tiers=tiers)
    body = send(stream, ASKED, None)
    assert 0.6 * FULL_TOKENS < COUNT(body.decode()) <= FULL_TOKENS * 1.02
    assert orjson.loads(body)["token_counts"]["sent"] == pytest.approx(COUNT(body.decode()), rel=0.35)


def linked_stream() -> ConsciousnessStream:
    """Memories of which each stands in its tier, level and graph, with many links."""
    nodes = tuple(a_node(node_id=f"m{n}", description=WORDS) for n in range(25))
    links = tuple(
        a_relationship(link_id=f"l{n}", source_id=f"m{n % 25}", target_id=f"m{(7 * n + 3) % 25}")
        for n in range(200)
    )
    level = ConsciousnessLevelResults(vector_results=nodes, graph_results=nodes, relationships=links)
    tiers = ActivationTiers(focus=nodes[:5], peripheral=nodes[5:])
    graph = build_graph(nodes, tiers, links)
    return a_stream(levels={"n1_personal": level}, activation_tiers=tiers, traversal_graph=graph)


@pytest.mark.parametrize("form", ["full", "references"])
@pytest.mark.parametrize("parts", [(), ("levels",), ("levels", "traversal_graph"), ("activation_tiers", "levels")])
def test_each_link_has_both_its_ends_in_the_section_in_which_it_stands(
    form: Form, parts: tuple[Part, ...]
) -> None:
    stream = linked_stream()
    seen = 0
    for limit in range(500, 16_000, 1500):
        sent = answered(stream, form, limit, *parts)
        assert COUNT(orjson.dumps(sent).decode()) <= limit
        answer = as_stream(StreamAnswer.model_validate(sent).root)
        for level in answer.levels.values():
            here = {node.node_id for node in (*level.vector_results, *level.graph_results)}
            assert all({link.source_id, link.target_id} <= here for link in level.relationships)
            seen += len(level.relationships)
        drawn = {node.node_id for node in answer.traversal_graph.nodes}
        assert all({edge.source_id, edge.target_id} <= drawn for edge in answer.traversal_graph.edges)
    assert seen
