"""How a kind of page is worded: relations with their sentences and questions, and prose around them."""

from __future__ import annotations

from functools import cache

from assay_worlds.texts import TextEntry, read_texts

# The order decides which questions are drawn.
KEYS = (
    *("person", "team", "service", "product", "project", "vendor", "customer", "policy", "procedure"),
    *("release", "incident", "asset", "course", "site", "committee", "minutes", "memo", "thread"),
)
FILL = "memo"  # the kind that fills what room is left


class Relation(TextEntry, frozen=True):
    """Something that holds of a subject: a value, or another entity.

    Sentences stand for themselves, without their page's title: every one of `states` names {subject} and
    {value}, and {when} where the kind has editions. Questions name the subject as {of}, which may be a name
    or, in a chain, a phrase such as "the owner of Kestrel". `natural` uses some of the words of `states`,
    `paraphrase` as few as somebody who does not know the house's terms would.
    """

    key: str  # "service.region": the kind, then the relation
    states: tuple[str, ...]
    keyword: str
    natural: tuple[str, ...]
    paraphrase: tuple[str, ...]
    gives: str = ""  # the kind of entity that the value is; empty: `value` is drawn
    value: str = ""  # a template
    phrase: str = ""  # "the owner of {of}": lets a chain go on from the value
    listing: str = ""  # "Which services run in {value}?": asks for every subject of a value
    compare: str = ""  # "Which runs longer, {a} or {b}?": asks for the one with the larger number
    section: str = ""  # the heading it stands under

    @property
    def kind(self) -> str:
        """The kind of entity that it holds of."""
        return self.key.partition(".")[0]


class PageKind(TextEntry, frozen=True):
    """A kind of page: each is about one subject, and states its relations among prose."""

    key: str
    noun: tuple[str, str]  # singular, plural: "service", "services"
    titles: tuple[str, ...]  # with {subject}
    prose: tuple[str, ...]
    relations: tuple[Relation, ...] = ()
    names: tuple[str, ...] = ()  # templates of subjects' names, where the organisation has none of its own
    steps: tuple[str, ...] = ()  # sentences, of which several make a paragraph: what to do, in order
    editions: bool = False  # whether there is a page for each of several years, that differ in values


@cache
def kinds() -> dict[str, PageKind]:
    """All kinds of pages, by key."""
    return {key: read_texts(PageKind, __package__, key) for key in KEYS}
