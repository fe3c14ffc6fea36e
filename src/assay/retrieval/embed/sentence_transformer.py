"""Text to vectors with the sentence-transformers library: any model it loads, on processor or accelerator."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.errors import UsageError
from assay.core.parts import EmbeddingResult, Role, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.registry import outside_identity
from assay.retrieval.embed.checkpoint import Device, local_or_hub, open_checkpoint, weights_identity
from assay.retrieval.embed.own_tokens import own_tokens

if TYPE_CHECKING:
    import sentence_transformers
    from tokenizers import Encoding

# The prompts of a model that knows one for each role, in the order in which the library looks for them.
_PROMPTS: dict[Role, tuple[str, ...]] = {
    "query": ("query",),
    "passage": ("document", "passage", "corpus"),
}


@dataclass(frozen=True)
class SentenceTransformer:
    """A model of the sentence-transformers library: a local folder, or its name on the Hugging Face hub.

    What is put before queries and passages is what the model's own settings say, unless it is given here.
    """

    model: str
    device: Device | None = None  # None: the library takes the fastest there is
    query_prefix: str | None = None
    passage_prefix: str | None = None
    max_tokens: int | None = None  # what is longer is cut; None: what the model's own settings say
    batch: int = outside_identity(32)
    trust_remote_code: bool = False  # code that comes with the model is run: only for authors you trust
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        for name in ("batch", "max_tokens"):
            if (count := getattr(self, name)) is not None and count < 1:
                raise UsageError(f"{name} is {count}. It must be at least 1.")

    def load(self, kit: Kit) -> SentenceTransformerModel:
        return _load(self, local_or_hub(self.model, kit), self.identity(kit))

    def identity(self, kit: Kit) -> str:
        """The weights and the settings. Not the device: what it changes is taken to be rounding."""
        weights = weights_identity(local_or_hub(self.model, kit))
        decides = [self.max_tokens, self.query_prefix, self.passage_prefix]
        return f"sentence_transformer {self.version} {weights} {msgspec.json.encode(decides).decode()}"


class SentenceTransformerModel:
    """A loaded model. Threads take turns: the library changes its tokenizer while it works."""

    def __init__(
        self, part: SentenceTransformer, model: sentence_transformers.SentenceTransformer, identity: str
    ) -> None:
        self.identity = identity
        self.batch = part.batch * 4  # some to choose from, since the library sorts by length
        self._part, self._model = part, model
        self._prefixes: dict[Role, str] = {
            "query": self._prefix("query", part.query_prefix),
            "passage": self._prefix("passage", part.passage_prefix),
        }
        self._turn = threading.Lock()
        self._dimensions = self._encode(["dimensions"], "passage").shape[1]

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        """A row a text. What a text says beyond the model's length is not seen."""
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        with self._turn:
            encodings = self._encodings(texts, role)
            rows = [row for row, own in enumerate(self._own(encodings, role)) if own.any()]
            if not encodings:  # then only what is blank is known to have no token
                rows = [row for row, text in enumerate(texts) if text.strip()]
            if rows:
                vectors[rows] = normalize_rows(self._encode([texts[row] for row in rows], role))
        return EmbeddingResult(vectors, sum(len(encodings[row].ids) for row in rows) if encodings else 0)

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """The last layer's row of each token of the text itself, as the tokens around it made it."""
        if not texts:
            return []
        with self._turn:
            encodings = self._encodings(texts, role)
            if not encodings:
                raise UsageError(
                    f"{self._part.model!r} does not say which tokens it sees, so it has no vector for each. "
                    "Use another model for that, such as minilm or static."
                )
            states = [each.float().cpu().numpy() for each in self._encode(texts, role, "token_embeddings")]
        # the last rows of each: some models pad on the left
        pairs = zip(states, self._own(encodings, role), strict=True)
        return [normalize_rows(rows[len(rows) - len(own) :][own]) for rows, own in pairs]

    def _prefix(self, role: Role, given: str | None) -> str:
        if given is not None:
            return given
        own = (self._model.prompts[name] for name in _PROMPTS[role] if name in self._model.prompts)
        return next(own, None) or ""

    def _encode(self, texts: Sequence[str], role: Role, output: str = "sentence_embedding") -> Any:
        # Some models have a part for each role; the two methods choose it.
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        return encode(
            list(texts),
            prompt=self._prefixes[role],
            batch_size=self._part.batch,
            output_value=output,
            show_progress_bar=False,
        )

    def _encodings(self, texts: Sequence[str], role: Role) -> Sequence[Encoding]:
        """The tokens that the model is given of each text; none where it has another kind of tokenizer."""
        tokenizer, cut = self._model.tokenizer, self._model.max_seq_length
        if not texts or not getattr(tokenizer, "is_fast", False):
            return ()
        prefixed = [self._prefixes[role] + text for text in texts]
        encoded = tokenizer(prefixed, truncation=cut is not None, max_length=cut)
        encodings: Sequence[Encoding] = encoded.encodings
        return encodings

    def _own(self, encodings: Sequence[Encoding], role: Role) -> list[NDArray[np.bool_]]:
        return [own_tokens(encoding, len(self._prefixes[role])) for encoding in encodings]


@lru_cache(maxsize=2)
def _load(part: SentenceTransformer, where: str, identity: str) -> SentenceTransformerModel:
    """The model, read once a process: a study may build thousands of small indexes with it."""
    model = open_checkpoint(
        "SentenceTransformer",
        where,
        part.max_tokens,
        probe=lambda model: model.encode(["whole"], show_progress_bar=False),
        device=part.device,
        trust_remote_code=part.trust_remote_code,
    )
    return SentenceTransformerModel(part, model, identity)
