"""What rules would say of a response: does it refuse, does it deal with every part, does it cite?

Rules see words, not meaning. They point at what a person should look at twice; hallucinations they cannot
see at all, and no rule speaks of them. The words are English.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.kinds.answers.blinding.pack import GoldQuestion
from assay.kinds.answers.scoring.guidance import SYNTHESIS
from assay.kinds.answers.scoring.rubric import ACCURACY, CITATION, COMPLETENESS, NOT_APPLICABLE
from assay.retrieval.tokens import sentence_spans
from assay.retrieval.words import ENGLISH, stems_of

RULE = "rule"  # who suggests it
BESIDE = (
    20  # words outside the sentences that refuse: with more of them it is an answer that leaves a part out
)
SHARE = 0.25  # of the words of a part that have to be there before it counts as mentioned

_MATERIAL = (
    r"(?:content|context|documents?|documentation|docs|information|material|page|passages?|source|text)"
)
_REFUSING = re.compile(
    r"\b(?:I|we) (?:do not|don['’]t) (?:have|know|see|find)\b"
    r"|\b(?:cannot|can['’]t|could not|couldn['’]t|(?:am |is |was )?(?:not able|unable) to) "
    r"(?:be )?(?:answer|determine|find|provide|say|tell)"
    r"|\b(?:not enough|insufficient|no) (?:context|information|details?)\b"
    rf"|\b{_MATERIAL}\b[^.]{{0,40}}\b(?:does not|doesn['’]t|do not|don['’]t)\b (?:\w+ )?"
    r"(?:contain|cover|describe|include|mention|provide|say|specify|state)"
    r"|\b(?:is|are) not (?:\w+ )?"
    r"(?:available|covered|described|included|mentioned|provided|specified|stated)\b",
    re.IGNORECASE,
)
_TASK = """
    advantages analyse analyze benefits compare constraints describe difference differences discuss examples
    explain give identify implications including key list main name outline primary purpose relationship role
    roles specific summarise summarize trade offs two three used using work works
"""
_SAYING_NOTHING = (*ENGLISH, *_TASK.split())  # of what an answer to the part has to speak of
_PREAMBLE = re.compile(r"(?:according|as|for|in|on|per|under|when|with|within)\b", re.IGNORECASE)
_NEXT_PART = re.compile(
    r"[?;]|[,.]? (?:and|but|including)? ?(?=\b(?:what|how|why|which|when|where|who|whether|under what)\b)"
    r"|, (?:and|including) ",
    re.IGNORECASE,
)
_ASKED_BY_SOURCE = re.compile(
    r"\baccording to\b"
    r"|\bas (?:\w+ )?(?:described|defined|documented|explained|listed|noted|outlined|stated|specified)\b"
    r"|\b(?:described|documented|listed|stated|named|mentioned) (?:in|by|on) the\b"
    rf"|\b(?:{_MATERIAL}|guide|reference|section|tutorial|quick ?start)\b[^.?]{{0,40}}"
    r"\b(?:say|describe|explain|indicate|list|mention|name|note|recommend|specify|state)s?\b",
    re.IGNORECASE,
)
_PLACE = r"(?:article|chapter|FAQ|guide|overview|page|quick ?start|reference|section|tutorial)"
_CITING = re.compile(
    r"\b(?:according to"
    r"|as (?:\w+ )?(?:described|documented|explained|listed|noted|outlined|stated|shown) (?:in|by|on)"
    r"|source:)\s+(?P<told>[^.,;:()\n]{2,80})"
    rf"|\b(?P<place>(?:[\w&/'’-]+ ){{1,6}}{_PLACE})\b (?:\w+ )?"
    r"(?:covers|describes|explains|lists|notes|says|states)\b"
    rf"|\b(?:in|under|from|on|per|see|based on) (?P<under>the (?:[\w&/'’-]+ ){{0,5}}{_PLACE})\b",
    re.IGNORECASE,
)
_NAMING_ALL = """
    content context document documents documentation docs information material passage passages source sources
    text website
"""
_NAMING_NOTHING = """
    a an the this that these its their your our above available given official provided shown site supplied
"""
_WHOLE, _BESIDE = frozenset(_NAMING_ALL.split()), frozenset(_NAMING_NOTHING.split())


class RuleSuggestion(NamedTuple):
    """What a rule says and why; None: it has something to say, but no grade."""

    value: str | None
    reason: str


def suggest_by_rule(step: str, asked: GoldQuestion, text: str) -> RuleSuggestion | None:
    """What a rule would say of a response in a pass; None where there is no rule for it."""
    rules = {ACCURACY: _accuracy, COMPLETENESS: _completeness, CITATION: _citation}
    return rules[step](asked, text) if step in rules else None


# ------------------------------------------------------------------------------------- refusals


def refusing(text: str) -> list[str]:
    """The sentences in which a response says that it does not know."""
    return [sentence for sentence in _sentences(text) if _REFUSING.search(sentence)]


def refuses(text: str) -> bool:
    """Whether it says so and hardly anything else."""
    said = refusing(text)
    return bool(said) and len(text.split()) - sum(len(each.split()) for each in said) < BESIDE


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


def _accuracy(asked: GoldQuestion, text: str) -> RuleSuggestion:
    if refuses(text) and not refusing(
        asked.gold
    ):  # where the reference says that nobody knows, that is right
        return RuleSuggestion("0", f"it reads like a refusal: “{refusing(text)[0]}”")
    return RuleSuggestion(None, "it does not read like a refusal; rules see no more than that")


# --------------------------------------------------------------------------------- completeness


def parts_of(question: str) -> list[str]:
    """The things that a question asks for, as far as its commas and question words tell them apart."""
    found = [part.strip(" ,.?") for part in _NEXT_PART.split(question)]
    parts = [part for part in found if any(stems_of([part], _SAYING_NOTHING))]
    return parts[1:] if len(parts) > 1 and _PREAMBLE.match(parts[0]) else parts


def unmentioned(asked: GoldQuestion, text: str) -> list[str]:
    """The parts of a question, and the source sections of one that spans several, that no words speak of."""
    several = asked.complexity == SYNTHESIS and len(asked.sections) > 1
    parts, sections = parts_of(asked.text), asked.sections if several else []
    if len(parts) == 1 and not sections and _shared(asked.gold, text):
        return []  # a short answer to one thing repeats the reference rather than the question
    said, *stems = (set(each) for each in stems_of([text, *parts, *sections], _SAYING_NOTHING))
    least = [*[SHARE] * len(parts), *[0.0] * len(sections)]  # a section's heading often says little of it
    return [
        part
        for part, words, share in zip([*parts, *sections], stems, least, strict=True)
        if words and len(words & said) <= share * (len(words) - 1)
    ]


def _shared(one: str, other: str) -> bool:
    """Whether two texts have a word in common that says something."""
    ours, theirs = (set(each) for each in stems_of([one, other], _SAYING_NOTHING))
    return bool(ours & theirs)


def _completeness(asked: GoldQuestion, text: str) -> RuleSuggestion:
    if (unknown := refusing(text)) and not refusing(asked.gold):
        return RuleSuggestion("0", f"it says that it does not know: “{unknown[0]}”")
    if missing := unmentioned(asked, text):
        return RuleSuggestion("0", f"hardly a word on: {'; '.join(missing)}")
    return RuleSuggestion("1", "words of every part of the question are in it")


# ------------------------------------------------------------------------------------ citations


def asks_by_source(question: str) -> bool:
    """Whether a question asks what a source says."""
    return _ASKED_BY_SOURCE.search(question) is not None


def citations(text: str) -> list[str]:
    """The places that a response names, in its words; those too vague to be looked up are not among them."""
    found = ((each["told"] or each["place"] or each["under"]).strip() for each in _CITING.finditer(text))
    return [place for place in dict.fromkeys(found) if not _vague(place)]


def _vague(place: str) -> bool:
    """Whether nothing could be looked up there: a whole documentation, or no name at all."""
    words = re.findall(r"[\w'’-]+", place)
    small = {word.casefold() for word in words}
    if found := re.search(rf"\b{_PLACE}\b", place, re.IGNORECASE):
        return not small - _BESIDE - _WHOLE - {found[0].casefold()}
    return bool(small & _WHOLE) or not any(word[0].isupper() for word in words)


def _citation(asked: GoldQuestion, text: str) -> RuleSuggestion:
    if found := citations(text):
        return RuleSuggestion(
            None, f"it cites {', '.join(f'“{each}”' for each in found)}: look each of them up"
        )
    if asks_by_source(asked.text):
        return RuleSuggestion(
            "0", "the question asks by a source, and no place is named that could be looked up"
        )
    return RuleSuggestion(NOT_APPLICABLE, "the question asks by no source, and no place is named")
