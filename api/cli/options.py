"""What commands on the store share: options, groups of options, and how they become a request and its answer.

An option that sets a field of a request has the name of the field. So each option stands once: what it is called
for faults, and how its text is read, follow from its declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, get_type_hints

from pydantic import BaseModel
from typer.models import ArgumentInfo, ParameterInfo

from api.cli import support
from api.cli.program import Command, argument, option
from api.runtime.runtime import open_runtime
from schemas.collectives import GraphRequest
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.settings import Settings
from schemas.temporal import ALL_KNOWN, Instant

if TYPE_CHECKING:
    from orchestration.dependencies import Deps

CITIZEN: Final = option("--citizen -c ID", "Whose memory.", ...)
ANY_CITIZEN: Final = option("--citizen -c ID", "Whose memory.")
"""For commands that work on N2 and N3 too, which need no citizen."""

LEVEL: Final = option("--level", "N1, N2 or N3.", "N1")
COLLECTIVE: Final = option("--collective ID", "A collective of N2 beside the default one.")
COLLECTIVES: Final = option("--collective ID", "A collective beside the default one; repeat for up to 4.")
LEVELS: Final = option("--level", "N1, N2 or N3; repeat for several.")
ANY_LEVELS: Final = option("--level", "N1, N2 or N3; repeat for several, leave out for all.")

AS_OF: Final = option("--as-of TIME", "What was true then; a day or a time.")
KNOWN_AT: Final = option(
    "--known-at TIME", "As it was known then; `now`: as known now. Default: the time of --as-of."
)

NODE_TYPE: Final = option("--type", "Memory, Decision, Person, …")
STATE: Final = option("--state", "resolved, in_progress or blocked.")
GOAL: Final = option("--goal", "The goal that it serves.")
RULE: Final = option("--rule", "What to do from now on.")
EMOTION: Final = option("--emotion NAME=X", "joy=0.7; repeat for several.")
TAG: Final = option("--tag", "Repeat for several.")
VALID_AT: Final = option("--valid-at TIME", "When it began to be true. Default: now.")

FILTER: Final = option(
    "--filter NAME=VALUE",
    "Only memories with this: node_types, tags, buckets, speakers, episodes, sources, "
    "valid_from or valid_to; repeat.",
)
RESULTS_OF_A_QUERY: Final = option("--limit", "Results of each query, 1 to 100.", 20)
RERANK: Final = option("--rerank NAME", "Reorder the best memories: mmr, rrf, llm or custom.")
MAX_TOKENS: Final = option("--max-tokens", "Leave out memories that do not fit.")
PARTS: Final = option(
    "--part NAME", "With --json: only this section, such as activation_tiers or energy; repeat for several."
)
REFERENCES: Final = option(
    "--references", "With --json: each memory and each link once; all else refers to them.", False
)
PLURAL: Final = option(
    "--plural", "Add recent, older and random memories, and spread the answer over weeks.", False
)
EXPLAIN: Final = option("--explain", "Show each term of each score.", False)
CURSOR: Final = option("--cursor", "The `next` of the page before.")

ANSWER_AS_JSON: Final = option("--json", "Print the whole answer as JSON.", False)
STREAM_AS_JSON: Final = option("--json", "Print the whole stream as JSON.", False)
GRAPHML: Final = option("--graphml", "Print its traversal graph alone, for Gephi and yEd.", False)
NODE_LINK: Final = option("--node-link", "Print its traversal graph alone, for NetworkX.", False)
RECEIPT_AS_JSON: Final = option("--json", "Print the receipt as JSON.", False)
AS_JSON: Final = option("--json", "Print it as JSON.", False)

EXAMPLES: Final = {"NAME=X": "joy=0.7", "CHANNEL=X": "nodes=0.5"}
"""An option of numbers by names, for error texts."""


class MemoryQuestion(Protocol):
    """A question to a citizen's memory."""

    @property
    def citizen_id(self) -> str: ...

    @property
    def query_levels(self) -> Collection[Level]: ...


class StoreCommand(Command):
    """A command on the store. `also_called`: a field that follows from an option, and what a user calls that."""

    as_json = False
    also_called = ("", "")

    @property
    def settings(self) -> Settings:
        """The settings of the environment, with the global options applied."""
        return support.read_settings(self.ctx)

    def fields(self) -> dict[str, Any]:
        """The values of what was given, by the names of the fields. Raises InvalidRequest for another form."""
        fields = {}
        for name, declared in self.declarations().items():
            value = _read(name, declared, getattr(self, name))
            if value is not None and not (value is False and declared.default is False):
                fields[name] = value
        if "level" in fields:
            fields.update(name_graph(fields["level"], fields.get("collective")))
        return fields

    def request[T](self, make: type[T], **more: Any) -> T:
        """The request of what was given, and of `more`. Raises InvalidRequest, which names the options."""
        known: Mapping[str, Any] = getattr(make, "model_fields", {})
        fields = {name: value for name, value in {**self.fields(), **more}.items() if name in known}
        return self.validate(make, fields)

    def validate[T](self, make: Callable[..., T], fields: Mapping[str, Any]) -> T:
        """`make` of the fields that are not None. Raises InvalidRequest, which names the options."""
        known: Mapping[str, Any] = getattr(make, "model_fields", {})
        labels = {name: label for name, label in self.labels().items() if name in known or name in fields}
        return support.validate(make, support.drop_unset(fields), labels)

    @classmethod
    def declarations(cls) -> dict[str, ParameterInfo]:
        """The declaration of each option of the command, by its name; those that it inherits come first."""
        return {name: getattr(cls, name) for name in get_type_hints(cls)}

    @classmethod
    def labels(cls) -> dict[str, str]:
        """What a user calls each field."""
        labels = {name: _label(name, declared) for name, declared in cls.declarations().items()}
        return labels | dict([cls.also_called])

    def answer[A](
        self, flow: Callable[..., Awaitable[A]], *given: Any, of: GraphRequest | str | None = None, **named: Any
    ) -> A:
        """What a flow answers in the open store: it gets what is given, with `deps`, `now`, `runtime` if need be.

        Raises NotFound where nothing is stored of the citizen, or in the graph, that the answer is `of`.
        """

        async def work(settings: Settings) -> A:
            async with open_runtime(settings, support.report_loading()) as runtime:
                if of is not None:
                    key, citizen = (Level.N1, of) if isinstance(of, str) else (of.graph_key, of.citizen_id)
                    await support.find_graph(runtime, key, citizen)
                has = {"deps": runtime.deps, "now": await runtime.moment(), "runtime": runtime}
                takes = inspect.signature(flow).parameters
                return await flow(*given, **named, **{name: has[name] for name in has if name in takes})

        return support.run(work(self.settings))

    def ask[Q: MemoryQuestion, A](self, flow: Callable[[Q, Deps, Instant], Awaitable[A]], question: Q) -> A:
        """What a flow answers to a question. Raises NotFound when the citizen is unknown."""
        of = question.citizen_id if Level.N1 in question.query_levels else None
        return self.answer(flow, question, of=of)

    def show[A: BaseModel](self, answer: A, printer: Callable[[A, support.Sheet], None]) -> None:
        """Print an answer as JSON where that is wanted, else by `printer`."""
        if self.as_json:
            support.write_json(answer.model_dump_json())
        else:
            printer(answer, support.output())


class OfGraph(StoreCommand):
    """Whose memory, and which of its graphs."""

    citizen_id: str | None = ANY_CITIZEN
    level: str = LEVEL
    collective: str | None = COLLECTIVE


class OfRecord(OfGraph):
    """Which memory or link."""

    id: str = argument("ID", "The id of a memory, or `source|TYPE|target` of a link.")
    link: bool = option("--link", "ID is a link's own id.", False)

    @property
    def is_link(self) -> bool:
        """True when the id is that of a link: `--link` says so, or it is `source|TYPE|target`."""
        return self.link or self.id.count("|") == 2


class OfContent(StoreCommand):
    """The content of a memory."""

    energy: float | None = option("--energy", "0 to 1.")
    confidence: float | None = option("--confidence", "0 to 1.")
    emotion_vector: list[str] | None = EMOTION
    goal: str | None = GOAL
    resolution_state: str | None = STATE
    importance: float | None = option("--importance", "How much it matters in the long run, 0 to 1.")
    rule: str | None = RULE
    severity: str | None = option("--severity block|warn|note", "What breaking the rule leads to. Default: warn.")
    tags: list[str] | None = TAG


def name_graph(level: str, collective: str | None) -> dict[str, Any]:
    """The fields that name a graph; a collective is on N2 where no other level than the default is named."""
    if collective is None:
        return {"level": level.upper()}
    return {"level": "N2" if level.upper() == "N1" else level.upper(), "collective": collective}


def _label(name: str, declared: ParameterInfo) -> str:
    """What a user calls an option in the documents: its first long name, or the argument's in capitals."""
    if isinstance(declared, ArgumentInfo):
        return (declared.metavar or name).upper().strip("[]")
    return next(word for word in declared.param_decls or () if word.startswith("--"))


def _read(name: str, declared: ParameterInfo, value: Any) -> Any:
    """The value of an option as its field takes it; None where it was not given."""
    if value is None or value == []:
        return None
    match name:
        case "known_at" if value.strip().lower() == "now":
            return ALL_KNOWN
        case "query_levels" | "levels":
            return [level.upper() for level in value]
        case "filters":
            return _parse_filters(value)
        case "plurality":
            return {} if value else None
    if declared.metavar == "TIME":
        return support.parse_time_option(_label(name, declared), value)
    if declared.metavar in EXAMPLES:
        return support.parse_numbers(_label(name, declared), value, EXAMPLES[declared.metavar]) or None
    return value


def _parse_filters(given: list[str]) -> dict[str, Any]:
    """The filters of `--filter NAME=VALUE`. Raises InvalidRequest for another form, or no time."""
    filters: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        name = name.strip()
        if not (sign and name and value.strip()):
            raise InvalidRequest(
                f"--filter: {text!r} is not NAME=VALUE", remedy="Write it like `--filter speakers=Anna`."
            )
        if name in ("valid_from", "valid_to"):
            filters[name] = support.parse_time_option(f"--filter {name}", value)
        else:
            filters.setdefault(name, []).append(value)
    return filters
