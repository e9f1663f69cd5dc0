"""Makes the route of an operation: its parameters, its permission and its documents come from the declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Annotated, Any, Final, get_origin

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel

from api.dependencies import Now, OpenDeps
from api.request_parsing.bodies import StrictRoute
from api.request_parsing.reading import add_notes
from api.security.permissions import Caller, CurrentCaller, Endpoint, asked_of, authorize, declare, may_override
from schemas.base import Request
from schemas.commands import Writer, WriteReceipt
from schemas.memory import GraphKey
from schemas.operation import PUBLIC, May, Need, Operation, Says


async def _readable(caller: CurrentCaller) -> Callable[[GraphKey], bool]:
    return caller.may_read_graph


async def _overridable(caller: CurrentCaller) -> Callable[[str], bool]:
    return partial(may_override, caller)


FROM_SERVICE: Final = {
    "deps": OpenDeps,
    "now": Now,
    "may_read": Annotated[Callable[[GraphKey], bool], Depends(_readable)],
    "may_override": Annotated[Callable[[str], bool], Depends(_overridable)],
}
"""Parameters of `run` that no caller sends."""


def router(operations: Iterable[Operation]) -> APIRouter:
    """The routes of the operations, in their order."""
    made = APIRouter(route_class=StrictRoute)
    for operation in operations:
        endpoint = _endpoint(operation)
        gives = operation.gives or inspect.signature(endpoint, eval_str=True).return_annotation
        made.add_api_route(
            operation.path,
            endpoint,
            methods=[operation.method],
            operation_id=operation.name,
            summary=operation.summary,
            description=operation.description,
            tags=[operation.tag],
            **({"response_class": operation.sent} if operation.sent else {"response_model": gives}),
            status_code=operation.status,
            responses=dict(operation.responses or {}),
        )
    return made


def _endpoint(operation: Operation) -> Endpoint:
    """`run` with the signature that the framework reads, behind the check of the caller."""
    run, may = operation.run, operation.may
    signature = inspect.signature(run, eval_str=True)
    if may is PUBLIC:
        return declare(run, may)
    writes = "writer" in signature.parameters

    @wraps(run)
    async def endpoint(*, caller_: Caller, response_: Response, **arguments: Any) -> Any:
        arguments = authorize(may, caller_, arguments)
        if writes:
            answer = _noted(await run(**arguments, writer=_writer(may, caller_, arguments)), caller_)
        else:
            answer = await run(**arguments)
        if operation.notes:
            add_notes(response_, asked_of(arguments).request, answer)
        # A value is sent as its JSON, which bytes are already.
        body = answer.model_dump_json() if isinstance(answer, BaseModel) else answer
        if not isinstance(body, bytes | str):
            return answer
        return Response(body, operation.status, dict(response_.headers), media_type="application/json")

    parameters = [_own("response_", Response), _own("caller_", CurrentCaller)]
    parameters += [_sent_parameter(each, operation) for each in signature.parameters.values() if _is_sent(each)]
    endpoint.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return declare(endpoint, may)


def _own(name: str, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def _is_sent(parameter: inspect.Parameter) -> bool:
    """Whether it comes from the request or the service: an option of `run` does not."""
    is_option = (
        parameter.default is not inspect.Parameter.empty and get_origin(parameter.annotation) is not Annotated
    )
    return parameter.name in FROM_SERVICE or not (is_option or parameter.name == "writer")


def _sent_parameter(parameter: inspect.Parameter, operation: Operation) -> inspect.Parameter:
    """The parameter as the framework is to read it: by keyword; a value of a GET or a DELETE from the query."""
    kind = FROM_SERVICE.get(parameter.name, parameter.annotation)
    if operation.method in ("GET", "DELETE") and isinstance(kind, type) and issubclass(kind, Request):
        kind = Annotated[kind, Query()]
    for said in getattr(kind, "__metadata__", ()):
        if isinstance(said, Says):
            kind = Annotated[kind, Path(description=said.text)]
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def _writer(may: May, caller: Caller, arguments: dict[str, Any]) -> Writer:
    """The caller as the writer where its last need is; with the scope `upkeep`, the operator's, a steward."""
    place = Need("write", None)
    for need in may.needs(asked_of(arguments)):
        if isinstance(need, Need):
            place = need
    writer = caller.writer_of(place.graph, place.citizen_id)
    return writer._replace(steward=True) if may.scope == "upkeep" else writer


def _noted(answer: Any, caller: Caller) -> Any:
    """The answer; the audit log shows its command. Raises the error of a refusal."""
    if isinstance(answer, WriteReceipt) and answer.status == "refused":
        raise answer.refusal()
    command_id = getattr(answer, "command_id", None)
    if command_id is not None:
        caller.commands.append(command_id)
    return answer
