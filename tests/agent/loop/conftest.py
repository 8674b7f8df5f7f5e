import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The one that `tooldrawer chat` runs on.

    On trio an answer that is left in the middle warns of a generator inside the SDKs' HTTP client.
    """
    return "asyncio"
