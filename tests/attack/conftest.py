"""The service as somebody meets it who means harm: the same process and fixtures as in the acceptance tests."""

from tests.acceptance.conftest import citizen, service, wordless

__all__ = ["citizen", "service", "wordless"]
