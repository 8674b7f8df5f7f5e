"""Files that programs obey without being told to run the project.

Opening a folder, committing or pushing is enough for these: shells and editors run what is in
them, agents take it for instructions, git and CI for commands. One that may write another agent's
settings has that agent's rights too.

Left out is what runs only when someone builds, tests or installs the project: `Makefile`,
`package.json`, `pyproject.toml`, `.npmrc`, source and test files. They are what an agent is there
to edit, and asking about each would teach people to answer "always".
"""

import re
from collections.abc import Iterable
from fnmatch import translate

_AGENTS = (
    "agent.md agents.md agents.*.md skill.md claude.md claude.*.md gemini.md gemini.*.md qwen.md "
    "crush.md warp.md copilot-instructions.md .rules .goosehints .augment-guidelines .cursor* "
    ".windsurf* .clinerules* .roo* .kilocode* .aider* .agent .agents .amazonq .augment "
    ".claude .cody .codeium .codex .continue* .crush .crush.json crush.json .factory "
    ".firebender .gemini .goose .iflow .junie .kiro .mcp.json .opencode opencode.json* "
    ".openhands .pr_agent.toml .qwen .replit replit.md .rovodev .skills .tabnine .trae .vibe "
    "tooldrawer.y*ml"
)
_GIT_AND_CI = (
    ".git .gitconfig .gitmodules .hg .hgrc .jj .jjconfig.toml .sl .svn "
    ".githooks .husky .huskyrc* .lefthook* lefthook* .lintstagedrc* "
    ".overcommit.yml .pre-commit* .simple-git-hooks* .buildkite .circleci .drone.yml .forgejo "
    ".gitea .github .gitlab .gitlab-ci.yml .travis.yml .woodpecker* azure-pipelines.yml "
    "bitbucket-pipelines.yml jenkinsfile"
)
_EDITORS = (
    ".devcontainer* .dir-locals*.el .exrc .fleet .helix .idea .lvimrc .nvim* .nvimrc .vim .vimrc* "
    ".vs .vscode .ycm_extra_conf.py .zed *.code-workspace *.sublime-project"
)
_LINTERS = ".eslintrc* eslint.config.* .flake8 .pylintrc pylintrc .rubocop.yml"
"""Editors run them on every file that is opened, and their settings name code to load."""
_SHELLS = (
    ".autoenv* .bash_login .bash_logout .bash_profile .bashrc .direnvrc .envrc .profile .ssh "
    ".zlogin .zlogout .zprofile .zshenv .zshrc .mise mise.toml mise.*.toml .mise.toml .mise.*.toml "
    ".gdbinit .ghci .iex.exs .irbrc .lldbinit .ocamlinit .pdbrc .pryrc .rprofile .tmux.conf"
)
_NAMES = re.compile(
    "|".join(
        translate(name)
        for kind in (_AGENTS, _GIT_AND_CI, _EDITORS, _LINTERS, _SHELLS)
        for name in kind.split()
    )
)


def is_steering(parts: Iterable[str]) -> bool:
    """Whether a path, given by its parts, is such a file or lies in such a folder."""
    # Some systems take .GIT for .git, and some leave out dots and spaces at the end.
    return any(_NAMES.match(part.casefold().rstrip(". ")) for part in parts)
