import pytest


@pytest.fixture
def anyio_backend() -> str:
    """asyncio only.

    The client libraries leave their streams' generators to the garbage collector (openai stops at
    `[DONE]`, before the end of the body), and trio warns about each of them.
    """
    return "asyncio"
