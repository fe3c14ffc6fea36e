"""A language model rewords queries, and rules decide which rewordings are used.

The model sees only the query. It cannot give the answer or the tags away, because it does not see them. Its
replies are stored in `ASSAY_CACHE/rephrased` as they arrive. Therefore nothing is requested twice, and a load
that was killed continues where it stopped. A rewording is used if it has every name, number and quotation of
the query, has no new ones, and does not contain the answer. No rule can check that the meaning is the same:
read a sample before you rely on the rewordings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from assay.core.dataset import digest
from assay.core.endpoint import Client, Endpoint, RequestRefusal
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.retrieval.chat import Chat, Message
from assay.retrieval.words import ENGLISH_STOP_WORDS
from assay.store.disk import UNREADABLE, ArtifactCache, DamagedArtifact
from assay_worlds.suites.leaks import leaks
from assay_worlds.suites.plan import HAND

PROMPT = "rephrase-1.txt"
FEWEST, MOST = 5, 60  # words of a wording
_MOST_TOKENS = 400  # of a reply: 60 words, many of them invented names
_FILE = "said.txt"


class QueryWording(NamedTuple):
    """The text of a query, its answer (which a rewording must not contain), and its tags."""

    text: str
    answer: Sequence[str] = ()
    tags: Sequence[str] = ()
    stays: str = ""  # why the query is not reworded; empty: it is reworded


class Rewording(NamedTuple):
    """The text that is used. If the original text was kept, `reason` says why."""

    text: str
    kept: bool
    reason: str = ""


class Rephrase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model that rewords queries, behind any service with OpenAI's chat protocol.

    `key` is best written `${OPENAI_API_KEY}`; a local server may need no key. The fields of `extra` are added
    to the request; a field that is null is removed from it. Prices are per million tokens. `threads` is the
    number of queries that may be in flight at once.
    """

    url: str
    model: str = ""  # empty: the only model of the service
    key: str = ""
    retries: int = 3
    timeout: float = 60.0
    extra: dict[str, Any] = {}
    price_in: float = 0.0
    price_out: float = 0.0
    threads: int = 4
    backoff: float = 0.5

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise UsageError(f"threads is {self.threads}. It must be at least 1.")
        for name in ("price_in", "price_out"):
            if not 0 <= (value := getattr(self, name)) < math.inf:
                raise UsageError(f"{name} is {value:g}. It must be a number, 0 or more.")
        _ = self.endpoint  # checks address, key and patience

    def __repr__(self) -> str:
        return f"Rephrase({self.endpoint.identity!r}, {self.model!r})"  # no secret is in it

    @property
    def endpoint(self) -> Endpoint:
        price = self.price_in + self.price_out  # only whether there is one counts: `Chat` works out how much
        return Endpoint(self.url, self.key, self.timeout, self.retries, self.backoff, price)

    def applied(self, items: Sequence[Item], kit: Kit) -> tuple[list[Item], list[str]]:
        """Returns the items with reworded texts, and a summary of the changes.

        Items that people worded are not changed.
        """
        wordings = [_wording(item) for item in items]
        found = self.rewritten(wordings, kit)
        pairs = zip(items, found, strict=True)
        return [replace(item, text=each.text) for item, each in pairs], self.summarize(wordings, found)

    def rewritten(self, texts: Sequence[QueryWording], kit: Kit) -> list[Rewording]:
        """Returns the text to use for each query, in order. No two queries get the same text."""
        said = self._said([each.text for each in texts if not each.stays], kit)
        taken = {_plain(each.text) for each in texts}
        found = []
        for wording in texts:
            new = _unquoted(said.get(wording.text, ""))
            reason = wording.stays or fault(wording, new)
            if not reason and _plain(new) in taken:
                reason = "another query has that wording"
            if not reason:
                taken.add(_plain(new))
            found.append(Rewording(wording.text if reason else new, bool(reason), reason))
        return found

    def summarize(self, texts: Sequence[QueryWording], found: Sequence[Rewording]) -> list[str]:
        """Counts the queries that were reworded and those that were not, with reasons and tags."""
        kept = Counter(each.reason.partition(":")[0] for each in found if each.kept)
        who = f"{self.model or 'The model'} at {self.endpoint.address}"
        count = f"{len(found) - kept.total()} of {len(found)} queries; {kept.total()} kept their wording"
        why = ", ".join(f"{reason} ({times})" for reason, times in kept.most_common())
        lines = [f"{who} rephrased {count}{': ' * bool(why)}{why}."]
        both = [(tag, each.kept) for words, each in zip(texts, found, strict=True) for tag in words.tags]
        every, new = Counter(tag for tag, _ in both), Counter(tag for tag, same in both if not same)
        tags = ", ".join(f"{tag} {new[tag]} of {times}" for tag, times in sorted(every.items()))
        return [*lines, f"Rephrased by tag: {tags}."] if tags else lines

    def _said(self, texts: Iterable[str], kit: Kit) -> dict[str, str]:
        """Returns the model's reply to each text, from the store if it is there, otherwise from the model."""
        shelf = ArtifactCache(kit.cache / "rephrased")
        keys = {text: self._key(text) for text in texts}
        kept = {text: shelf.read(key, _kept) for text, key in keys.items()}
        said = {text: words for text, words in kept.items() if words is not None}
        new = {text: key for text, key in keys.items() if text not in said}
        return said | self._ask_all(new, shelf, kit) if new else said

    def _ask_all(self, new: Mapping[str, str], shelf: ArtifactCache, kit: Kit) -> dict[str, str]:
        """Requests the model's replies to new texts. `new` maps each text to its key in the store."""
        found: dict[str, str] = {}
        client = self.endpoint.open(clock=kit.clock)
        kit.progress("rephrasing", 0, len(new))
        with ThreadPoolExecutor(self.threads) as pool:
            ask = partial(self._ask, client, shelf, kit)
            coming = {pool.submit(ask, text, key): text for text, key in new.items()}
            try:
                for future in as_completed(coming):
                    found[coming[future]] = future.result()
                    kit.progress("rephrasing", len(found), len(new))
            except (Retryable, RequestRefusal) as error:
                fix = "What was rephrased is kept. Leave out `rephrase` to ask the queries as they are."
                raise SystemFailure(f"Not all queries could be rephrased. {error} {fix}") from error
            finally:  # after a failure, requests that have not begun are cancelled to save their price
                pool.shutdown(wait=False, cancel_futures=True)
        return found

    def _ask(self, client: Client, shelf: ArtifactCache, kit: Kit, text: str, key: str) -> str:
        said = client.post(Chat.PATH, self._request(text), partial(self._read, text, kit))
        shelf.put(key, partial(_write, said))
        return said

    def _read(self, text: str, kit: Kit, answer: Any) -> str:
        """Returns the reply of the model. An empty reply is stored too, because it would be empty again."""
        said = self._chat.parse_reply(_messages(text), answer)
        kit.pay(said.cost)
        return said.text or ""

    @property
    def _chat(self) -> Chat:
        return Chat(self.endpoint, self.model, self.price_in, self.price_out, self.extra)

    def _request(self, text: str) -> dict[str, Any]:
        return self._chat.request(_messages(text), temperature=0.0, max_tokens=_MOST_TOKENS, seed=1)

    def _key(self, text: str) -> str:
        """Returns the key of a stored reply, made of service, model, prompt and text."""
        sent = msgspec.json.encode(self._request(text), order="sorted")
        return digest([self.endpoint.identity.encode(), sent])


def _wording(item: Item) -> QueryWording:
    answer = item.gold.get("answer") or ()
    stays = "worded by hand" if HAND in item.values("origin") else ""
    return QueryWording(item.text, [answer] if isinstance(answer, str) else answer, item.values("tag"), stays)


def _messages(text: str) -> list[Message]:
    return [{"role": "system", "content": _rules()}, {"role": "user", "content": text}]


@cache
def _rules() -> str:
    return (files("assay_worlds.suites") / "prompts" / PROMPT).read_text(encoding="utf-8").strip()


def _kept(folder: Path) -> str:
    try:
        return (folder / _FILE).read_text(encoding="utf-8")
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error


def _write(said: str, folder: Path) -> None:
    (folder / _FILE).write_bytes(said.encode("utf-8", "replace"))  # half a character can be stored nowhere


# ------------------------------------------------------------------------------------ the checks

_TOKEN = re.compile(r"\w+(?:[-.,/:@+#&'’]\w+)*")  # INC-2041, 4.3, 196,000, relay-mirror, isn't
_OWNER = re.compile(r"['’]s?$")
_PIECE = re.compile(r"[^\W_]+")
_BEGINS = re.compile(r"(?:^|[.?!:;]\s)[\W_]*$")  # what comes before the first word of a sentence
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|‘([^’]+)’|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_QUOTES = ('""', "“”", "''", "‘’", "``", "«»")
_CHATTER = re.compile(
    r"(?:sure|certainly|of course|okay|ok|absolutely|sorry|unfortunately|as an ai)\b|i(?: a|['’])m sorry"
    r"|i (?:cannot|can['’]t) (?:help|assist|provide|answer)|here(?: is|['’]s| are)\b"
    r"|[\w ]{0,40}\b(?:rephras|reword|rewrit|paraphras)[\w ]*:|(?:question|query|answer|output)\s*:",
    re.IGNORECASE,
)
_REQUESTS = "compare describe draw explain find give i list name please put show tell trace walk we"
_ASKING = frozenset(_REQUESTS.split())
# How a query may begin besides. A word too few here keeps a wording as it was.
_OTHERS = "before between both complete during each every everything look need since somebody two under"
_OPENERS = _ASKING.union(_OTHERS.split(), ENGLISH_STOP_WORDS)


def fault(wording: QueryWording, new: str) -> str:
    """Says why a rewording is refused, with the words that cause it; empty if it may be used."""
    if not new:
        return "nothing was said"
    if "\n" in new:
        return "more than one line"
    if _CHATTER.match(new):
        return "talk around it"
    if not FEWEST <= (count := len(new.split())) <= MOST:
        return f"not {FEWEST} to {MOST} words: {count}"
    if _plain(new) == _plain(wording.text):
        return "the same wording"
    if gone := [each for each in fixed(wording.text) if not leaks(new, [each])]:
        return f"a name or number is gone: {', '.join(gone)}"
    if "?" not in new and _plain(new).partition(" ")[0] not in _ASKING:
        return "it asks nothing"
    if added := dict.fromkeys(_added(wording.text, new)):
        return f"a name or number was added: {', '.join(added)}"
    return "the answer is in it" if leaks(new, wording.answer) else ""


def fixed(text: str) -> list[str]:
    """Returns what every rewording must contain: the query's names, numbers, identifiers and quotations.

    Names, numbers and identifiers are recognised by a digit, a hyphen, an underscore, or a capital that does
    not begin a sentence. The first word of a sentence counts too, unless questions usually begin with this
    word. A single letter belongs to the word before it: "grade A".
    """
    found, before = ["".join(match.groups("")).strip() for match in _QUOTED.finditer(text)], ""
    for match in _TOKEN.finditer(text):
        token = _OWNER.sub("", match[0])
        joined = _numbered(token) or any(sign in token for sign in "-_")
        if joined or (_capital(token) and not _opens(text, match)):
            found.append(f"{before} {token}" if len(token) == 1 and token.isalpha() and before else token)
        before = token
    return list(dict.fromkeys(filter(None, found)))


def _added(text: str, new: str) -> Iterator[str]:
    """Yields names and numbers of a rewording that the query does not have."""
    known = set(_plain(text).split())
    for match in _PIECE.finditer(new):
        named = _numbered(match[0]) or (_capital(match[0]) and not _begins(new, match))
        if named and match[0].casefold() not in known:
            yield match[0]


def _numbered(token: str) -> bool:
    return any(sign.isdigit() for sign in token)


def _capital(token: str) -> bool:
    """Whether a word is capitalised like a name ("I" is not a name)."""
    return any(sign.isupper() for sign in token) and re.split("['’]", token)[0] != "I"


def _opens(text: str, match: re.Match[str]) -> bool:
    """Whether a word is capitalised only because it begins a sentence."""
    word = re.split("['’]", match[0])[0]
    return word.istitle() and word.lower() in _OPENERS and _begins(text, match)


def _begins(text: str, match: re.Match[str]) -> bool:
    return _BEGINS.search(text[: match.start()]) is not None


def _plain(text: str) -> str:
    return " ".join(_PIECE.findall(text)).casefold()


def _unquoted(said: str) -> str:
    """Returns a reply without blank lines and without quotation marks around it."""
    text = "\n".join(" ".join(line.split()) for line in said.splitlines() if line.strip())
    inside = text[1:-1]
    whole = text[:1] + text[-1:] in _QUOTES and not set(text[:1] + text[-1:]) & set(inside)
    return inside.strip() if whole else text
