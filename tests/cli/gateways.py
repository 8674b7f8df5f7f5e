"""A gateway's control, running in a thread, for commands in processes of their own."""

import os
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.cli.shell import Shell
from tooldrawer import ActivityLog, Answer, ApprovalRequest, Grants, Tool
from tooldrawer.dispatch import Grantee
from tooldrawer.gateway.control import Control
from tooldrawer.gateway.pending import Pending, Waiting
from tooldrawer.tool import Json, JsonObject

Value = TypeVar("Value")
FOLDER = "run"
"""Where the gateways of a test are, in the shell's folder."""


def status(**more: Json) -> dict[str, Json]:
    """What a gateway says about itself."""
    return {
        "pid": os.getpid(),
        "started": time() - 7300,
        "transport": "http",
        "address": "http://127.0.0.1:8000/mcp",
        "config": "tooldrawer.yaml",
        "mode": "bridge",
        "drawer": {
            "active": True,
            "reason": "22,000 tokens are 11.0 % of 200,000",
            "tools": 1034,
            "deferred": 1030,
            "array_tokens": 412,
            "schema_tokens": 22000,
        },
        "servers": [],
        "sessions": 2,
        "calls": {"in_flight": 1},
        "waiting": 0,
        **more,
    }


@dataclass
class Running:
    """The control of a gateway, and what it shows."""

    portal: BlockingPortal
    activity: ActivityLog
    pending: Pending
    says: Mapping[str, Json]
    grants: Grants
    is_unattended_allowed: bool = False
    _context: AbstractContextManager[Control] | None = None

    def call(self, function: Callable[[], Value]) -> Value:
        """Run something in the gateway's loop."""
        return self.portal.call(function)

    def run(self, function: Callable[[], Awaitable[Value]]) -> Value:
        """Wait for something in the gateway's loop."""
        return self.portal.call(function)

    def ask(
        self, arguments: JsonObject, *, question: str = "Burn it?", tool: str = "desk_burn"
    ) -> Waiting:
        """Let a call of alice's wait."""
        asked = request(arguments, question=question, tool=tool)
        return self.call(lambda: self.pending.put(asked, principal="alice", scope="triage"))

    def taken(self, arguments: JsonObject) -> Answer | None:
        """What alice's call is told when it is made again."""
        return self.call(lambda: self.pending.take(request(arguments), principal="alice"))

    def start(self, folder: Path) -> None:
        control = Control(
            status=lambda: self.says,
            activity=self.activity,
            pending=self.pending,
            grants=self.grants,
            is_unattended_allowed=lambda: self.is_unattended_allowed,
            folder=folder,
        )
        self._context = self.portal.wrap_async_context_manager(control)
        self._context.__enter__()

    def stop(self) -> None:
        """End it, as a gateway does when it is told to."""
        if self._context is not None:
            context, self._context = self._context, None
            context.__exit__(None, None, None)


def request(
    arguments: JsonObject, *, question: str = "Burn it?", tool: str = "desk_burn"
) -> ApprovalRequest:
    described = Tool(name=tool, source="desk")
    return ApprovalRequest(
        question=question,
        tool=described,
        arguments=arguments,
        session="support",
        grantee=Grantee(principal="alice", scopes=("triage",)),
    )


@contextmanager
def gateway(
    shell: Shell,
    *,
    activity: ActivityLog | None = None,
    pending: Pending | None = None,
    **says: Json,
) -> "Generator[Running]":
    """A gateway that the shell's commands find."""
    with start_blocking_portal("asyncio") as portal:
        running = Running(
            portal,
            activity or ActivityLog(),
            pending or Pending(),
            status(**says),
            Grants(shell.folder / "grants.json"),
        )
        running.start(shell.folder / FOLDER)
        try:
            yield running
        finally:
            running.stop()


def user(shell: Shell) -> Shell:
    """The shell of somebody whose gateways are in `FOLDER`."""
    return shell.with_variables(TOOLDRAWER_RUNTIME_DIR=str(shell.folder / FOLDER))
