"""The documents say what is true: code runs, configuration loads, links lead on."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tooldrawer.cli.demo import demo
from tooldrawer.config import Config, parse
from tooldrawer.demo.desk import toolsets

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_readmes_example_runs(tmp_path: Path) -> None:
    (example,) = blocks("README.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.startswith("1 Review at ten 2 ")


def test_the_readme_is_short_and_its_figures_were_measured() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    (figures,) = re.findall(r"<!-- figures: core -->(.*?)<!-- /figures -->", text, re.DOTALL)
    assert "Written by `tooldrawer bench core" in figures


def test_the_demo_has_as_many_tools_as_is_said() -> None:
    with toolsets() as found:
        said = f"{sum(len(toolset.tools()) for toolset in found)} local tools"
    assert said in (ROOT / "README.md").read_text(encoding="utf-8")
    assert said in (demo.__doc__ or "")


def test_the_documented_keys_are_all_keys_and_right() -> None:
    whole, _ = blocks("docs/configuration.md", "yaml")
    without_code = re.sub(r"^(toolsets|hooks|guardrails):.*$", "", whole, flags=re.MULTILINE)
    environment = {"GITHUB_TOKEN": "a", "LINEAR_TOKEN": "b", "MY_KEY": "c"}
    config = parse(without_code, name="docs", environment=environment)
    assert config.assembly.pinned == ("mcp_slack_*",)
    assert config.search == Config().search
    assert [server.name for server in config.servers] == ["github", "linear"]


def test_the_documented_endpoint_is_right() -> None:
    _, endpoint = blocks("docs/configuration.md", "yaml")
    everything = re.sub(r"^( +)# ", r"\1", endpoint, flags=re.MULTILINE)
    small = parse(endpoint, name="docs", environment={}).embeddings
    whole = parse(everything, name="docs", environment={"OPENAI_API_KEY": "a"}).embeddings
    assert small is not None
    assert whole == replace(small, api_key="a", dimensions=256)


def test_the_readmes_configuration_is_right() -> None:
    (sample,) = blocks("README.md", "yaml")
    without_code = re.sub(r"^(toolsets|hooks):.*$", "", sample, flags=re.MULTILINE)
    assert parse(without_code, name="readme", environment={}).scopes["triage"].deny == ("*delete*",)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_to_one(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith("http"):
            assert (document.parent / link).exists(), link
