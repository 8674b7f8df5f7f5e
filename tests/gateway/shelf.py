"""A small MCP server on the standard library alone: it offers what is in a file, and writes a log.

`python shelf.py FILE [--modern] [--mute] [--hold FILE]`. When the file changes, it says so.
"""

import json
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any

Message = dict[str, Any]
MODERN = "2026-07-28"
KINDS = {"tools": "tools", "prompts": "prompts", "resources": "resources"}


class Shelf:
    """Reads a line, writes lines."""

    def __init__(self, file: Path, options: list[str]) -> None:
        self.file = file
        self.modern = "--modern" in options
        self.mute = "--mute" in options
        self.hold = Path(options[options.index("--hold") + 1]) if "--hold" in options else None
        self.name = file.stem
        self.wanted: set[str] = set()
        self.waiting: dict[str, Any] = {}
        self.listens: dict[Any, Message] = {}
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.lock = threading.Lock()
        self.began = self.mark, self.goods  # before anybody can know that it is there

    @property
    def mark(self) -> tuple[int, int]:
        """What another file in its place has not; the number alone may be given again."""
        found = self.file.stat()
        return found.st_ino, found.st_mtime_ns

    @property
    def goods(self) -> Message:
        return dict(json.loads(self.file.read_text(encoding="utf-8")))

    def note(self, method: str, params: Message) -> None:
        with self.file.with_suffix(".log").open("a", encoding="utf-8") as log:
            log.write(json.dumps({"method": method, "params": params}) + "\n")

    def send(self, **message: Any) -> None:
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def answer(self, identity: Any, result: Message) -> None:
        self.send(
            id=identity, result={"resultType": "complete", **result} if self.modern else result
        )

    def tell(self, method: str, wanted: str, **params: Any) -> None:
        """Tell of a change, in the words of the era."""
        if not self.modern:
            self.send(method=method, params=params)
            return
        for identity, kinds in list(self.listens.items()):
            if kinds.get(wanted) is True or params.get("uri") in kinds.get(wanted, ()):
                meta = {"io.modelcontextprotocol/subscriptionId": identity}
                self.send(method=method, params={**params, "_meta": meta})

    def watch(self) -> None:
        """See that the file changed, as a server sees its own changes."""
        last, known = self.began
        while True:
            time.sleep(0.01)
            if self.mark == last:
                continue
            last, before, known = self.mark, known, self.goods
            for kind in KINDS:
                if before.get(kind) != known.get(kind):
                    self.tell(f"notifications/{kind}/list_changed", f"{kind}ListChanged")
            for uri in known.get("updated", ()):
                if self.modern or uri in self.wanted:
                    self.tell("notifications/resources/updated", "resourceSubscriptions", uri=uri)

    def hello(self) -> Message:
        offers = {
            kind: {"listChanged": True, **({"subscribe": True} if kind == "resources" else {})}
            for kind in KINDS
            if kind in self.goods
        }
        more: Message = {} if self.modern else {"logging": {}}
        return {
            "capabilities": {**offers, "completions": {}, **more},
            "instructions": self.goods.get("instructions", ""),
        }

    def begin(self, identity: Any, method: str, params: Message) -> None:
        if method == "initialize":
            info = {"name": self.name, "version": "1"}
            version = params["protocolVersion"]
            self.answer(identity, {"protocolVersion": version, "serverInfo": info, **self.hello()})
        elif self.modern:
            fresh = {"supportedVersions": [MODERN], "ttlMs": 0, "cacheScope": "private"}
            self.answer(identity, {**fresh, **self.hello()})
        else:
            self.refuse(identity, -32601, "Method not found")

    def refuse(self, identity: Any, code: int, message: str) -> None:
        self.send(id=identity, error={"code": code, "message": message})

    def request(  # noqa: C901  one branch for each method
        self, identity: Any, method: str, params: Message
    ) -> None:
        match method:
            case "initialize" | "server/discover":
                self.begin(identity, method, params)
            case "tools/list" | "prompts/list" | "resources/list":
                kind = method.split("/")[0]
                self.answer(identity, {kind: self.goods.get(kind, [])})
            case "resources/templates/list":
                key = "resourceTemplates"
                self.answer(identity, {key: self.goods.get(key, [])})
            case "tools/call":
                self.call(identity, params)
            case "prompts/get":
                self.say(identity, params, f"{params['name']} of {self.name}")
            case "resources/read":
                read = {"uri": params["uri"], "text": f"{params['uri']} of {self.name}", "odd": 1}
                self.answer(identity, {"contents": [read]})
            case "completion/complete":
                values = [f"{params['argument']['value']} of {self.name}"]
                self.answer(identity, {"completion": {"values": values}})
            case "resources/subscribe" if self.goods.get("refuses_subscriptions"):
                self.refuse(identity, -32602, "Not this one.")
            case "resources/unsubscribe" if self.goods.get("refuses_unsubscriptions"):
                self.refuse(identity, -32602, "Not this one.")
            case "resources/subscribe" | "resources/unsubscribe":
                added = method == "resources/subscribe"
                (self.wanted.add if added else self.wanted.discard)(params["uri"])
                self.answer(identity, {})
            case "logging/setLevel":
                self.answer(identity, {})
            case "subscriptions/listen":
                self.listen(identity, params)
            case _:
                self.refuse(identity, -32601, "Method not found")

    def say(self, identity: Any, params: Message, said: str) -> None:
        given: Message = params.get("arguments") or {}
        content = {"type": "text", "text": f"{said}: {json.dumps(given, sort_keys=True)}"}
        self.answer(identity, {"messages": [{"role": "user", "content": content}]})

    def call(self, identity: Any, params: Message) -> None:
        given: Message = params.get("arguments") or {}
        if params["name"] == "give":
            self.answer(identity, given["result"])
        elif params["name"] == "waver":
            threading.Thread(target=self.waver, args=(identity, Path(given["gate"]))).start()
        elif params["name"] == "wait":
            threading.Thread(target=self.wait, args=(identity, Path(given["gate"]))).start()
        elif params["name"].startswith("say"):
            line = {"level": "error", "data": f"a line of {self.name}"}
            self.send(method="notifications/message", params=line)
            self.answer(identity, {"content": [{"type": "text", "text": f"said by {self.name}"}]})
        elif params["name"] == "fall":
            os._exit(1)
        elif params["name"] != "hang":
            said: Message = {"tool": params["name"], "server": self.name, "arguments": given}
            block = {"type": "text", "text": json.dumps(said, sort_keys=True)}
            self.answer(identity, {"content": [block]})

    def waver(self, identity: Any, gate: Path) -> None:
        """Ask, take the question back, and ask another one."""
        self.question(f"first {identity}", "first")
        while not gate.exists():
            time.sleep(0.01)
        self.send(method="notifications/cancelled", params={"requestId": f"first {identity}"})
        self.waiting[f"second {identity}"] = identity
        self.question(f"second {identity}", "second")
        self.note("asked", {"message": "second"})

    def wait(self, identity: Any, gate: Path) -> None:
        """Answer late."""
        while not gate.exists():
            time.sleep(0.01)
        self.answer(identity, {"content": [{"type": "text", "text": "waited"}]})

    def question(self, identity: str, message: str) -> None:
        schema: Message = {"type": "object", "properties": {"a": {"type": "string"}}}
        asked: Message = {"message": message, "requestedSchema": schema}
        self.send(id=identity, method="elicitation/create", params=asked)

    def listen(self, identity: Any, params: Message) -> None:
        self.listens[identity] = params["notifications"]
        meta = {"io.modelcontextprotocol/subscriptionId": identity}
        self.send(
            method="notifications/subscriptions/acknowledged",
            params={"notifications": params["notifications"], "_meta": meta},
        )

    def read(self) -> None:
        for line in sys.stdin:
            self.lines.put(line)
        os._exit(0)  # whatever it waits for

    def run(self) -> None:
        for task in (self.watch, self.read):
            threading.Thread(target=task, daemon=True).start()
        while True:
            message = json.loads(self.lines.get())
            while self.mute or (self.hold is not None and not self.hold.exists()):
                time.sleep(0.01)
            if "method" in message:
                self.take(message, message.get("params") or {})
            elif message["id"] in self.waiting:
                block = {"type": "text", "text": json.dumps(message["result"], sort_keys=True)}
                self.answer(self.waiting.pop(message["id"]), {"content": [block]})

    def take(self, message: Message, params: Message) -> None:
        self.note(message["method"], params)
        if message["method"] == "notifications/cancelled":
            self.listens.pop(params.get("requestId"), None)
        if "id" in message:
            self.request(message["id"], message["method"], params)


if __name__ == "__main__":
    Shelf(Path(sys.argv[1]), sys.argv[2:]).run()
