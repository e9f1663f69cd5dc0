from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from substrate.store.vocabulary import Vocabulary, merge_vocabularies

types = st.lists(st.sampled_from("abcde"), max_size=4, unique=True).map(tuple)
vocabularies = st.lists(st.builds(Vocabulary, types, types), max_size=4)


@given(vocabularies)
def test_a_merged_vocabulary_has_each_type_once_and_in_the_order_of_its_graphs(given_: list[Vocabulary]) -> None:
    merged = merge_vocabularies(given_)
    for column in ("node_types", "relation_types"):
        names = getattr(merged, column)
        assert set(names) == {name for vocabulary in given_ for name in getattr(vocabulary, column)}
        assert len(set(names)) == len(names)
        if given_:
            assert names[: len(getattr(given_[0], column))] == getattr(given_[0], column)
