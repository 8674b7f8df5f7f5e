"""A server that behaves until one of its tools is called, and never again afterwards."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.upstream.servers.plain import Message, Server

_CHILD = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code, generations = sys.argv[1:]
if generations != "1":
    further = str(int(generations) - 1)
    subprocess.Popen([sys.executable, "-S", "-c", code, code, further])
time.sleep(600)
"""
_HURRY = 5000


class Rude(Server):
    """Each tool is a way to be rude."""

    def tool_fall(self, identity: Any, _: Message, __: Message) -> None:
        """Be killed in the middle of the call."""
        del identity
        os.kill(os.getpid(), signal.SIGKILL)

    def tool_breed(self, identity: Any, given: Message, _: Message) -> None:
        """Have children and their children, all of whom ignore SIGTERM."""
        generations = str(given["generations"])
        subprocess.Popen([sys.executable, "-S", "-c", _CHILD, _CHILD, generations])
        self.text(identity, "bred")

    def tool_deafen(self, identity: Any, _: Message, __: Message) -> None:
        """Ignore SIGTERM and the end of stdin."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.options.stubborn = True
        self.text(identity, "deaf")

    def tool_shout(self, identity: Any, _: Message, __: Message) -> None:
        """Write to stderr for ever."""
        self.forever(lambda: os.write(2, b"I have something to say!\n" * 1000))
        self.text(identity, "shouting")

    def tool_babble(self, identity: Any, _: Message, __: Message) -> None:
        """Write noise to stdout for ever."""
        self.forever(lambda: self.write("this is no message\n" * 1000))
        self.text(identity, "babbling")

    def tool_flood(self, identity: Any, given: Message, params: Message) -> None:
        """Send notifications before the answer: of progress, of the log, and unheard-of ones."""
        token = params["_meta"].get("progressToken", 0)
        kinds: list[Message] = [
            {"method": "notifications/progress", "params": {"progressToken": token}},
            {"method": "notifications/message", "params": {"level": "info", "data": "x" * 100}},
            {"method": "notifications/prompts/list_changed", "params": {}},
            {"method": "notifications/unheard-of", "params": {}},
        ]
        for step in range(given.get("times", _HURRY)):
            for kind in kinds:
                params = {**kind["params"], "progress": step}
                self.send(method=kind["method"], params=params)
        self.text(identity, "flooded")

    def tool_ping(self, identity: Any, given: Message, _: Message) -> None:
        """Ask for more answers than anybody wants to read."""
        for number in range(given.get("times", _HURRY)):
            self.send(id=f"ping{number}", method="ping")
        self.text(identity, "pinged")

    def tool_mistake(self, identity: Any, _: Message, __: Message) -> None:
        """Answer under wrong names first, then three times under the right one."""
        wrongs: list[Any] = [10**6, f"{identity}0", None, [identity], {}, True, 1.5, ""]
        for wrong in wrongs:
            self.send(id=wrong, result={"content": [{"type": "text", "text": "wrong"}]})
            self.send(id=wrong, error={"code": -1, "message": "wrong"})
        for said in ("first", "second", "third"):
            self.text(identity, said)

    def tool_never(self, identity: Any, _: Message, __: Message) -> None:
        """Say nothing at all."""
        self.hanging.append(identity)

    def tool_nap(self, identity: Any, given: Message, _: Message) -> None:
        """Answer late: so long after the gate is there."""
        while not Path(given["gate"]).exists():
            time.sleep(0.01)
        time.sleep(given["seconds"])
        self.text(identity, "rested")

    def tool_prompt(self, identity: Any, _: Message, __: Message) -> None:
        """Ask for a password at the terminal."""
        try:
            with open("/dev/tty", "r+b", buffering=0) as terminal:  # noqa: PTH123 - a device
                terminal.write(b"Password: ")
                said = terminal.readline().decode()
        except OSError as error:
            said = f"no terminal: {error.strerror}"
        self.text(identity, f"{said}; {os.isatty(0)} {os.isatty(1)} {os.isatty(2)}")

    def forever(self, shout: Any) -> None:
        def run() -> None:
            while True:
                shout()

        threading.Thread(target=run, daemon=True).start()

    def write(self, text: str) -> None:
        with self.lock:
            sys.stdout.write(text)
            sys.stdout.flush()

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


if __name__ == "__main__":
    Rude().run()
