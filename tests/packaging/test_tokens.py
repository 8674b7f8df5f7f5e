"""Without the optional tokenizer the library still counts, and not far off."""

import json

from tests.packaging.python import printed
from tests.requirements import requirement
from tooldrawer.demo.desk import toolsets
from tooldrawer.tokens import O200k, default_counter, schema_text

COUNT = """
import json, sys
from importlib.machinery import PathFinder


class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "splintr" else super().find_spec(name, path, target)


sys.meta_path = [Hidden if finder is PathFinder else finder for finder in sys.meta_path]

from tooldrawer.demo.desk import toolsets
from tooldrawer.tokens import default_counter, schema_text

counter = default_counter()
with toolsets() as found:
    counts = [counter.count(schema_text(tool)) for toolset in found for tool in toolset.tools()]
print(json.dumps({"counter": type(counter).__name__, "counts": counts}))
"""


@requirement("ACT-8")
def test_the_count_is_exact_with_the_tokenizer() -> None:
    assert isinstance(default_counter(), O200k)
    assert default_counter().count("hello world") == 2


@requirement("ACT-8")
def test_without_the_tokenizer_the_estimate_of_the_demo_is_within_three_percent() -> None:
    estimated = json.loads(printed(COUNT))
    assert estimated["counter"] == "Estimate"
    exact = default_counter()
    with toolsets() as found:
        texts = [schema_text(tool) for toolset in found for tool in toolset.tools()]
    assert len(estimated["counts"]) == len(texts)
    counted = sum(map(exact.count, texts))
    error = sum(estimated["counts"]) / counted - 1
    assert abs(error) <= 0.03, f"the estimate is {error:+.1%} off over {counted:,} tokens"
