"""Names and forms of what a vector set holds."""

from __future__ import annotations

import json

import pytest

from substrate.likeness.elements import (
    WHOLE,
    Role,
    Vector,
    digest,
    digest_or_none,
    join_name,
    open_mark,
    pack,
    read_found,
    set_name,
    set_names,
    split_name,
)


@pytest.mark.parametrize("graph", ["citizen_ada", "{citizen_ada}import-1a2b"])
def test_the_sets_of_a_graph_have_its_hash_tag_and_differ(graph: str) -> None:
    names = set_names(graph)
    assert len(set(names)) == len(names) == 4
    assert all("{citizen_ada}" in name for name in names)
    assert set_name(graph, Role.MEMORIES, 1) in names


def test_a_digest_tells_vectors_apart_as_far_as_they_are_stored() -> None:
    assert digest([0.1, 0.2]) == digest([0.1 + 1e-12, 0.2])
    assert digest([0.1, 0.2]) != digest([0.2, 0.1])
    assert digest_or_none(None) is None
    assert digest_or_none([]) is None


def test_numbers_are_packed_as_little_endian_floats() -> None:
    assert pack([1.0, -2.0]) == b"\x00\x00\x80?\x00\x00\x00\xc0"


def test_a_name_has_owner_and_key() -> None:
    vector = Vector("a\x1fb", "key", [1.0])
    assert split_name(vector.name) == ("a\x1fb", "key")
    assert vector.name == join_name("a\x1fb", "key")


def test_a_score_is_read_as_a_cosine_distance() -> None:
    [same, opposite] = read_found([join_name("a", "k"), "1.0000001", join_name("b", "l"), "0"])
    assert same == ("a", "k", 0.0)
    assert opposite == ("b", "l", 2.0)


def test_the_element_that_says_that_a_set_is_whole_is_never_found() -> None:
    [found] = read_found([WHOLE, "1", join_name("a", "k"), "0.5"])
    assert found == ("a", "k", 1.0)
    assert join_name("", "") == WHOLE


def test_two_marks_differ_and_both_pass_the_filter_of_the_present() -> None:
    assert open_mark(1) != open_mark(2)
    assert [json.loads(open_mark(number))["open"] > 0 for number in (1, 2**40)] == [True, True]
