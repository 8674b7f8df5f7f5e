"""A small MCP server on the standard library alone, so that it starts at once and can misbehave.

It speaks the handshake era, or 2026-07-28 with `--modern`. Options make it bad.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

Message = dict[str, Any]
OBJECT: Message = {"type": "object", "properties": {}}
MODERN = "2026-07-28"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for flag in (
        "modern",
        "mute",
        "deaf-to-discover",
        "dies-of-discover",
        "exit-in-handshake",
        "storm",
        "malformed",
        "stubborn",
        "looping-pages",
        "strange-list",
        "strange-handshake",
        "asks-roots-first",
    ):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--exit", type=int)
    parser.add_argument("--noise", type=int, default=0)
    parser.add_argument("--tools", type=int, default=0)
    parser.add_argument("--page", type=int, default=0)
    parser.add_argument("--starts", default="")
    return parser.parse_args()


class Server:
    """Reads a line, writes lines."""

    def __init__(self) -> None:
        self.options = options()
        found = [name.removeprefix("tool_") for name in dir(self) if name.startswith("tool_")]
        self.names: list[str] = found
        self.cancelled: list[Any] = []
        self.hanging: list[Any] = []
        self.asked: dict[str, Any] = {}
        self.listen: Any = None
        self.first_roots: Any = None
        """The answer to the question of `--asks-roots-first`."""
        self.listings: list[float] = []
        self.version = 0
        self.lock = threading.Lock()

    def send(self, **message: Any) -> None:
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def answer(self, identity: Any, result: Any) -> None:
        if self.options.modern and isinstance(result, dict):
            whole: Message = {"resultType": "complete", **result}
            name = {"io.modelcontextprotocol/serverInfo": {"name": "plain", "version": "1"}}
            whole["_meta"] = {**whole.get("_meta", {}), **name}
            self.send(id=identity, result=whole)
        else:
            self.send(id=identity, result=result)

    def refuse(self, identity: Any, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message}
        self.send(id=identity, error=error if data is None else {**error, "data": data})

    def text(self, identity: Any, text: str) -> None:
        self.answer(identity, {"content": [{"type": "text", "text": text}]})

    def tools(self) -> list[Any]:
        found: list[Any] = [{"name": name, "inputSchema": OBJECT} for name in self.names]
        found += [
            {"name": f"t{n}", "description": f"version {self.version}", "inputSchema": OBJECT}
            for n in range(self.options.tools)
        ]
        if self.options.malformed:
            deep: Any = {}
            for _ in range(150):
                deep = {"x": deep}
            found += [
                "no object",
                {"inputSchema": OBJECT},
                {"name": "schemaless"},
                {"name": "listed", "inputSchema": []},
                {"name": "echo", "inputSchema": OBJECT},
                {"name": "deep", "inputSchema": deep},
                {"name": "typeless", "inputSchema": {"properties": {"a": {}}}, "odd": 1},
            ]
        return found

    def list(self, identity: Any, params: Message) -> None:
        self.listings.append(time.monotonic())
        if self.options.storm:
            self.version += 1
        if self.options.strange_list:
            self.answer(identity, {"tools": "none"})
            return
        tools = self.tools()
        size = self.options.page or len(tools)
        start = int(params.get("cursor", 0))
        page: dict[str, Any] = {"tools": tools[start : start + size]}
        if self.options.looping_pages:
            page["nextCursor"] = "0"
        elif start + size < len(tools):
            page["nextCursor"] = str(start + size)
        self.answer(identity, page)

    def changed(self, method: str = "notifications/tools/list_changed", **params: Any) -> None:
        if self.options.modern:
            if self.listen is None:
                return
            params["_meta"] = {"io.modelcontextprotocol/subscriptionId": self.listen}
        self.send(method=method, params=params)

    def call(self, identity: Any, params: Message) -> None:
        tool = getattr(self, f"tool_{params['name']}", None)
        if tool is None:
            self.refuse(identity, -32602, f"Unknown tool: {params['name']}")
        else:
            given: Message = params.get("arguments") or {}
            meta: Message = params.get("_meta") or {}
            tool(identity, given, {**params, "_meta": meta})

    def tool_echo(self, identity: Any, given: Message, _: Message) -> None:
        self.answer(identity, {"content": [], "structuredContent": given})

    def tool_result(self, identity: Any, given: Message, _: Message) -> None:
        self.answer(identity, given["result"])

    def tool_environment(self, identity: Any, _: Message, __: Message) -> None:
        self.answer(identity, {"content": [], "structuredContent": dict(os.environ)})

    def tool_die(self, identity: Any, _: Message, __: Message) -> None:
        del identity
        sys.stderr.write("I am dying\n")
        sys.stderr.flush()
        os._exit(9)

    def tool_big(self, identity: Any, given: Message, _: Message) -> None:
        self.text(identity, "x" * given["bytes"])

    def tool_hang(self, identity: Any, _: Message, __: Message) -> None:
        self.hanging.append(identity)
        self.send(method="notifications/message", params={"level": "info", "data": "hangs"})

    def tool_cancelled(self, identity: Any, _: Message, __: Message) -> None:
        self.text(identity, json.dumps([each in self.cancelled for each in self.hanging]))

    def tool_listings(self, identity: Any, _: Message, __: Message) -> None:
        self.text(identity, str(len(self.listings)))

    def tool_progress(self, identity: Any, _: Message, params: Message) -> None:
        token = params["_meta"].get("progressToken")
        for step in (1, 2, 3):
            progress = {"progressToken": token, "progress": step, "total": 3}
            whole = {**progress, "message": f"step {step}"}
            self.send(method="notifications/progress", params=whole)
        self.text(identity, "done" if token is not None else "no token")

    def tool_log(self, identity: Any, given: Message, _: Message) -> None:
        line = {"level": "info", "data": "a line", **given}
        self.send(method="notifications/message", params=line)
        self.text(identity, "logged")

    def tool_grow(self, identity: Any, _: Message, __: Message) -> None:
        self.names.append(f"new{len(self.names)}")
        self.changed()
        self.text(identity, "grown")

    def tool_touch(self, identity: Any, _: Message, __: Message) -> None:
        self.changed("notifications/prompts/list_changed")
        self.changed("notifications/resources/updated", uri="file:///a")
        self.text(identity, "touched")

    def tool_refuse(self, identity: Any, _: Message, __: Message) -> None:
        self.refuse(identity, -32042, "No, thanks.", {"why": [1, None]})

    def tool_meta(self, identity: Any, _: Message, params: Message) -> None:
        self.answer(identity, {"content": [], "structuredContent": params["_meta"]})

    def tool_ask(self, identity: Any, given: Message, params: Message) -> None:
        form = {"message": "Which city?", "requestedSchema": OBJECT, "odd": 1}
        asked = {"mode": "url", "elicitationId": "e", **form} if "url" in given else form
        more = {"url": given["url"]} if "url" in given else {}
        self.ask(identity, params, "elicitation/create", {**asked, **more})

    def tool_sample(self, identity: Any, _: Message, params: Message) -> None:
        wanted: Message = {"messages": [], "maxTokens": 5}
        self.ask(identity, params, "sampling/createMessage", wanted)

    def tool_roots(self, identity: Any, _: Message, params: Message) -> None:
        self.ask(identity, params, "roots/list", {})

    def tool_first_roots(self, identity: Any, _: Message, __: Message) -> None:
        self.answer(identity, {"content": [], "structuredContent": self.first_roots})

    def ask(self, identity: Any, params: Message, method: str, asked: Message) -> None:
        if not self.options.modern:
            self.asked[f"q{identity}"] = identity
            self.send(id=f"q{identity}", method=method, params=asked)
            return
        rounds = int(params.get("requestState", "0"))
        given: Message = params.get("arguments") or {}
        if rounds < given.get("rounds", 1):
            question = {"inputRequests": {"k": {"method": method, "params": asked}}}
            state: Message = {"resultType": "input_required", "requestState": str(rounds + 1)}
            # Only the first round has questions; the others just want to be asked again.
            self.send(id=identity, result=state if rounds else {**state, **question})
            return
        answers = {"result": params.get("inputResponses")}
        self.answer(identity, {"content": [], "structuredContent": answers})

    def listening(self, identity: Any, params: Message) -> None:
        self.listen = identity
        self.send(
            method="notifications/subscriptions/acknowledged",
            params={
                "notifications": params["notifications"],
                "_meta": {"io.modelcontextprotocol/subscriptionId": identity},
            },
        )

    def handshake(self, identity: Any, params: Message) -> None:
        if self.options.exit_in_handshake:
            sys.stderr.write("cannot read my key\n")
            sys.stderr.flush()
            os._exit(3)
        result: dict[str, Any] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "logging": {}, "odd": {"a": 1}},
            "serverInfo": {"name": "plain", "version": "1"},
            "instructions": "Be plain.",
        }
        if self.options.strange_handshake:
            result |= {"serverInfo": 5, "capabilities": {"tools": True}, "instructions": None}
        self.answer(identity, result)

    def discover(self, identity: Any) -> None:
        if self.options.dies_of_discover:
            os._exit(1)
        if self.options.deaf_to_discover:
            return
        if not self.options.modern:
            self.refuse(identity, -32601, "Method not found")
            return
        self.answer(
            identity,
            {
                "supportedVersions": [MODERN],
                "capabilities": {
                    "tools": {"listChanged": True},
                    "prompts": {"listChanged": True},
                    "resources": {"subscribe": True},
                },
                "instructions": "Be modern.",
                "ttlMs": 0,
                "cacheScope": "private",
            },
        )

    def request(self, identity: Any, method: str, params: Message) -> None:
        match method:
            case "server/discover":
                self.discover(identity)
            case "initialize":
                self.handshake(identity, params)
            case "tools/list":
                self.list(identity, params)
            case "tools/call":
                self.call(identity, params)
            case "subscriptions/listen":
                self.listening(identity, params)
            case "resources/read" | "resources/subscribe":
                self.answer(identity, {"asked": params, "odd": 1})
            case _:
                self.refuse(identity, -32601, "Method not found")

    def take(self, message: Any) -> None:
        if "method" not in message:
            waiting = self.asked.pop(message.get("id"), None)
            given = {"result": message.get("result"), "error": message.get("error")}
            if message.get("id") == "first":
                self.first_roots = given
                return
            self.answer(waiting, {"content": [], "structuredContent": given})
        elif "id" in message:
            self.request(message["id"], message["method"], message.get("params") or {})
        elif message["method"] == "notifications/cancelled":
            self.cancelled.append(message["params"]["requestId"])
        elif message["method"] == "notifications/initialized" and self.options.asks_roots_first:
            self.send(id="first", method="roots/list", params={})

    def prepare(self) -> None:
        if self.options.starts:
            with Path(self.options.starts).open("a", encoding="utf-8") as file:
                file.write(f"{os.getpid()}\n")
        sys.stdout.writelines(f"loading {n} {{\n" for n in range(self.options.noise))
        if self.options.exit is not None:
            sys.stderr.write(f"there is no licence for process {os.getpid()}\n")
            sys.exit(self.options.exit)
        if self.options.stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            with Path(self.options.starts).open("a", encoding="utf-8") as file:
                file.write(f"{child.pid}\n")
        if self.options.storm:
            threading.Thread(target=self.rage, daemon=True).start()

    def run(self) -> None:
        self.prepare()
        for line in sys.stdin:
            if not self.options.mute:
                self.take(json.loads(line))
        while self.options.stubborn:
            time.sleep(60)

    def rage(self) -> None:
        while True:
            time.sleep(0.05)
            self.changed()


if __name__ == "__main__":
    Server().run()
