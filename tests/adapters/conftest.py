import pytest

from tests.adapters.rigs import AgentsRig, LangChainRig, PydanticRig, Rig

RIGS: dict[str, type[Rig]] = {
    "pydantic-ai": PydanticRig,
    "openai-agents": AgentsRig,
    "langchain": LangChainRig,
}


@pytest.fixture
def anyio_backend() -> str:
    """The frameworks run on nothing else."""
    return "asyncio"


@pytest.fixture(params=RIGS)
def rig(request: pytest.FixtureRequest) -> Rig:
    """An agent of each framework, with a model that follows a script."""
    return RIGS[str(request.param)]()
