"""Every tool in the drawer, only the right ones on the bench: tool search for LLM agents."""

from tooldrawer import errors
from tooldrawer.activity import ActivityLog, Event, JsonLines, Sink
from tooldrawer.assembly import Assembly, AssemblyPolicy, BenefitModel
from tooldrawer.bridge import BridgeNames, SearchPolicy
from tooldrawer.call import ToolCall, ToolResult
from tooldrawer.catalog import Catalog
from tooldrawer.config import ActivityOptions, Config
from tooldrawer.dispatch import (
    Allow,
    Answer,
    ApprovalRequest,
    Approver,
    Ask,
    Deny,
    Grants,
    Guardrail,
    Hook,
    Limits,
    Next,
    RateLimit,
    RepeatGuard,
    Rules,
    TerminalApprover,
    Verdict,
    read_only,
)
from tooldrawer.drawer import Drawer
from tooldrawer.errors import ToolDrawerError
from tooldrawer.functions import Function, FunctionToolset
from tooldrawer.ledger import Ledger, Prices
from tooldrawer.recorded import StaticToolset
from tooldrawer.registry import Registry
from tooldrawer.scope import Scope
from tooldrawer.search import Hit, Recipe, SearchEngine
from tooldrawer.session import Session
from tooldrawer.tokens import TokenCounter
from tooldrawer.tool import Tool
from tooldrawer.toolset import Toolset

__all__ = [
    "ActivityLog",
    "ActivityOptions",
    "Allow",
    "Answer",
    "ApprovalRequest",
    "Approver",
    "Ask",
    "Assembly",
    "AssemblyPolicy",
    "BenefitModel",
    "BridgeNames",
    "Catalog",
    "Config",
    "Deny",
    "Drawer",
    "Event",
    "Function",
    "FunctionToolset",
    "Grants",
    "Guardrail",
    "Hit",
    "Hook",
    "JsonLines",
    "Ledger",
    "Limits",
    "Next",
    "Prices",
    "RateLimit",
    "Recipe",
    "Registry",
    "RepeatGuard",
    "Rules",
    "Scope",
    "SearchEngine",
    "SearchPolicy",
    "Session",
    "Sink",
    "StaticToolset",
    "TerminalApprover",
    "TokenCounter",
    "Tool",
    "ToolCall",
    "ToolDrawerError",
    "ToolResult",
    "Toolset",
    "Verdict",
    "errors",
    "read_only",
]
