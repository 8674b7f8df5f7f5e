"""The cost model against its formula."""

import pytest

from tests.requirements import requirement
from tooldrawer import BenefitModel

MODEL = BenefitModel(
    turns=10,
    tools_used=2,
    reply_tokens=300,
    request_tokens=30,
    conversation_tokens=5_000,
    cache_write=1.25,
    cache_read=0.1,
    output=5,
)


@requirement("ACT-9")
def test_both_sums_are_those_of_the_documented_formula() -> None:
    carried, later = 1.25 + 9 * 0.1, 1.25 + 4 * 0.1
    assert MODEL.without_bridge(1_000) == pytest.approx(1_000 * carried)
    each = 300 * later + 30 * 5 + (250 + 5_000) * 0.1
    assert MODEL.with_bridge(250) == pytest.approx(250 * carried + 2 * each)


@requirement("ACT-9")
def test_more_schemas_and_longer_sessions_speak_for_the_bridge_and_more_tools_used_against() -> (
    None
):
    even = int(MODEL.with_bridge(250) / MODEL.without_bridge(1))
    assert MODEL.pays(schema_tokens=even + 1, bridge_tokens=250)
    assert not MODEL.pays(schema_tokens=even, bridge_tokens=250)
    busy = BenefitModel(turns=10, tools_used=20)
    assert busy.with_bridge(250) > BenefitModel(turns=10, tools_used=2).with_bridge(250)
