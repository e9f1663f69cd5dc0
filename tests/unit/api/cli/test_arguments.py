"""How an error calls an argument of the command line."""

from api.cli.options import _label
from api.cli.program import argument


def test_an_error_names_an_argument_in_capitals_however_the_help_writes_it() -> None:
    assert _label("query_text", argument("question", "What to look for.")) == "QUESTION"
    assert _label("name", argument("[ID]", "Of what.", None)) == "ID"
    assert _label("text", argument(None, "What is said.")) == "TEXT"
