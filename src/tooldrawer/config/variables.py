"""The variables that `${NAME}` can be filled from: the environment, then the secret file."""

import logging
import os
from collections.abc import Mapping

from tooldrawer.config.secret_file import SecretFile
from tooldrawer.errors import ConfigError

_logger = logging.getLogger(__name__)
_REFERENCES = ("${%s}", "${env:%s}", "{env:%s}", "$%s")


def known_variables(
    environment: Mapping[str, str] | None = None, secrets: SecretFile | None = None
) -> dict[str, str]:
    """Return all variables by name. A damaged secret file is reported and counts as empty."""
    own = set_variables(os.environ if environment is None else environment)
    try:
        stored = (secrets or SecretFile()).read()
    except ConfigError as error:
        _logger.warning("%s", error)
        return own
    return {**own, **{name: text for name, text in stored.items() if not own.get(name)}}


def set_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that hold only a reference to themselves.

    Some clients pass `"${NAME}"` on as it is written in their file when NAME is not set.
    """
    return {name: text for name, text in environment.items() if not _is_reference(name, text)}


def _is_reference(name: str, text: str) -> bool:
    return text.startswith(("$", "{env:")) and text in (form % name for form in _REFERENCES)
