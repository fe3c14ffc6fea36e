"""Models of the sentence-transformers library: loads them, checks that they are complete, and embeds
texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError

from assay.core.dataset import digest
from assay.core.errors import PluginError, SystemFailure, UsageError
from assay.core.parts import EmbeddingResult, Role, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.registry import outside_identity
from assay.retrieval.embed.model_files import content_hash, own_token_mask, snapshot

if TYPE_CHECKING:
    import sentence_transformers
    from tokenizers import Encoding


# names of a model's prompts for each role, in the order in which the library looks for them
_PROMPTS: dict[Role, tuple[str, ...]] = {
    "query": ("query",),
    "passage": ("document", "passage", "corpus"),
}


@dataclass(frozen=True)
class SentenceTransformer:
    """A model of the sentence-transformers library: a local folder, or its name on the Hugging Face hub.

    The prefixes of queries and passages are those in the model's settings, unless they are given here.
    """

    model: str
    device: Device | None = None  # None: the library chooses the fastest
    query_prefix: str | None = None
    passage_prefix: str | None = None
    max_tokens: int | None = None  # longer texts are cut; None: as the model's settings say
    batch: int = outside_identity(32)
    trust_remote_code: bool = False  # runs code that comes with the model: use it only for authors you trust
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        for name in ("batch", "max_tokens"):
            if (count := getattr(self, name)) is not None and count < 1:
                raise UsageError(f"{name} is {count}. It must be at least 1.")

    def load(self, kit: Kit) -> SentenceTransformerModel:
        return _load(self, local_or_hub(self.model, kit), self.identity(kit))

    def identity(self, kit: Kit) -> str:
        """Returns the identity of the weights and the settings.

        The device is left out, because it only changes rounding.
        """
        weights = weights_identity(local_or_hub(self.model, kit))
        settings = [self.max_tokens, self.query_prefix, self.passage_prefix]
        return f"sentence_transformer {self.version} {weights} {msgspec.json.encode(settings).decode()}"


class SentenceTransformerModel:
    """A loaded model.

    Threads wait for each other, because the library changes its tokenizer while it works.
    """

    def __init__(
        self, part: SentenceTransformer, model: sentence_transformers.SentenceTransformer, identity: str
    ) -> None:
        self.identity = identity
        self.batch = part.batch * 4  # several batches at once, since the library sorts texts by length
        self._part, self._model = part, model
        self._prefixes: dict[Role, str] = {
            "query": self._prefix("query", part.query_prefix),
            "passage": self._prefix("passage", part.passage_prefix),
        }
        self._turn = threading.Lock()
        self._dimensions = self._encode(["dimensions"], "passage").shape[1]

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        """Embeds texts, one row per text. If a text is too long for the model, its end is ignored."""
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        with self._turn:
            encodings = self._encodings(texts, role)
            rows = [row for row, own in enumerate(self._own(encodings, role)) if own.any()]
            if not encodings:  # then only blank texts are known to have no token
                rows = [row for row, text in enumerate(texts) if text.strip()]
            if rows:
                vectors[rows] = normalize_rows(self._encode([texts[row] for row in rows], role))
        return EmbeddingResult(vectors, sum(len(encodings[row].ids) for row in rows) if encodings else 0)

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Returns, for each text, the rows of the last layer that belong to the text's own tokens."""
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
        # only the last rows of a text are used: some models pad on the left
        pairs = zip(states, self._own(encodings, role), strict=True)
        return [normalize_rows(rows[len(rows) - len(own) :][own]) for rows, own in pairs]

    def _prefix(self, role: Role, given: str | None) -> str:
        if given is not None:
            return given
        own = (self._model.prompts[name] for name in _PROMPTS[role] if name in self._model.prompts)
        return next(own, None) or ""

    def _encode(self, texts: Sequence[str], role: Role, output: str = "sentence_embedding") -> Any:
        # some models have a part for each role; these two methods choose it
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        return encode(
            list(texts),
            prompt=self._prefixes[role],
            batch_size=self._part.batch,
            output_value=output,
            show_progress_bar=False,
        )

    def _encodings(self, texts: Sequence[str], role: Role) -> Sequence[Encoding]:
        """Returns the tokens of each text as the model gets them.

        Returns nothing if the model's tokenizer is not a fast tokenizer, as the library calls it.
        """
        tokenizer, cut = self._model.tokenizer, self._model.max_seq_length
        if not texts or not getattr(tokenizer, "is_fast", False):
            return ()
        prefixed = [self._prefixes[role] + text for text in texts]
        encoded = tokenizer(prefixed, truncation=cut is not None, max_length=cut)
        encodings: Sequence[Encoding] = encoded.encodings
        return encodings

    def _own(self, encodings: Sequence[Encoding], role: Role) -> list[NDArray[np.bool_]]:
        return [own_token_mask(encoding, len(self._prefixes[role])) for encoding in encodings]


@lru_cache(maxsize=2)
def _load(part: SentenceTransformer, where: str, identity: str) -> SentenceTransformerModel:
    """Loads the model once per process, because a study may build thousands of small indexes with it."""
    model = open_checkpoint(
        "SentenceTransformer",
        where,
        part.max_tokens,
        probe=lambda model: model.encode(["whole"], show_progress_bar=False),
        device=part.device,
        trust_remote_code=part.trust_remote_code,
    )
    return SentenceTransformerModel(part, model, identity)


Device = Literal["cpu", "cuda", "mps"]
Kind = Literal["SentenceTransformer", "CrossEncoder"]

# errors of torch, transformers and their file readers for a model that is damaged or of another kind
_UNREADABLE = (
    OSError, ValueError, RuntimeError, LookupError, ImportError, EOFError, UnpicklingError, SafetensorError
)  # fmt: skip
_HOOKED = threading.Lock()  # held while transformers is patched


def open_checkpoint(
    kind: Kind, where: str, max_tokens: int | None, probe: Callable[[Any], ArrayLike], **settings: Any
) -> Any:
    """Opens a model of the library, and checks that it is complete.

    If tensors are missing in its files, `probe` runs the model once, to see whether it uses them.
    """
    library = _library()
    check_device(settings.get("device"))
    open_model = partial(getattr(library, kind), where, revision=commit_of(where), **settings)
    try:
        with _missing_tensors_as_nan() as missing:
            try:
                # files that are all here are not looked up on the hub again
                model = open_model(local_files_only=True)
            except OSError:
                missing.clear()
                model = open_model()
    except _UNREADABLE as error:
        fix = "Check that it is a model of that library, whole, and that it fits in memory."
        raise SystemFailure(f"sentence-transformers could not load {where!r}: {error}. {fix}") from error
    if missing and not np.isfinite(probe(model)).all():
        names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        what = f"The files of {where!r} lack tensors that the model uses ({names})"
        raise SystemFailure(f"{what}. Fetch it again, or use one that was trained for this work.")
    if max_tokens is not None:
        _check_length(where, max_tokens, model.transformers_model)
        model.max_seq_length = max_tokens
    return model


def _library() -> ModuleType:
    try:
        import sentence_transformers
    except ImportError as error:
        raise _not_installed() from error
    library: ModuleType = sentence_transformers
    return library


def _not_installed() -> PluginError:
    return PluginError(
        "The package sentence-transformers is not installed. "
        "Install it: pip install 'retrieval-assay[sentence-transformers]'"
    )


@contextmanager
def _missing_tensors_as_nan() -> Iterator[list[str]]:
    """Sets tensors that are not in the files of a model to NaN, and collects their names.

    This concerns the models that are loaded inside the context. transformers fills such tensors with random
    numbers, and reports this only to callers that ask; sentence-transformers does not ask. A missing tensor
    that the model uses makes its output NaN. An unused tensor, such as the pooler that many checkpoints lack,
    changes nothing.
    """
    import torch
    from transformers import PreTrainedModel

    missing: list[str] = []
    original = vars(PreTrainedModel)["from_pretrained"]  # the class method itself, not bound to a class

    def loading(cls: type, /, *given: Any, output_loading_info: bool = False, **named: Any) -> Any:
        model, info = original.__func__(cls, *given, output_loading_info=True, **named)
        tensors = model.state_dict()
        for name in sorted(info["missing_keys"]):
            if name in tensors and torch.is_floating_point(tensors[name]):
                tensors[name].fill_(float("nan"))
                missing.append(name)
        return (model, info) if output_loading_info else model

    with _HOOKED:
        PreTrainedModel.from_pretrained = classmethod(loading)
        try:
            yield missing
        finally:
            PreTrainedModel.from_pretrained = original


def _check_length(where: str, wanted: int, network: Any) -> None:
    """Raises a UsageError if more tokens are wanted than a network has positions.

    In some families of models, positions are counted after the position of the padding.
    """
    positions = getattr(getattr(network, "config", None), "max_position_embeddings", None)
    if positions is None:
        return
    tables = [each for name, each in network.named_modules() if name.endswith("position_embeddings")]
    padding = next((getattr(table, "padding_idx", None) for table in tables), None)
    most = positions if padding is None else positions - padding - 1
    if wanted > most:
        what = f"max_tokens is {wanted}, but {where!r} has {most} positions"
        raise UsageError(f"{what}. Ask for no more than that.")


def check_device(device: Device | None) -> None:
    """Raises a UsageError for a device that this machine or the installed torch does not have."""
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device is not None and not there[device]:
        found = " and ".join(name for name in there if there[name])
        raise UsageError(f"device is {device!r}, but torch {torch.__version__} finds only {found} here.")


def local_or_hub(model: str, kit: Kit) -> str:
    """Returns the folder of that name beside the study if it exists, otherwise the name on the hub."""
    folder = kit.path(model)
    if folder.is_dir():
        return str(folder)
    if model.count("/") != 1 or model.startswith((".", "/", "~")):
        raise UsageError(
            f"There is no folder {folder}, and {model!r} is not a name on the Hugging Face hub. "
            "Write the folder relative to the study, or the name with its owner: OWNER/NAME."
        )
    return model


def weights_identity(name_or_path: str | Path) -> str:
    """Returns the hash of the files in a local folder, or a name on the hub with its commit.

    The commit is needed because the model behind a name can change.
    """
    try:
        commit = commit_of(name_or_path)
    except SystemFailure:
        if find_spec("sentence_transformers") is None:
            raise _not_installed() from None  # first report the missing library, not the network
        raise
    if commit is not None:
        return f"{name_or_path}@{commit}"
    folder = Path(name_or_path)
    names = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    # the library reads neither notes nor the files that other tools keep beside a model
    read = [name for name in names if name.suffix != ".md" and not str(name).startswith(".")]
    content = content_hash(folder / name for name in read)
    return digest(part.encode() for part in (*map(Path.as_posix, read), content))


def commit_of(name_or_path: str | Path) -> str | None:
    """Returns the commit of a model on the hub, from the local cache if it is there.

    Returns None for a local folder.
    """
    if Path(name_or_path).is_dir():
        return None
    ways_out = "Check name and network, or download it elsewhere and give its folder instead of its name."
    return snapshot(str(name_or_path), ["*.json"], ways_out).name
