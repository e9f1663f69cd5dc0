"""The program `substrate`: its global options, and one line and an exit code for every error.

A command's module is imported when the command is called, so that `--help` is fast.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import signal
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, get_type_hints

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup
from typer.main import get_command

from api import installed_version
from schemas.errors import Conflict, Incorrect, NotFound, SubstrateError, Unavailable

EXIT_FAULT: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOT_FOUND: Final = 4
EXIT_CONFLICT: Final = 5
EXIT_UNAVAILABLE: Final = 6
EXIT_DEFECT: Final = 70
EXIT_INTERRUPTED: Final = 130

_CODES: Final = (
    (NotFound, EXIT_NOT_FOUND),
    (Conflict, EXIT_CONFLICT),
    (Incorrect, EXIT_USAGE),
    (Unavailable, EXIT_UNAVAILABLE),
    (SubstrateError, EXIT_FAULT),
)

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "demo": ("cli.demo", "Load an example life and ask it three questions."),
    "ask": ("cli.ask", "Ask a citizen's memory, and see what comes to mind and why."),
    "remember": ("cli.writing", "Store one memory."),
    "hear": ("cli.ingest", "Append messages to a conversation, one by one or as the list grows."),
    "ingest": ("cli.ingest", "Store conversations, notes or commands from files."),
    "history": ("cli.history", "Show every record of one memory or link, as bars on both time axes."),
    "supersede": ("cli.writing", "Say that the world changed: new content for a memory or link from a moment on."),
    "correct": ("cli.writing", "Say that a memory or link was wrong: new content over the same time."),
    "retract": ("cli.writing", "Say that a memory or link does not hold, or no longer."),
    "resolve": ("cli.writing", "Set the state of the work of a memory or link."),
    "offers": ("faces.offers", "List what could be resolved or unblocked, and take it up or decline it."),
    "relate": ("cli.writing", "Store one link between two memories."),
    "undo": ("cli.writing", "Revert the last change of a memory or a link."),
    "validate": ("cli.upkeep", "Check whole graphs for broken, duplicate, empty or unset data, and repair it."),
    "upkeep": ("cli.upkeep", "Show the runs of upkeep, run its jobs now, or take a run back."),
    "wake": ("cli.ask", "Wake a citizen from its state alone, and see what comes to mind."),
    "appetite": (
        "faces.appetite",
        "Show what a citizen has to wake for, and with --intend ask what follows from it.",
    ),
    "replay": ("faces.replay", "Ask a stream again as of then: what did the citizen know when it asked?"),
    "webhooks": ("faces.webhooks", "Send what changes in a memory to an address, or list where it is sent."),
    "watch": ("cli.watch", "Print what changes in a memory as it changes."),
    "export": ("cli.backup", "Write whole memories as lines of JSON, with both time axes."),
    "import": ("cli.ingest", "Read an export into an empty memory."),
    "mirror": ("faces.mirror", "Write memories as Markdown files, and take the edits in them back."),
    "reembed": ("cli.upkeep", "Recompute all vectors with another embedding model, while the store is in use."),
    "backup": ("cli.backup", "Write a backup of the whole data directory while it is in use."),
    "restore": ("cli.backup", "Restore a backup into an empty data directory."),
    "recover": ("cli.backup", "Report what a damaged store has lost, and recover the rest."),
    "erase": ("cli.erase", "Remove a memory, an episode or a whole citizen for good."),
    "situation": (
        "faces.situation",
        "Show what an agent of a cycle begins with: state, stimuli, working memory, changes.",
    ),
    "resonate": ("cli.ask", "Send a wave signal into a citizen's memory, and see what resonates."),
    "context": ("faces.contexts", "Write an episode in one call, or list what agents noted with it."),
    "imagine": ("faces.imagination", "Say what came of an action before, or how right predictions were."),
    "associate": ("faces.association", "Find memories by words, then follow their tags and links; no vectors."),
    "identity": (
        "faces.identity",
        "Show who a citizen is, or was: the entities that most of its memories point to.",
    ),
    "energy": ("cli.citizens", "Show the energy of a citizen over time, and which streams changed it."),
    "rules": ("faces.rules", "List a citizen's rules with their record, or check an action against them."),
    "quarantine": (
        "faces.withholding",
        "Hide what came from a distrusted source, then release it or make it final.",
    ),
    "retention": ("faces.withholding", "Say how long memories are kept, or list and remove such policies."),
    "revaluate": ("faces.revaluation", "Show memories of low importance, and say anew how much they matter."),
    "feedback": ("faces.feedback", "Say which memories answered a question, list what was said, or take it back."),
    "citizens": ("cli.citizens", "List the citizens of whom something is stored."),
    "park": ("cli.citizens", "Move the memory of a citizen to a file until the next request."),
    "unpark": ("cli.citizens", "Bring the memory of a parked citizen back."),
    "share": ("faces.sharing", "Copy a memory with its links to N2 or N3, or bring its copy up to date."),
    "contest": ("faces.sharing", "Contest a shared memory of another, take that back, or list what is contested."),
    "collectives": ("cli.citizens", "List the collectives beside the default one."),
    "serve": ("cli.serve", "Serve the REST API."),
    "mcp": ("cli.mcp", "Serve agents by the Model Context Protocol, over standard input and output."),
    "connect": ("cli.connect", "Write the memory into the files of a host, such as Claude Code, or take it out."),
    "keys": ("cli.keys", "Make, list and revoke the keys of the service."),
    "doctor": ("cli.doctor", "Check the engine, the indexes, the models and the disk."),
}
"""The module that has each command, and its help line. A command of a feature whose face is not there is none."""


class CommandsOnDemand(TyperGroup):
    """Lists the commands without importing them; imports a command when it is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known, rest = super().resolve_command(ctx, args)
        if name is None or known is None:
            return name, known, rest
        return name, load_command(name), rest


def option(usage: str, says: str, default: Any = None, **bounds: Any) -> Any:
    """An attribute of a command that the user names by a `usage` like `--citizen -c ID`; `...` if required."""
    words = usage.split()
    names = [word for word in words if word.startswith("-")]
    metavar = " ".join(words[len(names) :]) or None
    return typer.Option(default, *names, metavar=metavar, help=says, **bounds)


def argument(metavar: str | None, says: str, default: Any = ...) -> Any:
    """An attribute of a command that the user gives by its place."""
    return typer.Argument(default, metavar=metavar, help=says)


class Command(ABC):
    """A command: its docstring is its help, each attribute with a hint an option or argument, and `run` does it.

    It is called by the `name` of its class: that of a part of a group has two words.
    """

    def __init_subclass__(cls, name: str = "") -> None:
        if name:
            _NAMED[name] = cls

    def __init__(self, ctx: typer.Context, **values: Any) -> None:
        self.ctx = ctx
        vars(self).update(values)

    @abstractmethod
    def run(self) -> None:
        """Do it. Raises the error that the user sees."""


_NAMED: Final[dict[str, type[Command]]] = {}


def load_command(name: str) -> Any:
    """Import the command, or group of commands, of this name."""
    app = typer.Typer(add_completion=False, no_args_is_help=name == "upkeep")
    # Modules make no garbage: it is not looked for while they load, nor among them later.
    gc.disable()
    try:
        import_module(f"api.{COMMANDS[name][0]}")
        for called, kind in _NAMED.items():
            first, _, part = called.partition(" ")
            if first == name:
                app.command(part or name, help=inspect.getdoc(kind))(_make_callback(kind))
        return get_command(app)
    finally:
        gc.freeze()
        gc.enable()


def _make_callback(kind: type[Command]) -> Callable[..., None]:
    """A function as typer takes it, whose parameters are the options of the command."""

    def call(**values: Any) -> None:
        kind(**values).run()

    parameters = [inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, hint in get_type_hints(kind).items():
        default = getattr(kind, name)
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)
        )
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {}
    return call


app = typer.Typer(
    cls=CommandsOnDemand,
    invoke_without_command=True,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"substrate {installed_version()}")
        raise typer.Exit


@app.callback()
def program(
    ctx: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory of the embedded engine; overrides SUBSTRATE_DATA."),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Memory for agents that outlive one context window: bitemporal, felt, in three graphs."""
    ctx.obj = data
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def _placeholder() -> None:
    """A placeholder for a command until it is called."""


for _name, (_module, _sentence) in COMMANDS.items():
    if Path(__file__).parents[1].joinpath(*_module.split(".")).with_suffix(".py").is_file():
        app.command(_name, help=_sentence)(_placeholder)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 when all went well, else with one line on stderr and a code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    gc.freeze()  # at the end Python looks for garbage twice, among all that the memory of the process holds
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        return app(arguments, prog_name="substrate", standalone_mode=False) or 0
    except typer.TyperException as error:
        _print_error(_format_usage(error))
        return error.exit_code
    except SubstrateError as error:
        print_fault(error)
        return exit_code(error)
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001  (users see a traceback only when they ask for it)
        _print_error(
            f"{type(error).__name__}: {error}. This is a defect; "
            "run with SUBSTRATE_LOG_LEVEL=debug for the traceback"
        )
        if _is_debugging():
            traceback.print_exc()
        return EXIT_DEFECT


def exit_code(error: SubstrateError) -> int:
    return next(code for kind, code in _CODES if isinstance(error, kind))


def print_fault(error: SubstrateError) -> None:
    """Print the error and its remedy to stderr in one line, or each fault where there are several."""
    detail = error.detail.rstrip()
    line = f"{detail.rstrip('.')}. {error.remedy}" if error.remedy else detail
    for each in error.faults if len(error.faults) > 1 else (line,):
        _print_error(each)


def _format_usage(error: typer.TyperException) -> str:
    path = getattr(getattr(error, "ctx", None), "command_path", "substrate")
    message = error.format_message()
    message = message if message.endswith(("?", ".")) else f"{message}."
    if "--data" in message and path != "substrate":
        return f"{message} Global options come first: `substrate --data DIR {path.split()[-1]} …`"
    return f"{message} See `{path} --help`"


def _print_error(line: str) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    visible = "".join(char if char.isprintable() else " " for char in line)
    console.print(Text.assemble(("error: ", "bold red"), (" ".join(visible.split()), "red")))


def _is_debugging() -> bool:
    with contextlib.suppress(Exception):
        return str(import_module("schemas.settings").ServerSettings().log_level).lower() == "debug"
    return False


def run_until_stopped[T](work: Coroutine[Any, Any, T]) -> T:
    """Run the work. SIGTERM, SIGHUP and Ctrl-C cancel it, so that the engine is closed properly.

    Raises KeyboardInterrupt after such a signal.
    """
    import asyncio  # noqa: PLC0415  (as long as all else that a text of help needs)

    # Not the result of the task: at the end of a run asyncio has its result described, which is long for a stream.
    answers: list[T] = []

    async def stop_on_signals() -> None:
        task = asyncio.current_task()
        if task is not None:
            for sign in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(sign, task.cancel)
        answers.append(await work)

    try:
        asyncio.run(stop_on_signals())
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error
    return answers[0]
