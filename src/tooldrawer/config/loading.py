"""A file into settings, or every mistake in it at once."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath

from platformdirs import user_config_path

from tooldrawer.config.build import Builder
from tooldrawer.config.check import checked
from tooldrawer.config.document import Document, Mistake, Path
from tooldrawer.config.environment import Filling
from tooldrawer.config.settings import Config
from tooldrawer.config.shape import EMBEDDINGS
from tooldrawer.config.short import spelled_out, written
from tooldrawer.config.words import quoted
from tooldrawer.errors import ConfigError

FILE_NAME = "tooldrawer.yaml"
_DEPTH_OF_ENV = 3
_PLAIN_KEY = re.compile(r"[\w*/-]{1,60}")


def find() -> FilePath:
    """The configuration of this folder, else the user's.

    Raises:
        ConfigError: There is none.
    """
    places = (FilePath(FILE_NAME), user_config_path("tooldrawer", appauthor=False) / FILE_NAME)
    for place in places:
        if place.is_file():
            return place
    raise ConfigError(
        f"There is no {FILE_NAME} in this folder or in {places[1].parent}; "
        "write one, name a file with --config, or recorded tool lists with --catalog."
    )


def load(path: str | FilePath, *, environment: Mapping[str, str] | None = None) -> Config:
    """Read and check `path`. A mistake stops the program; it is never guessed away.

    Raises:
        ConfigError: With one sentence for each mistake: file, line, key, found, expected.
    """
    file = FilePath(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text ({error.reason}).") from error
    return parse(text, name=str(file), environment=environment)


def parse(text: str, *, name: str, environment: Mapping[str, str] | None = None) -> Config:
    """The settings in `text`; `name` stands for the file in messages.

    Raises:
        ConfigError: As `load`.
    """
    document = Document(text)
    filling = Filling(os.environ if environment is None else environment)
    value = filling.fill(spelled_out(document.value))
    shape, wrong = checked(value, secret=filling.filled)
    as_written = partial(written, value=document.value)
    unread = document.unread | {as_written(mistake.path) for mistake in filling.mistakes}
    builder = Builder(
        shape, secret=filling.filled, doubtful=unread | {mistake.path for mistake in wrong}
    )
    config = builder.build()
    mistakes = [
        *document.mistakes,
        *filling.mistakes,
        # A value that could not be read or filled would only be complained about a second time.
        *(
            mistake
            for mistake in wrong
            if mistake.is_unknown or as_written(mistake.path) not in unread
        ),
        *builder.mistakes,
    ]
    if mistakes:
        found = [replace(mistake, path=as_written(mistake.path)) for mistake in mistakes]
        raise ConfigError(*_sentences(found, document, name))
    return config


def _sentences(mistakes: list[Mistake], document: Document, name: str) -> list[str]:
    def line(mistake: Mistake) -> int:
        return mistake.line or document.line(mistake.path)

    return [
        f"{name}:{line(mistake)}: {_key(mistake.path)} {mistake.text}"
        + ("" if mistake.text.endswith("?") else ".")
        for mistake in sorted(mistakes, key=line)
    ]


def _may_have_secrets(path: Path) -> bool:
    return path[0] == "mcp_servers" or path[:3] == EMBEDDINGS


def _key(path: Path) -> str:
    text = ""
    for at, step in enumerate(path):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            own = step if _PLAIN_KEY.fullmatch(step) else quoted(step)
            # `env: {TOKEN=secret}` is a key without a value.
            is_hidden = own != step and at >= _DEPTH_OF_ENV and _may_have_secrets(path)
            text += ("." if text else "") + ("(a key that is not shown)" if is_hidden else own)
    return text or "the file"
