"""The fixtures of the doors and of the open store, for the tests of features."""

from __future__ import annotations

from tests.acceptance.conftest import citizen, client, one_model, service, wordless
from tests.integration.conftest import asking, deps, fresh_citizen

__all__ = ["asking", "citizen", "client", "deps", "fresh_citizen", "one_model", "service", "wordless"]
