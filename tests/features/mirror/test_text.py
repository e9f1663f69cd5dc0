"""The text of a mirror's files: whatever is written is read back, and what people do to it is understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.mirror.text import (
    NEW,
    Atom,
    ShownLink,
    guard,
    is_heading,
    parse_block,
    parse_file,
    render_atom,
    render_block,
    snippet,
    unguard,
)

CHARACTERS = st.characters(codec="utf-8")
NASTY = (
    "---", "\\---", "## [x] y", "\\## [x] y", "```", "~~~~", "```yaml",
    "<!-- links: shown here, not read back -->",
    "<script>", " <!--", "&#13;", "&amp;#13;", "\r", "\n\n", "  ", "\t", "# heading", "\u2028", "\x85", "\ufeff",
    "- MENTIONS → [x](y)", "id: 3", "\x00", "\\", "\\\\```",
)  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(NASTY), st.text(CHARACTERS, max_size=12)), max_size=8).flatmap(
    lambda parts: st.sampled_from(["\n", "", " "]).map(lambda glue: glue.join(parts))
)
IDS = st.text("abcé[]() :.#\"'\\{}🦊`", min_size=1, max_size=20).map(str.strip).filter(bool)
UNITS = st.floats(0, 1)
WORDS = TEXTS.filter(lambda text: text != "")
FIELDS = st.fixed_dictionaries(
    {"name": WORDS, "node_type": WORDS, "energy": UNITS},
    optional={
        "tags": st.lists(WORDS, min_size=1, max_size=4).map(tuple),
        "emotion_vector": st.dictionaries(WORDS, UNITS, min_size=1, max_size=3),
        "goal": WORDS,
        "rule": WORDS,
        "importance": UNITS,
    },
)
ATOMS = st.builds(Atom, IDS, st.integers(1, 10_000), TEXTS, FIELDS)
LINK = ShownLink("MENTIONS", "a [b](c)", "../../@x/%23y/z.md#a")


def words_of(atom: Atom) -> str:
    name = atom.fields["name"]
    return name if is_heading(name) else snippet(name)


def render(*atoms: Atom) -> str:
    return "\n".join(render_atom(atom, words_of(atom), [LINK], 2) for atom in atoms)


@given(TEXTS)
def test_a_guarded_text_comes_back_exactly(text: str) -> None:
    assert unguard(guard(text)) == text


@given(st.lists(ATOMS, max_size=3))
def test_what_is_written_is_read_back_the_same(atoms: list[Atom]) -> None:
    sections = parse_file(render(*atoms)).sections
    assert [section.faults for section in sections] == [()] * len(atoms)
    assert [section.atom for section in sections] == atoms


@given(st.lists(ATOMS, max_size=2))
def test_an_editor_that_ends_lines_as_windows_does_changes_nothing(atoms: list[Atom]) -> None:
    written = "\ufeff" + render(*atoms).replace("\n", "\r\n")
    assert [section.atom for section in parse_file(written).sections] == atoms


@pytest.mark.parametrize("values", [{"tags": ["no", "1.0", "2025-01-01", "a: b", "null"], "x": "", "y": 0.25}])
def test_a_block_is_read_as_plain_strings(values: dict[str, object]) -> None:
    assert parse_block(render_block(values)) == {**values, "y": "0.25"}


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "a: &x [b]\nc: *x", "word", "[a]: b", "a: 'b"])
def test_a_block_that_is_no_list_of_values_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_block(text)


def read_one(text: str) -> tuple[Atom, tuple[str, ...]]:
    [section] = parse_file(text).sections
    return section.atom, section.faults


def test_a_person_adds_a_memory_with_a_heading_and_a_text() -> None:
    added, faults = read_one("---\ntag: sea\n---\n\n## [new] The tide\n\nIt comes at noon.\n")
    assert (added, faults) == (Atom(NEW, None, "It comes at noon.", {"name": "The tide"}), ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("## [a] A\n\ntext\n", "lost its id or version"),
        ("## [a] A\n\n```yaml\nid: b\nversion: 1\n```\n", "has the id b, but the heading a"),
        ("## [a] A\n\n```yaml\nid: a\nversion: 1\ncolour: red\n```\n", "has colour, which no memory has"),
        ("## [a] A\n\n```yaml\nid: a\nversion: 1\nenergy: much\n```\n", "is no number"),
        ("## [a] A\n\n```yaml\nid: a\nversion: 1\ntags: {x: y}\n```\n", "no list of words"),
        ("## [a] A\n\n```yaml\nid: [a\n```\n", "is no YAML"),
        (
            "## [a] A\n\n```yaml\nid: a\nversion: 1\n```\n\n<!-- links: shown here, not read back -->\n\nmore\n",
            "stands below its links",
        ),
    ],
)
def test_what_cannot_be_read_is_named(text: str, reason: str) -> None:
    assert reason in " ".join(read_one(text)[1])
