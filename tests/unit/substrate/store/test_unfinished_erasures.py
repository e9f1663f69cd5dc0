"""Notes of unfinished erasures: what is stored is read back, and a finished one does not tell what was erased."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from substrate.store.erasure import ErasureNote, ErasureTarget, format_note, parse_note

texts = st.text(st.characters(codec="utf-8"), max_size=12)
targets = st.builds(ErasureTarget, st.sampled_from(["memory", "episode", "citizen"]), texts, texts)
instants = st.integers(0, 2**53)
notes = st.builds(ErasureNote, instants, texts, st.none() | targets, made=st.none() | instants)


@given(notes)
def test_a_note_that_is_stored_is_read_back(note: ErasureNote) -> None:
    assert parse_note(format_note(note)) == note


def test_a_note_without_a_target_names_nothing() -> None:
    target = ErasureTarget("memory", "citizen_ada", "secret-plan")
    done = ErasureNote(7, target.digest(), None)
    assert "ada" not in format_note(done)
    assert "secret" not in format_note(done)


@given(targets, targets)
def test_two_targets_share_no_digest(one: ErasureTarget, other: ErasureTarget) -> None:
    if "\n" not in "".join((*one, *other)):
        assert (one.digest() == other.digest()) is (one == other)
