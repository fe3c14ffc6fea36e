"""Five kinds of misleading pages. Each kind is meant to break something else.

The pages are added to the first stage of any corpus, generated or real.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from assay_worlds.organisation.documents import PageDraft, PageParagraph, Sentence
from assay_worlds.template import capital, render, say
from assay_worlds.texts import TextEntry, read_texts
from assay_worlds.workplace.directory import FILL, Directory, kinds
from assay_worlds.workplace.facts import Atom
from assay_worlds.workplace.names import words
from assay_worlds.workplace.pages import Slots, fill

NEAR_DUPLICATE, CONTRADICTION = "near_duplicate", "contradiction"
BURIED, COLLISION, SYNONYM = "buried_identifier", "entity_collision", "long_tail_synonym"
BREAKS = {
    NEAR_DUPLICATE: "vectors and deduplication: pages that differ in one letter look the same",
    CONTRADICTION: "anything that takes the best match: only the year says which version holds",
    BURIED: "summaries and chunk vectors: the identifier is one word in a paragraph about something else",
    COLLISION: "routing by name: one name stands for several things, in several branches",
    SYNONYM: "matching by words or meaning: the page uses a word that only a glossary explains",
}
LOAN, RULE, SHELF, WEIGHT = "loan.form", "rule.value", "crate.shelf", "crate.weight"
EXTENSION, MEANS, MEASURE = "bearer.extension", "term.means", "term.value"
GROUPS = 34  # groups per injector
YEARS = ("2018", "2020", "2022", "2024")


class OfficeRule(TextEntry, frozen=True):
    """A rule that has a number at every office."""

    name: str
    unit: str  # with {value}
    low: int
    high: int  # the first number above


class InjectedTexts(TextEntry, frozen=True):
    """The texts of misleading pages, and of the questions on these pages."""

    notice_titles: tuple[str, ...]
    things: tuple[str, ...]
    letters: tuple[str, ...]
    loans: tuple[str, ...]
    loan_prose: tuple[str, ...]
    loan_questions: tuple[str, ...]
    rules: tuple[OfficeRule, ...]
    versions: tuple[str, ...]
    version_questions: tuple[str, ...]
    buried: tuple[str, ...]
    buried_questions: tuple[str, ...]
    weighed: tuple[str, ...]
    weighed_questions: tuple[str, ...]
    bearers: tuple[str, ...]
    collisions: tuple[str, ...]
    collision_questions: tuple[str, ...]
    meanings: tuple[OfficeRule, ...]
    glossary_titles: tuple[str, ...]
    glossary: tuple[str, ...]
    glossed: tuple[str, ...]
    glossed_questions: tuple[str, ...]


@cache
def injected_texts() -> InjectedTexts:
    return read_texts(InjectedTexts, __package__, "injected")


class InjectedGroup(NamedTuple):
    """Pages that mislead together, and the data for questions on these pages."""

    injector: str
    atoms: tuple[Atom, ...]
    drafts: tuple[PageDraft, ...]
    named: dict[str, str]  # the values that the whole group shares, by slot name of its questions


def injections(directory: Directory) -> list[InjectedGroup]:
    """Makes all groups of all injectors."""
    makers = (_near_duplicates, _contradictions, _buried, _collisions, _synonyms)
    return [group for maker in makers for group in maker(directory)]


def _near_duplicates(directory: Directory) -> Iterator[InjectedGroup]:
    rng, texts = directory.rng("near duplicates"), injected_texts()
    pairs = rng.sample([(thing, office) for thing in texts.things for office in _offices(directory)], GROUPS)
    for number, (thing, office) in enumerate(pairs):
        template, around = rng.choice(texts.loans), rng.sample(texts.loan_prose, 3)
        code, place = rng.randint(100, 999), rng.randint(0, 3)
        atoms, drafts = [], []
        for letter in texts.letters:
            value = f"LN-{letter}{code}"
            slots = {"letter": letter, "thing": thing, "office": office, "value": value}
            atom = Atom(LOAN, f"grade {letter} {thing} at the {office} office", value)
            sentences = [Sentence(each) for each in around]
            sentences.insert(place, Sentence(render(template, rng, slots), atom))
            atoms.append(atom)
            drafts.append(_notice(f"loan-{number:03d}-{letter.lower()}", directory, sentences))
        yield InjectedGroup(NEAR_DUPLICATE, tuple(atoms), tuple(drafts), {"thing": thing, "office": office})


def _contradictions(directory: Directory) -> Iterator[InjectedGroup]:
    rng, texts = directory.rng("contradictions"), injected_texts()
    pairs = rng.sample([(rule, office) for rule in texts.rules for office in _offices(directory)], GROUPS)
    for number, (office_rule, office) in enumerate(pairs):
        rule, numbers = office_rule.name, rng.sample(range(office_rule.low, office_rule.high), len(YEARS))
        values = [office_rule.unit.format(value=each) for each in numbers]
        atoms, drafts = [], []
        for version, (when, value) in enumerate(zip(YEARS, values, strict=True)):
            text = say(rng, texts.versions, when=when, rule=rule, office=office, value=value)
            atom = Atom(RULE, f"{rule} at the {office} office", value, when)
            atoms.append(atom)
            sentences = _hide_among(directory, Sentence(capital(text), atom), 3, f"rule {number} {when}")
            drafts.append(_notice(f"rule-{number:03d}-{version}", directory, sentences, when))
        yield InjectedGroup(CONTRADICTION, tuple(atoms), tuple(drafts), {"rule": rule, "office": office})


def _buried(directory: Directory) -> Iterator[InjectedGroup]:
    rng, texts, prose = directory.rng("buried"), injected_texts(), kinds()[FILL].prose
    numbers = rng.sample(range(100_000, 999_999), 2 * GROUPS)
    weights = rng.sample(range(40, 900), 2 * GROUPS)
    for number, (serial, weight) in enumerate(zip(numbers, weights, strict=True)):
        crate = f"{rng.choice('ABCDEFGHKMNPRSTUVWXYZ')}{serial}"
        shelf = f"{rng.choice('EFGHK')}{rng.randint(10, 99)}-{rng.randint(1, 9)}"
        atoms = (Atom(SHELF, crate, shelf), Atom(WEIGHT, crate, f"{weight} kg"))
        drafts = []
        for atom, clauses in zip(atoms, (texts.buried, texts.weighed), strict=True):
            clause = say(rng, clauses, subject=crate, value=atom.value)
            lead = fill(rng.choice(prose), _slots(directory, f"lead {crate} {atom.relation}"))
            sentence = Sentence(f"{lead.rstrip('.!?')}; {clause}.", atom)
            name = f"crate-{number:03d}-{atom.relation.partition('.')[2]}"
            drafts.append(_notice(name, directory, _hide_among(directory, sentence, 8, name)))
        yield InjectedGroup(BURIED, atoms, tuple(drafts), {"subject": crate})


def _collisions(directory: Directory) -> Iterator[InjectedGroup]:
    rng, texts = directory.rng("collisions"), injected_texts()
    invented = words(rng, 2)
    for number in range(GROUPS):
        name = next(invented).capitalize()
        atoms, drafts = list[Atom](), list[PageDraft]()
        for bearer in rng.sample(texts.bearers, rng.randint(2, 4)):
            atom = Atom(EXTENSION, f"{bearer} {name}", str(rng.randint(2000, 9999)))
            text = say(rng, texts.collisions, bearer=bearer, name=name, value=atom.value)
            page = f"name-{number:03d}-{len(atoms)}"
            atoms.append(atom)
            sentences = _hide_among(directory, Sentence(capital(text), atom), 3, page)
            drafts.append(_notice(page, directory, sentences))
        yield InjectedGroup(COLLISION, tuple(atoms), tuple(drafts), {"name": name})


def _synonyms(directory: Directory) -> Iterator[InjectedGroup]:
    rng, texts = directory.rng("synonyms"), injected_texts()
    invented = words(rng, 2)
    meanings = [(meaning, office) for meaning in texts.meanings for office in _offices(directory)]
    pairs = rng.sample(meanings, GROUPS)
    terms = {rule.name: next(invented) for rule in texts.meanings}
    for meaning, term in terms.items():  # one page per word; all groups of the word share it
        text = say(rng, texts.glossary, term=term.capitalize(), meaning=meaning)
        atom = Atom(MEANS, term, meaning)
        page = f"word-{term}"
        sentences = _hide_among(directory, Sentence(text, atom), 2, page)
        draft = _notice(page, directory, sentences, titles=texts.glossary_titles)
        yield InjectedGroup(SYNONYM, (atom,), (draft,), {})
    for number, (rule, office) in enumerate(pairs):
        meaning, term = rule.name, terms[rule.name]
        value = rule.unit.format(value=rng.randrange(rule.low, rule.high))
        text = say(rng, texts.glossed, office=office, term=term, value=value)
        atom = Atom(MEASURE, f"{term} at the {office} office", value)
        page = f"term-{number:03d}"
        draft = _notice(page, directory, _hide_among(directory, Sentence(text, atom), 3, page))
        yield InjectedGroup(SYNONYM, (atom,), (draft,), {"meaning": meaning, "office": office, "term": term})


def _offices(directory: Directory) -> list[str]:
    """Returns the names of the offices of the first stage."""
    return [office.name for office in directory.every("office")[: directory.upto("office", 0)]]


def _slots(directory: Directory, name: str) -> Slots:
    return Slots(directory, 0, directory.rng("injected", name), subject="the matter")


def _hide_among(directory: Directory, sentence: Sentence, around: int, name: str) -> list[Sentence]:
    """Puts a sentence at a random place among `around` unrelated sentences."""
    slots = _slots(directory, name)
    sentences = [
        Sentence(fill(template, slots)) for template in slots.rng.sample(kinds()[FILL].prose, around)
    ]
    sentences.insert(slots.rng.randint(0, around), sentence)
    return sentences


def _notice(
    name: str,
    directory: Directory,
    sentences: Sequence[Sentence],
    year: str = "2025",
    titles: Sequence[str] = (),
) -> PageDraft:
    rng = directory.rng("notice", name)
    metadata = {"kind": "notice", "date": f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"}
    # the name shows what was injected, so that no system may see it
    doc_id = f"notice-{rng.getrandbits(40):010x}"
    title = rng.choice(titles or injected_texts().notice_titles)
    return PageDraft(doc_id, title, metadata, (PageParagraph("Text", tuple(sentences)),))
