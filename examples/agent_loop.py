"""The loop of an agent, with the engine in the program: message in, recall, reply, message in."""

from tempfile import TemporaryDirectory

from api.client import Substrate

SAID = [
    "I am Mira, I teach biology in Bergen. My brother Tom comes on Friday.",
    "Tom drinks his tea with milk, please remember that.",
    "How does Tom drink his tea?",
    "How does Tom drink his tea?",
    "I moved to Oslo last week. Where do I live?",
    "What is my bank account number?",
]


def reply(memories: list[str]) -> str:
    """Here your language model answers, with what is remembered in its prompt."""
    return f"You told me: {memories[0]}" if memories else "I am not sure."


with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    for text in SAID:
        memory.hear("chat-1", "user", text, citizen_id="mira")  # message in
        stream = memory.retrieve(citizen_id="mira", query_text=text, conversation="chat-1")  # recall
        known = [node.description for node in stream.activation_tiers.focus if node.speaker]
        memory.hear("chat-1", "assistant", reply(known), citizen_id="mira")  # reply, and message in
        print(f"{text}\n  {stream.answer_confidence:.2f} {known[:1]}")

    asked = memory.retrieve(citizen_id="mira", query_text="What did I ask about tea?", conversation="chat-1")
    print("asked before:", [node.description for node in asked.activation_tiers.focus if node.step == "Question"])

    whole = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": "You said that before."}]
    report = memory.hear("chat-2", messages=whole, citizen_id="mira")
    again = memory.hear("chat-2", messages=[*whole, {"role": "user", "content": "Thanks!"}], citizen_id="mira")
    print(report.stored, "stored, then", again.stored, "more of a list of", again.stored + again.duplicates)
