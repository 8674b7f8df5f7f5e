"""The way to a model, opened when it is needed."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from anyio import to_thread

from tooldrawer.agent.model import Model
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.errors import ConfigError


@asynccontextmanager
async def connected(spec: ModelSpec) -> AsyncGenerator[Model]:
    """The model that is meant, through the SDK of its wire; nobody is asked yet.

    Raises:
        ConfigError: The SDK is not installed, or the address or the key cannot be used.
    """
    if wrong := tuple(spec.mistakes()):
        raise ConfigError(*wrong)
    # In a thread: an SDK takes up to a second to import.
    connect = await to_thread.run_sync(_sdk, spec)
    async with connect(spec) as model:
        yield model


def _sdk(spec: ModelSpec) -> Callable[[ModelSpec], AbstractAsyncContextManager[Model]]:
    try:
        if spec.wire == "anthropic":
            from tooldrawer.agent import anthropic_client  # noqa: PLC0415

            return anthropic_client.connected
        from tooldrawer.agent import openai_client  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if missing.name not in {"openai", "anthropic"}:
            raise
        raise ConfigError(
            f"The package {missing.name!r} is needed for {spec.name!r} and is not installed: "
            "pip install 'tooldrawer[agent]'"
        ) from None
    return openai_client.connected
