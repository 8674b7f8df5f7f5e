"""A small MCP server on the standard library alone, which starts only with the right secret.

`--needs NAME ENDING` ends it with code 1 when the variable NAME does not end so.
"""

import json
import os
import sys
from typing import Any

TOOL = {
    "name": "read_note",
    "description": "Read the note of a person.",
    "inputSchema": {"type": "object", "properties": {"person": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            person = params.get("arguments", {}).get("person", "nobody")
            return {"content": [{"type": "text", "text": f"a note for {person}"}]}
        case _:
            return None


def main() -> None:
    if "--needs" in sys.argv:
        at = sys.argv.index("--needs")
        name, ending = sys.argv[at + 1 : at + 3]
        if not os.environ.get(name, "").endswith(ending):
            sys.exit(f"{name} is not the right secret")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        result = answer(message["method"], message.get("params") or {})
        if result is None:
            reply["error"] = {"code": -32601, "message": "no such method"}
        else:
            reply["result"] = result
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
