"""The loop of an agent, with the engine in the program: message in, recall, reply, message in."""

from tempfile import TemporaryDirectory

from api.client import Substrate

SAID = [
    "I am Mira, I teach biology in Bergen. My brother Tom comes on Friday.",
    "Tom drinks his tea with milk, please remember that.",
    "What should I put on the table for my brother on Friday?",
]


def reply(question: str, remembered: str) -> str:
    """Here your language model answers, with what is remembered in its prompt."""
    return f"I looked at {remembered.count('- [')} memories for: {question}"


with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    for text in SAID:
        memory.hear("chat-1", "user", text, citizen_id="mira")  # message in
        stream = memory.retrieve(citizen_id="mira", query_text=text, form="compact")  # recall
        answer = reply(text, stream.text)
        memory.hear("chat-1", "assistant", answer, citizen_id="mira")  # reply, and message in
    print(stream.text)

    whole = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": "You said that before."}]
    report = memory.hear("chat-2", messages=whole, citizen_id="mira")
    again = memory.hear("chat-2", messages=[*whole, {"role": "user", "content": "Thanks!"}], citizen_id="mira")
    print(report.stored, "stored, then", again.stored, "more of a list of", again.stored + again.duplicates)
