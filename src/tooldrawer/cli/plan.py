"""What the options and the configuration of an agent amount to, before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import process

from tooldrawer import config as configuration
from tooldrawer.agent.core import Workplace
from tooldrawer.agent.endpoint import Wanted, model_spec
from tooldrawer.agent.spec import ModelSpec
from tooldrawer.cli.agent_options import Choices
from tooldrawer.config import Config
from tooldrawer.errors import ConfigError
from tooldrawer.ledger import Prices
from tooldrawer.patterns import matches
from tooldrawer.scope import Scope

_CORE = "core"
_NEAR, _NEAR_ENOUGH = 3, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that could be wrong was looked at; nothing has been started."""

    choices: Choices
    file: Path | None
    config: Config
    spec: ModelSpec
    workplace: Workplace

    @classmethod
    def of(cls, choices: Choices) -> "Plan":
        """Read what was chosen; a configuration is not needed.

        Raises:
            ConfigError: The configuration, the model, the scope or a toolset's name is wrong.
        """
        file = choices.config or _found()
        trust = "file" if choices.config else "recorded"
        config = Config() if file is None else configuration.gather(file, trust=trust)
        _check(choices, config)
        allowed = (*map(Path, config.agent.allow_dirs), *choices.allow_dirs)
        return cls(
            choices=choices,
            file=file,
            config=config,
            spec=model_spec(_wanted(choices, config)),
            workplace=Workplace(root=Path.cwd(), allowed=allowed),
        )

    @property
    def scope_label(self) -> str:
        """The scope in words, under which conversations are kept."""
        toolsets = ",".join(sorted(self.choices.toolsets or ()))
        # A scope and a toolset may have one name, and must not see each other's conversations.
        parts = (self.choices.scope or "", f"--toolsets {toolsets}" if toolsets else "")
        return " ".join(filter(None, parts))

    @property
    def prices(self) -> Prices | None:
        """What tokens cost, if anybody said so."""
        return self.config.model.prices or self.spec.prices

    @property
    def stores(self) -> bool:
        """Whether conversations are kept."""
        return self.choices.store and self.config.agent.store


def _found() -> Path | None:
    """The configuration of this folder or the user's; None when there is none."""
    try:
        return configuration.find()
    except ConfigError:
        return None


def _wanted(choices: Choices, config: Config) -> Wanted:
    """The model: what was said on the command line wins over the file."""
    model = config.model
    same = choices.base_url is None
    return Wanted(
        model=choices.model or model.name,
        base_url=choices.base_url or model.base_url,
        wire=choices.wire or (model.wire if same else None),
        # A key belongs to the address that it stands beside.
        api_key=model.api_key if same else "",
        context_length=choices.context_length or config.context_length,
        max_output=model.max_output,
        bridge=choices.bridge or model.bridge,
    )


def _check(choices: Choices, config: Config) -> None:
    """Return when the scope and each toolset that was named are there."""
    outer = Scope()
    if choices.scope is not None:
        if choices.scope not in config.scopes:
            known = ", ".join(sorted(config.scopes)) or "none"
            raise ConfigError(
                f"There is no scope named {choices.scope!r}; configured are: {known}."
            )
        outer = config.scopes[choices.scope]
    if choices.toolsets is None:
        return
    names = [_CORE, *(each.name for each in config.toolsets)]
    names += [server.toolset for server in config.servers if server.enabled]
    known = [name for name in names if outer.can_admit(name)]
    wrong = [_unknown(name, known) for name in choices.toolsets if not _fits(name, known)]
    if wrong:
        raise ConfigError(*wrong)
    if not choices.toolsets:
        raise ConfigError(f"--toolsets names none; there are {', '.join(known)}.")


def _fits(pattern: str, known: Sequence[str]) -> bool:
    return any(matches(name, (pattern,)) for name in known)


def _unknown(name: str, known: Sequence[str]) -> str:
    near = [
        found
        for found, _, _ in process.extract(name, known, limit=_NEAR, score_cutoff=_NEAR_ENOUGH)
    ]
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
    return f"There is no toolset named {name!r}; {hint}"
