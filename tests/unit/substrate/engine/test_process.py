"""Why an engine did not start, by its log."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from substrate.engine.keeper import is_complete
from substrate.engine.process import _quoted, failure_reason

LOG = """\
4242:M 01 Jan 2026 00:00:00.000 * oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo
4242:M 01 Jan 2026 00:00:00.000 # WARNING Memory overcommit must be enabled!
4242:M 01 Jan 2026 00:00:00.001 # Fatal error:   can't open
line without a sign

"""


def test_the_reason_is_the_last_relevant_lines_without_their_heads() -> None:
    assert failure_reason(LOG) == "Fatal error: can't open | line without a sign"


def test_a_log_of_notices_alone_gives_no_reason() -> None:
    assert failure_reason(LOG.splitlines()[0]) == ""


def test_at_most_four_lines_are_quoted() -> None:
    assert failure_reason("\n".join("abcdef")) == "c | d | e | f"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30))
def test_a_quoted_path_is_one_line_of_the_configuration(name: str) -> None:
    quoted = _quoted(Path("/data") / name.replace("/", "_"))
    assert quoted.startswith('"')
    assert quoted.endswith('"')
    assert "\n" not in quoted
    assert "\r" not in quoted


@given(st.binary(max_size=60), st.integers(0, 80))
def test_a_reply_is_complete_when_all_its_bytes_are_there(text: bytes, cut: int) -> None:
    reply = b"$%d\r\n%s\r\n" % (len(text), text)
    assert is_complete(reply[:cut]) is (cut >= len(reply))
    assert is_complete(b"+OK\r\n" + reply)
    assert not is_complete(b"+OK\r\n")
    assert is_complete(b"-LOADING\r\n")
