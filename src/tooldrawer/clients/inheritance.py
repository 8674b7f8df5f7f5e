"""Which of its own variables each client passes on to the servers that it starts."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

Inheritance = Callable[[Mapping[str, str]], dict[str, str]]
_DESKTOP = (
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", "APPDATA",
    "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE",
    "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES", "PATHEXT",
)  # fmt: skip
"""What a program has that was started from a desktop, as far as one can rely on it."""
_CODEX = (*_DESKTOP, "__CF_USER_TEXT_ENCODING", "LC_ALL", "TZ")
_GEMINI_NAMES = re.compile(
    "TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT", re.IGNORECASE
)
_GEMINI_BLOCKED = (
    "CLIENT_ID", "DB_URI", "CONNECTION_STRING", "AWS_DEFAULT_REGION", "AZURE_CLIENT_ID",
    "AZURE_TENANT_ID", "SLACK_WEBHOOK_URL", "TWILIO_ACCOUNT_SID", "DATABASE_URL",
    "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_ACCOUNT", "FIREBASE_PROJECT_ID",
)  # fmt: skip
_GEMINI_VALUES = re.compile(
    r"-----BEGIN (?:(?:RSA|OPENSSH|EC|PGP) PRIVATE KEY|CERTIFICATE)-----"
    r"|(?:https?|ftp|smtp)://[^:\s]+:[^@\s]+@|(?:gh[pousr]|github_pat)_\w{36,}"
    r"|AIzaSy[\w\\-]{33}|AKIA[A-Z0-9]{16}|eyJ[\w-]*\.[\w-]*\.[\w-]*"
    r"|[sr]k_(?:live|test)_[0-9a-zA-Z]{24}|xox[abpr]-[a-zA-Z0-9-]+",
    re.IGNORECASE,
)
_FOLDERS = {
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
}


def everything(environment: Mapping[str, str]) -> dict[str, str]:
    """Claude Code and opencode pass on all that they have."""
    return dict(environment)


def desktop(environment: Mapping[str, str]) -> dict[str, str]:
    """A program that was started from a desktop has few variables of a terminal."""
    return _only(environment, _DESKTOP)


def codex(environment: Mapping[str, str]) -> dict[str, str]:
    """Codex passes on a fixed list."""
    return _only(environment, _CODEX)


def gemini(environment: Mapping[str, str]) -> dict[str, str]:
    """Gemini CLI removes what looks like a secret, by name and by value."""
    return {
        name: text
        for name, text in environment.items()
        if not _GEMINI_NAMES.search(name)
        and name.upper() not in _GEMINI_BLOCKED
        and not _GEMINI_VALUES.search(text)
    }


def own_folders(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that move tooldrawer's own folders away from their usual places.

    A gateway that a client starts without them would not find secrets, tokens and caches.
    """
    home = Path.home()
    found = {name: environment.get(name, "") for name in (*_FOLDERS, "TOOLDRAWER_RUNTIME_DIR")}
    return {
        name: text
        for name, text in found.items()
        if text and Path(text) != home / _FOLDERS.get(name, "")
    }


def _only(environment: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: environment[name] for name in names if name in environment}
