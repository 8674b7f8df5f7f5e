"""The core tools: a shell, files, a list, notes, the person, subagents and earlier sessions."""

from tooldrawer.agent.core.asking import Person
from tooldrawer.agent.core.delegating import Delegate, Delegation
from tooldrawer.agent.core.remembering import Passage, Past
from tooldrawer.agent.core.rules import CoreRules
from tooldrawer.agent.core.toolset import CoreTools
from tooldrawer.agent.core.workplace import Workplace

__all__ = [
    "CoreRules",
    "CoreTools",
    "Delegate",
    "Delegation",
    "Passage",
    "Past",
    "Person",
    "Workplace",
]
