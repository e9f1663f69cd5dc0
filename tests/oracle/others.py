"""The three ways of asking beside retrieval: nothing that a moment does not see, and all that fits exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.resonance.ask import resonate
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import StateBasedRetrieval
from schemas.memory import ConsciousnessNode
from schemas.wave_signal import Resonate
from tests.oracle.histories import TAGS, Question
from tests.oracle.shown import of_memory, of_node
from tests.oracle.ways import Ways


class Others(Ways):
    """Waking, resonance and association."""

    async def wake(self, question: Question) -> None:
        """From a state, without words."""
        state = {"current_energy": 0.5, "current_emotions": {}, "query_mode": "find_what_i_was_doing"}
        asked = StateBasedRetrieval.model_validate({**self.whose(question), **state, "max_results_per_level": 100})
        stream = await retrieve_consciousness_context_from_state(asked, self.runtime.deps, self.now)
        found = [
            node for level in stream.levels.values() for node in (*level.vector_results, *level.graph_results)
        ]
        self.seen_then(question, found, ())

    async def resonate(self, question: Question) -> None:
        """By a signal of names."""
        names = self.names(question)
        asked = Resonate.model_validate({**self.whose(question), "nodes": names, "max_results_per_level": 100})
        echoes = await resonate(asked, self.runtime.deps, self.now)
        found = [one.memory for level in echoes.levels.values() for one in level]
        self.seen_then(question, found, names)

    async def associate(self, question: Question) -> None:
        """By words, without likeness."""
        names, tags = self.names(question), TAGS[: question.limit % 3]
        asked = TagWalk.model_validate({**self.whose(question), "query_text": " ".join([*names, *tags])})
        walked = await associate(asked, self.runtime.deps, self.now)
        found = [one.memory for one in (*walked.anchors, *walked.neighbours)]
        self.seen_then(question, found, names)

    def whose(self, question: Question) -> dict[str, Any]:
        """The citizen's own memories, at the moment of the question."""
        return {"citizen_id": self.citizen, "query_levels": ["N1"], **self.at_moment(question)}

    def seen_then(self, question: Question, found: Sequence[ConsciousnessNode], names: Sequence[str]) -> None:
        """All records found are seen at the moment, and all seen that bear one of the names are found."""
        seen = [one for one in self.oracle.seen(self.seen_by(question)) if one.ends is None]
        shown = {of_node(node) for node in found}
        missing = {of_memory(one) for one in seen if one.content["name"] in names} - shown
        beyond = shown - {of_memory(one) for one in seen}
        self.compare(f"{self.words_of(question)}", (missing, beyond), (set(), set()))
