"""What an operation does to its object: creating is not deleting."""

from functools import cache

from tooldrawer.search.text import stem

_DEEDS = (
    "create add new make insert register generate draft compose build provision open write append "
    "post initialize init setup set save put upload import",
    "delete remove drop destroy purge clear erase unregister uninstall unset discard prune trash "
    "detach unlink revoke",
    "update edit modify change patch rename replace set alter adjust configure amend resize "
    "reschedule mark toggle write put save",
    "list get show read fetch retrieve view describe find search lookup query browse check display "
    "load inspect count summarize explain analyze monitor download export",
    "send post publish reply notify message email forward share invite comment",
    "move transfer migrate relocate reorder",
    "copy clone duplicate fork replicate export download",
    "start run execute launch trigger invoke resume enable activate boot open play restart deploy",
    "stop cancel terminate abort pause disable deactivate kill shutdown close halt suspend",
    "merge combine join concat unite",
    "split divide separate",
    "approve accept confirm resolve complete finish close",
    "reject decline deny unapprove reopen",
    "lock protect archive freeze",
    "unlock unprotect unarchive restore undo revert rollback",
    "subscribe follow watch star",
    "unsubscribe unfollow unwatch unstar mute",
    "convert translate transform format parse render",
    "compare diff",
    "calculate compute estimate evaluate predict",
    "test validate verify lint",
)


@cache
def _by_stem() -> dict[str, int]:
    found: dict[str, int] = {}
    for deed, line in enumerate(_DEEDS):
        for verb in line.split():
            found[stem(verb)] = found.get(stem(verb), 0) | 1 << deed
    return found


def deeds(stemmed: str) -> int:
    """The kinds of deed that a word can stand for, as bits; 0 when it is no verb of ours."""
    return _by_stem().get(stemmed, 0)
