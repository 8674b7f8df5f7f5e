"""What every cold process offers: named in its configuration as `tests.cold.tools:TOOLS`."""

from tests.fakes import ScriptedToolset
from tests.search.town import TOWN

TOOLS = ScriptedToolset("town", TOWN.tools[:20])
CONFIG = """\
toolsets: ["tests.cold.tools:TOOLS"]
tools: {tool_search: {enabled: on}}
"""
