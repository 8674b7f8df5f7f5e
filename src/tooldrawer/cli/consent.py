"""Who answers when nobody is asked."""

from tooldrawer.call import ToolCall
from tooldrawer.cli.call_row import counted
from tooldrawer.dispatch import Allow, Answer, ApprovalRequest, NobodyToAsk, Verdict, read_only
from tooldrawer.tool import Tool

_NEXT_STEP = (
    "Only a person can approve it, and no person is here. Go on without it, and say in your answer "
    "what was not done."
)


def unasked(calls: int) -> str:
    """What to do about calls that were refused because nobody could be asked."""
    return (
        f"Nobody could be asked about {counted(calls, 'call')}. Allow such calls with --yes, or by "
        'the answer "always" in `tooldrawer chat`. `approvals.allow` does not answer what the '
        "agent's own tools ask about commands and files."
    )


class Yes:
    """An `Approver` for somebody who said yes to everything beforehand."""

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """Yes, this once: it grants nothing for later."""
        del request
        return Answer.ONCE


class Absent:
    """An `Approver` where nobody is."""

    async def __call__(self, request: ApprovalRequest) -> Answer:
        """Tell the model to go on without it; the person reads `unasked`.

        Raises:
            NobodyToAsk: Always.
        """
        del request
        raise NobodyToAsk(_NEXT_STEP)


def only_reading(tool: Tool, call: ToolCall) -> Verdict:
    """A guardrail: as `read_only`, and a subagent may be asked, since it is held to it too."""
    is_subagent = tool.source == "core" and tool.local_name == "delegate_task"
    return Allow() if is_subagent else read_only(tool, call)
