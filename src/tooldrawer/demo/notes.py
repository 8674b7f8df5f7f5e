"""Notes kept in memory, with tags, pins, an archive and links between them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from threading import Lock
from typing import Literal

from tooldrawer.functions import Function, FunctionToolset

EXCERPT_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteDraft:
    """What is needed to write one note."""

    title: str
    body: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note as it stands; a change makes a new record with the same number."""

    note_id: int
    title: str
    body: str
    tags: tuple[str, ...]
    links: tuple[int, ...]
    pinned: bool
    archived: bool
    created: str
    updated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMatch:
    """One hit of a search: which note it is and the text around the hit."""

    note_id: int
    title: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLinks:
    """The notes that one note points at, and the notes that point at it."""

    links_to: list[str]
    linked_from: list[str]


class Notes:
    """A notebook whose public methods are tools."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._notes: dict[int, Note] = {}
        self._ids = count(1)
        self._lock = Lock()

    def create_note(
        self, title: str, body: str = "", tags: list[str] | None = None, *, pinned: bool = False
    ) -> Note:
        """Write a new note and return it with its number.

        Args:
            title: A short headline for the note; it must not be empty.
            body: The text of the note, as markdown.
            tags: Words to file the note under, such as "travel".
            pinned: Whether the note stays at the top of the list.
        """
        note = self._new(NoteDraft(title=title, body=body, tags=tuple(tags or ())), pinned=pinned)
        self._notes[note.note_id] = note
        return note

    def import_notes(self, drafts: list[NoteDraft]) -> list[Note]:
        """Write several new notes at once; none is written when one of them is wrong.

        Args:
            drafts: The notes to write, each with a title and perhaps a body and tags.
        """
        notes = [self._new(draft) for draft in drafts]
        self._notes.update((note.note_id, note) for note in notes)
        return notes

    def show_note(self, note_id: int) -> Note:
        """Return one note with its full text, tags and links.

        Args:
            note_id: The number of the note.
        """
        note = self._notes.get(note_id)
        if note is None:
            raise ValueError(f"There is no note {note_id}. List them with list_notes.")
        return note

    def list_notes(
        self,
        tag: str | None = None,
        sort_by: Literal["updated", "created", "title"] = "updated",
        limit: int = 20,
        *,
        include_archived: bool = False,
    ) -> list[Note]:
        """List notes, pinned ones first, then newest first or by title.

        Args:
            tag: Only notes with this tag.
            sort_by: What to sort by: the last change, the creation, or the title.
            limit: How many notes to return at most.
            include_archived: Whether archived notes are listed too.
        """
        wanted = None if tag is None else tag.strip().lower()
        chosen = [
            note
            for note in self._all()
            if (include_archived or not note.archived) and (wanted is None or wanted in note.tags)
        ]
        if sort_by == "title":
            chosen.sort(key=lambda note: note.title.lower())
        else:
            chosen.sort(key=lambda note: (getattr(note, sort_by), note.note_id), reverse=True)
        chosen.sort(key=lambda note: not note.pinned)
        return chosen[: max(limit, 0)]

    def search_notes(self, query: str, limit: int = 10) -> list[NoteMatch]:
        """Find the notes, archived ones too, that hold every word of a query; title hits first.

        Args:
            query: Words to look for in titles, bodies and tags, in any case.
            limit: How many hits to return at most.
        """
        words = _required(query, "query").lower().split()
        hits = [note for note in self._all() if _holds(note, words)]
        hits.sort(key=lambda note: -sum(word in note.title.lower() for word in words))
        return [
            NoteMatch(note_id=note.note_id, title=note.title, excerpt=_excerpt(note.body, words[0]))
            for note in hits[: max(limit, 0)]
        ]

    def list_note_tags(self) -> dict[str, int]:
        """Return each tag in use with the number of notes that carry it, most used first."""
        counts = Counter(tag for note in self._all() for tag in note.tags)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def list_note_links(self, note_id: int) -> NoteLinks:
        """Return the notes a note links to and the notes that link back to it.

        Args:
            note_id: The number of the note.
        """
        note = self.show_note(note_id)
        sources = [other for other in self._all() if note_id in other.links]
        return NoteLinks(
            links_to=[_caption(self._notes[target]) for target in note.links],
            linked_from=[_caption(source) for source in sources],
        )

    def export_notes(self, tag: str | None = None, *, include_archived: bool = False) -> str:
        """Return notes as one markdown document, in the order of their numbers.

        Args:
            tag: Only notes with this tag.
            include_archived: Whether archived notes are exported too.
        """
        chosen = self.list_notes(tag, limit=len(self._notes), include_archived=include_archived)
        if not chosen:
            raise ValueError("No note fits, so there is nothing to export. See list_note_tags.")
        chosen.sort(key=lambda note: note.note_id)
        return "\n\n".join(_markdown(note) for note in chosen) + "\n"

    def edit_note(self, note_id: int, title: str | None = None, body: str | None = None) -> Note:
        """Replace the title or the body of a note; what is left out stays as it is.

        Args:
            note_id: The number of the note.
            title: The new title.
            body: The new text, which replaces the old text in full.
        """
        if title is None and body is None:
            raise ValueError("Nothing to change: give a new title, a new body, or both.")
        return self._change(
            note_id,
            lambda note: replace(
                note,
                title=note.title if title is None else _required(title, "title"),
                body=note.body if body is None else body,
            ),
        )

    def append_to_note(
        self, note_id: int, text: str, style: Literal["paragraph", "bullet", "task"] = "paragraph"
    ) -> Note:
        """Add text at the end of a note.

        Args:
            note_id: The number of the note.
            text: The text to add.
            style: How the text is added: as a paragraph, a list item or an open task.
        """
        mark = {"paragraph": "", "bullet": "- ", "task": "- [ ] "}[style]
        gap = "\n" if mark else "\n\n"
        added = mark + _required(text, "text")
        return self._change(
            note_id, lambda note: replace(note, body=f"{note.body}{gap}{added}".lstrip("\n"))
        )

    def tag_note(self, note_id: int, tags: list[str]) -> Note:
        """Add tags to a note; tags it already has stay.

        Args:
            note_id: The number of the note.
            tags: The tags to add.
        """
        return self._change(
            note_id, lambda note: replace(note, tags=_clean_tags([*note.tags, *tags]))
        )

    def untag_note(self, note_id: int, tags: list[str]) -> Note:
        """Take tags off a note.

        Args:
            note_id: The number of the note.
            tags: The tags to take off; each must be on the note.
        """
        return self._change(note_id, lambda note: _untagged(note, _clean_tags(tags)))

    def pin_note(self, note_id: int, *, pinned: bool = True) -> Note:
        """Pin a note to the top of the list, or unpin it.

        Args:
            note_id: The number of the note.
            pinned: True to pin the note, false to unpin it.
        """
        return self._change(note_id, lambda note: replace(note, pinned=pinned))

    def archive_note(self, note_id: int) -> Note:
        """Put a note away: it leaves the list but can still be searched and restored.

        Args:
            note_id: The number of the note.
        """
        return self._change(note_id, lambda note: replace(note, archived=True, pinned=False))

    def restore_note(self, note_id: int) -> Note:
        """Bring an archived note back into the list.

        Args:
            note_id: The number of the archived note.
        """
        if not self.show_note(note_id).archived:
            raise ValueError(f"Note {note_id} is not archived, so there is nothing to restore.")
        return self._change(note_id, lambda note: replace(note, archived=False))

    def link_notes(self, source_id: int, target_id: int) -> Note:
        """Link one note to another and return the note that now holds the link.

        Args:
            source_id: The number of the note that gets the link.
            target_id: The number of the note it points at.
        """
        if source_id == target_id:
            raise ValueError("A note cannot link to itself: give two different numbers.")
        target = self.show_note(target_id).note_id
        return self._change(
            source_id, lambda note: replace(note, links=tuple(dict.fromkeys((*note.links, target))))
        )

    def merge_notes(self, note_ids: list[int], title: str) -> Note:
        """Write one note from the texts and tags of several notes, and archive those notes.

        Args:
            note_ids: The numbers of at least two notes, in the order of their texts.
            title: The title of the merged note.
        """
        if len(set(note_ids)) < 2 or len(set(note_ids)) < len(note_ids):
            raise ValueError("Give the numbers of at least two notes, each number once.")
        parts = [self.show_note(note_id) for note_id in note_ids]
        body = "\n\n".join(f"## {part.title}\n\n{part.body}".rstrip() for part in parts)
        merged = self.create_note(title, body, [tag for part in parts for tag in part.tags])
        for part in parts:
            self.archive_note(part.note_id)
        return merged

    def delete_note(self, note_id: int) -> str:
        """Delete a note for good, with all links to it; archive_note keeps it instead.

        Args:
            note_id: The number of the note.
        """
        with self._lock:
            note = self.show_note(note_id)
            del self._notes[note_id]
            for other in self._all():
                kept = tuple(target for target in other.links if target != note_id)
                self._notes[other.note_id] = replace(other, links=kept)
        return f"Deleted note {_caption(note)}."

    def _new(self, draft: NoteDraft, *, pinned: bool = False) -> Note:
        moment = self._moment()
        return Note(
            title=_required(draft.title, "title"),
            body=draft.body,
            tags=_clean_tags(draft.tags),
            links=(),
            pinned=pinned,
            archived=False,
            created=moment,
            updated=moment,
            note_id=next(self._ids),
        )

    def _change(self, note_id: int, change: Callable[[Note], Note]) -> Note:
        with self._lock:
            changed = replace(change(self.show_note(note_id)), updated=self._moment())
            self._notes[note_id] = changed
        return changed

    def _all(self) -> list[Note]:
        return list(self._notes.values())

    def _moment(self) -> str:
        return self._now().isoformat(timespec="seconds")


def _required(text: str, name: str) -> str:
    if not text.strip():
        raise ValueError(f"The {name} is empty: give some text.")
    return text.strip()


def _clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_required(tag, "tag").lower() for tag in tags))


def _untagged(note: Note, unwanted: tuple[str, ...]) -> Note:
    missing = [tag for tag in unwanted if tag not in note.tags]
    if missing:
        present = ", ".join(note.tags) or "none"
        raise ValueError(f"Note {note.note_id} has no tag {missing[0]!r}. Its tags: {present}.")
    return replace(note, tags=tuple(tag for tag in note.tags if tag not in unwanted))


def _caption(note: Note) -> str:
    return f"{note.note_id}: {note.title}"


def _holds(note: Note, words: list[str]) -> bool:
    text = " ".join((note.title, note.body, *note.tags)).lower()
    return all(word in text for word in words)


def _excerpt(body: str, word: str) -> str:
    flat = " ".join(body.split())
    start = max(flat.lower().find(word) - EXCERPT_LENGTH // 2, 0)
    piece = flat[start : start + EXCERPT_LENGTH]
    before = "..." if start else ""
    after = "..." if start + EXCERPT_LENGTH < len(flat) else ""
    return f"{before}{piece}{after}"


def _markdown(note: Note) -> str:
    tags = " ".join(f"#{tag}" for tag in note.tags)
    return "\n\n".join(part for part in (f"# {note.title}", tags, note.body) if part)


def toolset(notes: Notes) -> FunctionToolset:
    """Offer the notebook's methods as tools."""
    return FunctionToolset(
        "notes",
        [
            Function(notes.create_note),
            Function(notes.import_notes),
            Function(notes.show_note, read_only=True),
            Function(notes.list_notes, read_only=True),
            Function(notes.search_notes, read_only=True),
            Function(notes.list_note_tags, read_only=True),
            Function(notes.list_note_links, read_only=True),
            Function(notes.export_notes, read_only=True),
            Function(notes.edit_note),
            Function(notes.append_to_note),
            Function(notes.tag_note),
            Function(notes.untag_note),
            Function(notes.pin_note),
            Function(notes.archive_note),
            Function(notes.restore_note),
            Function(notes.link_notes),
            Function(notes.merge_notes),
            Function(notes.delete_note, destructive=True),
        ],
    )
