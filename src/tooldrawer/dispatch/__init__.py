"""After the model: the one way a tool gets run."""

from tooldrawer.dispatch.approvals import Answer, ApprovalRequest, Approver, NobodyToAsk
from tooldrawer.dispatch.dispatcher import Caller, Dispatcher, View
from tooldrawer.dispatch.grants import Grant, Grantee, Grants
from tooldrawer.dispatch.guardrails import (
    Allow,
    Ask,
    Deny,
    Guardrail,
    RateLimit,
    RepeatGuard,
    Rules,
    Verdict,
    read_only,
)
from tooldrawer.dispatch.hooks import Hook, Next
from tooldrawer.dispatch.limits import MOST_LEVELS, Limits, Rests
from tooldrawer.dispatch.permission import Permission
from tooldrawer.dispatch.result_memory import ResultMemory
from tooldrawer.dispatch.terminal import TerminalApprover

__all__ = [
    "Allow",
    "Answer",
    "ApprovalRequest",
    "Approver",
    "Ask",
    "Caller",
    "Deny",
    "Dispatcher",
    "Grant",
    "Grantee",
    "Grants",
    "Guardrail",
    "Hook",
    "Limits",
    "MOST_LEVELS",
    "Next",
    "NobodyToAsk",
    "Permission",
    "RateLimit",
    "RepeatGuard",
    "Rests",
    "ResultMemory",
    "Rules",
    "TerminalApprover",
    "Verdict",
    "View",
    "read_only",
]
