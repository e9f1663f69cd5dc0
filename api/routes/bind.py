"""Makes the route of an operation: its parameters, its permission and its documents come from the declaration."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import wraps
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel

from api.dependencies import Now, OpenDeps
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import Caller, CurrentCaller, Endpoint, Permission, asked_of, authorize
from schemas.commands import Writer, WriteReceipt
from schemas.operation import May, Need, Operation

FROM_SERVICE: Final = {"deps": OpenDeps, "now": Now}
"""Parameters of `run` that no caller sends."""


def router(operations: Iterable[Operation]) -> APIRouter:
    """The routes of the operations, in their order."""
    made = APIRouter(route_class=StrictRoute)
    for operation in operations:
        endpoint = _endpoint(operation)
        made.add_api_route(
            operation.path,
            endpoint,
            methods=[operation.method],
            operation_id=operation.name,
            summary=operation.summary,
            description=operation.description,
            tags=[operation.tag],
            response_model=operation.gives or inspect.signature(endpoint).return_annotation,
            status_code=operation.status,
            responses=None if operation.responses is None else dict(operation.responses),
        )
    return made


def _endpoint(operation: Operation) -> Endpoint:
    """`run` with the signature that the framework reads, behind the check of the caller."""
    run, may = operation.run, operation.may
    signature = inspect.signature(run, eval_str=True)
    sent = [_sent(parameter, operation.method) for parameter in signature.parameters.values()]
    caller = inspect.Parameter("caller_", inspect.Parameter.KEYWORD_ONLY, annotation=CurrentCaller)
    writes = "writer" in signature.parameters

    @wraps(run)
    async def endpoint(*, caller_: Caller, **arguments: Any) -> Any:
        arguments = authorize(may, caller_, arguments)
        if not writes:
            return await run(**arguments)
        answer = await run(**arguments, writer=_writer(may, caller_, arguments))
        return _noted(answer, caller_)

    parameters = [parameter for parameter in sent if parameter.name != "writer"]
    endpoint.__signature__ = signature.replace(parameters=[*parameters, caller])  # type: ignore[attr-defined]
    endpoint.__permission__ = Permission.of(may)  # type: ignore[attr-defined]
    return endpoint


def _sent(parameter: inspect.Parameter, method: str) -> inspect.Parameter:
    """The parameter as the framework is to read it: by keyword; a value of a GET or a DELETE from the query."""
    kind = FROM_SERVICE.get(parameter.name, parameter.annotation)
    if method in ("GET", "DELETE") and isinstance(kind, type) and issubclass(kind, BaseModel):
        kind = Annotated[kind, Query()]
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def _writer(may: May, caller: Caller, arguments: dict[str, Any]) -> Writer:
    """The caller as the writer where its last need is; with the scope `upkeep`, the operator's, a steward."""
    place = [need for need in may.needs(asked_of(arguments)) if isinstance(need, Need)][-1]
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
