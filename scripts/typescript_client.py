"""Write what the TypeScript client has from the service: its operations, and the types of the document.

.venv/bin/python -m scripts.typescript_client            # the table alone
.venv/bin/python -m scripts.typescript_client --types    # the types too; needs `npm ci` in clients/typescript
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from api.routes.operations import OPERATIONS
from scripts.client import request_of
from scripts.reference.document import openapi

CLIENT: Final = Path(__file__).parents[1] / "clients/typescript"
TABLE: Final = CLIENT / "src/operations.js"
TYPES: Final = CLIENT / "src/api.d.ts"
KEY: Final = "idempotency-key"
HEAD: Final = """\
// Written by `python -m scripts.typescript_client` from the operations of the service.
// Each operation: its method, its path, whether a request of which the answer was lost may be sent again (a name:
// unless that field is set), and where its id stands, by which it is applied once.

/** @type {Record<string, readonly [string, string, boolean | string, string | null]>} */
export const OPERATIONS = {
"""


def rows() -> Iterator[tuple[str, tuple[str, str, bool | str, str | None]]]:
    """Each operation of the document that answers with JSON or a file: its name and its row."""
    declared = {operation.address: operation for operation in OPERATIONS}
    for path, methods in openapi()["paths"].items():
        for method, said in methods.items():
            operation = declared.get(f"{method.upper()} {path}")
            names = {parameter["name"] for parameter in said.get("parameters", ())}
            if operation is None:
                key = KEY if KEY in names else None
                yield said["operationId"], (method.upper(), path, method == "get" or key is not None, key)
                continue
            model = request_of(operation)
            has_id = model is not None and "command_id" in model.model_fields
            place = KEY if KEY in names else operation.call.new_id or ("command_id" if has_id else None)
            once = operation.call.once
            yield said["operationId"], (method.upper(), path, once if isinstance(once, str) else not once, place)


def table() -> str:
    """The text of the table."""
    lines = [f"  {name}: {json.dumps(row)},\n" for name, row in rows()]
    return f"{HEAD}{''.join(lines)}}};\n"


def types(document: dict[str, Any]) -> str:
    """The types of the document, written by openapi-typescript. Raises CalledProcessError where it fails."""
    with TemporaryDirectory() as made:
        source, target = Path(made) / "openapi.json", Path(made) / "api.d.ts"
        source.write_text(json.dumps(document), "utf-8")
        words = ("npm", "run", "--silent", "types", "--", str(source), "-o", str(target))
        subprocess.run(words, cwd=CLIENT, check=True, stdout=subprocess.DEVNULL)
        return target.read_text("utf-8")


def main() -> None:
    """Write the table, and with `--types` the types."""
    TABLE.write_text(table(), "utf-8")
    if "--types" in sys.argv[1:]:
        TYPES.write_text(types(openapi()), "utf-8")


if __name__ == "__main__":
    main()
