"""Without the framework an adapter says how to get it, and without an adapter nothing is paid."""

import subprocess
import sys

import pytest

NEEDS = {
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "openai_agents": ("agents", "openai-agents"),
    "langchain": ("langchain", "langchain"),
}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("adapter", NEEDS)
def test_a_missing_framework_is_named_with_the_line_that_installs_it(adapter: str) -> None:
    package, extra = NEEDS[adapter]
    hidden = f"import sys; sys.modules[{package!r}] = None; import tooldrawer.adapters.{adapter}"
    done = python(hidden)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert done.stderr.rstrip().endswith(f"pip install 'tooldrawer[{extra}]'")


def test_the_package_of_adapters_imports_none_of_them() -> None:
    done = python(
        "import sys, tooldrawer.adapters; "
        "print({'pydantic_ai', 'agents', 'langchain', 'openai'} & set(sys.modules))"
    )
    assert done.stdout == "set()\n"
