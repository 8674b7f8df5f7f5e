"""A file into settings, or every mistake in it at once."""

import os
from collections.abc import Mapping
from pathlib import Path as FilePath

from platformdirs import user_config_path

from tooldrawer.config.build import Builder
from tooldrawer.config.check import checked
from tooldrawer.config.document import Document, Mistake, Path
from tooldrawer.config.environment import Filling
from tooldrawer.config.settings import Config
from tooldrawer.errors import ConfigError
from tooldrawer.tool import Json

FILE_NAME = "tooldrawer.yaml"
_LISTS = ("hooks", "guardrails", "toolsets")


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
    value = _normal(filling.fill(document.value))
    shape, wrong = checked(value, secret=filling.filled)
    # A value whose variable is missing would only be complained about a second time.
    missing = {mistake.path for mistake in filling.mistakes}
    mistakes = [*document.mistakes, *filling.mistakes]
    if not (document.mistakes and document.value is None):
        mistakes += [mistake for mistake in wrong if mistake.path not in missing]
    config = Config()
    if shape is not None and not mistakes:
        builder = Builder(shape)
        config = builder.build()
        mistakes += builder.mistakes
    if mistakes:
        raise ConfigError(*_sentences(mistakes, document, name))
    return config


def _normal(value: Json) -> Json:
    """The short forms spelled out: `tool_search: true`, `core: [...]`, an empty file or section."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return value
    whole: dict[str, Json] = {
        key: dict[str, Json]() if part is None and key not in _LISTS else part
        for key, part in value.items()
    }
    tools = whole.get("tools")
    if isinstance(tools, dict):
        section = dict(tools)
        search, core = section.get("tool_search"), section.get("core")
        if isinstance(search, bool):
            section["tool_search"] = {"enabled": "auto" if search else "off"}
        elif isinstance(search, dict) and isinstance(search.get("enabled"), bool):
            section["tool_search"] = {**search, "enabled": "on" if search["enabled"] else "off"}
        if isinstance(core, list):
            section["core"] = {"replace": core}
        whole["tools"] = section
    return whole


def _sentences(mistakes: list[Mistake], document: Document, name: str) -> list[str]:
    def line(mistake: Mistake) -> int:
        return mistake.line or document.line(mistake.path)

    return [
        f"{name}:{line(mistake)}: {_key(mistake.path)}{mistake.text}."
        for mistake in sorted(mistakes, key=line)
    ]


def _key(path: Path) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return f"{text} " if text else ""
