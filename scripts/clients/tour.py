"""Remember, retrieve with emotions and wake, through the client of openapi-python-client."""

from __future__ import annotations

import sys

from substrate_api.api.memories import get_memory, remember
from substrate_api.api.retrieval import retrieve, wake
from substrate_api.client import AuthenticatedClient
from substrate_api.models.consciousness_node import ConsciousnessNode
from substrate_api.models.consciousness_node_emotion_vector_type_0 import ConsciousnessNodeEmotionVectorType0
from substrate_api.models.consciousness_stream import ConsciousnessStream
from substrate_api.models.problem import Problem
from substrate_api.models.remember import Remember
from substrate_api.models.remember_emotion_vector_type_0 import RememberEmotionVectorType0
from substrate_api.models.resolution_state import ResolutionState
from substrate_api.models.retrieval_intention import RetrievalIntention
from substrate_api.models.retrieval_intention_current_emotions_type_0 import (
    RetrievalIntentionCurrentEmotionsType0,
)
from substrate_api.models.state_based_retrieval import StateBasedRetrieval
from substrate_api.models.state_based_retrieval_current_emotions_type_0 import (
    StateBasedRetrievalCurrentEmotionsType0,
)
from substrate_api.models.write_receipt import WriteReceipt


def tour(url: str, key: str) -> str:
    """What was done, in one line. Raises AssertionError when an answer is not what was asked for."""
    client = AuthenticatedClient(base_url=url, token=key)
    felt = RememberEmotionVectorType0.from_dict({"fear": 0.8, "wonder": 0.4})
    memory = Remember(
        name="The lighthouse was dark",
        citizen_id="py",
        goal="Keep the light burning",
        resolution_state=ResolutionState.BLOCKED,
        emotion_vector=felt,
    )
    receipt = remember.sync(client=client, body=memory)
    assert isinstance(receipt, WriteReceipt)
    assert receipt.id is not None
    assert receipt.level is not None

    read = get_memory.sync(receipt.level, receipt.id, client=client, citizen_id="py")
    assert isinstance(read, ConsciousnessNode)
    assert isinstance(read.emotion_vector, ConsciousnessNodeEmotionVectorType0)
    assert read.emotion_vector["fear"] == 0.8

    afraid = RetrievalIntentionCurrentEmotionsType0.from_dict({"fear": 0.9})
    question = RetrievalIntention(citizen_id="py", query_text="the lighthouse", current_emotions=afraid)
    state = StateBasedRetrieval(
        citizen_id="py",
        current_energy=0.9,
        current_emotions=StateBasedRetrievalCurrentEmotionsType0.from_dict({"fear": 0.9}),
    )
    for stream in (retrieve.sync(client=client, body=question), wake.sync(client=client, body=state)):
        assert isinstance(stream, ConsciousnessStream)
        levels = stream.levels.additional_properties.values()
        found = [node for level in levels for node in (*level.vector_results, *level.graph_results)]
        assert receipt.id in [node.node_id for node in found]

    refused = retrieve.sync(client=client, body=RetrievalIntention(citizen_id="py", query_text=" "))
    assert isinstance(refused, Problem)
    assert refused.type_ == "/problems/invalid-request"
    return f"python: remembered {receipt.id}, retrieved, woke, read a problem"


if __name__ == "__main__":
    sys.stdout.write(tour(*sys.argv[1:]) + "\n")
