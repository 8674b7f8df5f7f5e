"""A tool as the texts it is found by, and as the text that the encoder reads."""

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, json_objects, quick
from tests.requirements import requirement
from tooldrawer import Tool
from tooldrawer.search.document import NAME, SERVER, fields, passage
from tooldrawer.tool import JsonObject

MEGABYTE = "word " * 200_000


def schema(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties}


def texts(parameters: JsonObject) -> list[str]:
    """What is read of a tool's parameters."""
    return [field.text for field in fields(Tool(name="x", parameters=parameters))][3:]


@requirement("SEARCH-1")
def test_a_tool_is_found_by_name_server_description_and_parameters() -> None:
    repo: JsonObject = {"type": "string", "description": "Which repository."}
    tool = Tool(
        name="mcp_hub_open_issue",
        description="Opens it.",
        parameters=schema({"repo": repo, "odd": True}),
        source="mcp-hub",
    )
    found = list(fields(tool))
    assert [field.text for field in found] == [
        "open_issue",
        "hub",
        "Opens it.",
        "repo",
        "Which repository.",
        "odd",
    ]
    assert [field.place for field in found] == [NAME, SERVER, 0, 0, 0, 0]
    weights = [field.weight for field in found[:5]]
    assert weights == sorted(weights, reverse=True)


def test_the_values_and_the_inner_parameters_of_a_parameter_are_read_too() -> None:
    assert texts(
        schema(
            {
                "state": {"enum": ["open", "closed", 3, None]},
                "filter": schema({"label": {"description": "A label."}}),
                "guests": {"type": "array", "items": schema({"email": {}})},
            }
        )
    ) == [
        *("state", "", "open", "closed", "", ""),
        *("filter", "", "label", "A label."),
        *("guests", "", "email", ""),
    ]


def test_what_lies_deeper_is_not_read() -> None:
    deep = schema({"outer": schema({"inner": schema({"innermost": {"description": "Gold."}})})})
    assert texts(deep) == ["outer", "", "inner", ""]


def test_a_schema_that_is_not_one_is_read_as_far_as_it_goes() -> None:
    assert texts({"properties": ["a", "b"]}) == []
    assert texts({"properties": None}) == []
    assert texts(schema({"a": {"description": ["no"], "enum": "no", "items": [1]}})) == ["a", ""]


def test_a_megabyte_costs_what_a_page_does() -> None:
    described: JsonObject = {"description": MEGABYTE, "enum": [MEGABYTE] * 1_000}
    tool = Tool(
        name="n" * 10_000,
        description=MEGABYTE,
        parameters=schema({f"p{at}": described for at in range(1_000)}),
        source="s" * 10_000,
    )
    assert sum(len(field.text) for field in fields(tool)) < 100_000
    huge = Tool(name="n" * 10_000, description=MEGABYTE, parameters=schema({MEGABYTE: {}}))
    assert len(passage(huge)) < 2_000


def test_the_encoder_reads_the_server_the_name_the_description_and_the_parameters() -> None:
    parameters = schema({"repoName": {}, "issue_title": {}})
    tool = Tool(
        name="mcp_git-hub_createIssue",
        description="Create an\n\n  issue\tin a repository.",
        parameters=parameters,
        source="mcp-git-hub",
    )
    assert passage(tool) == (
        "git hub: create Issue. Create an issue in a repository. repo Name issue title"
    )


def test_a_tool_about_which_nothing_is_known_has_a_passage_too() -> None:
    assert passage(Tool(name="")).strip() == ": ."
    assert [field.text for field in fields(Tool(name=""))] == ["", "", ""]


@quick(200)
@given(
    parameters=json_objects("properties", "items", "enum", "description"),
    inner=json_objects("properties", "items"),
    name=any_text,
    description=any_text,
    source=st.sampled_from(("", "mcp-hub", "desk")) | any_text,
)
def test_whatever_a_server_says_about_a_tool_it_can_be_read(
    parameters: JsonObject, inner: JsonObject, name: str, description: str, source: str
) -> None:
    for tool_parameters in (parameters, schema(parameters), schema({"a": schema(inner)})):
        tool = Tool(name=name, description=description, parameters=tool_parameters, source=source)
        assert all(field.weight > 0 for field in fields(tool))
        assert isinstance(passage(tool), str)
