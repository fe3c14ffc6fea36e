"""The files of a model: where they are, what they say about it, and what they hash to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, SystemFailure, UsageError

_EXPORTS = ("model.onnx", "onnx/model.onnx")
_USUAL_LENGTH = 512
_ENDLESS = 1e6  # tokens: a tokenizer whose length nobody set says 1e30


class _Settings(msgspec.Struct, frozen=True):
    """What config.json, tokenizer_config.json and sentence_bert_config.json may say, each some of it."""

    max_seq_length: int | None = None
    max_position_embeddings: int | None = None
    model_max_length: float | None = None
    pad_token_id: int | None = None


@dataclass(frozen=True)
class ModelFiles:
    """The files that make one model: a graph to run as it is, or weights to make one of."""

    folder: Path  # that of tokenizer.json
    network: Path | None  # None: made from model.safetensors and config.json

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"

    @property
    def config(self) -> Path:
        return self.folder / "config.json"

    @property
    def weights(self) -> Path:
        return self.folder / "model.safetensors"

    @property
    def hash(self) -> str:
        """Of all that decides the vectors; large weights may lie in files beside the graph."""
        if self.network is None:
            return content_hash([self.weights, self.config, self.tokenizer])
        beside = sorted(self.network.parent.glob(f"{self.network.name}*"))
        return content_hash([*beside, self.tokenizer])

    def pad(self) -> int:
        """The token that fills a batch up."""
        return self._settings("config.json").pad_token_id or 0

    def longest(self, wanted: int | None) -> int:
        """How many tokens of a text the model is given: as many as wanted, or as its settings say."""
        positions = self._settings("config.json").max_position_embeddings
        if wanted is not None:
            if positions is not None and wanted > positions:
                where = f"the model in {self.folder} has {positions} positions"
                raise UsageError(f"max_tokens is {wanted}, but {where}. Ask for no more than that.")
            return wanted
        if (trained := self._settings("sentence_bert_config.json").max_seq_length) is not None:
            return trained
        tokenizer = self._settings("tokenizer_config.json").model_max_length
        known = [int(each) for each in (positions, tokenizer) if each is not None and each < _ENDLESS]
        return min(known, default=_USUAL_LENGTH)

    def _settings(self, name: str) -> _Settings:
        path = self.folder / name
        if not path.is_file():
            return _Settings()
        try:
            return msgspec.json.decode(path.read_bytes(), type=_Settings)
        except msgspec.DecodeError as error:
            raise DataError(Problem(str(error), str(path), fix="Fetch the file again.")) from error


def find_files(path: Path) -> ModelFiles:
    """The files of the model in a folder, or of one export; tokenizer.json lies beside or above that."""
    if path.is_file():
        places = [path.parent, path.parent.parent]
        network: Path | None = path
    elif path.is_dir():
        places = [path]
        network = next((path / name for name in _EXPORTS if (path / name).is_file()), None)
    else:
        raise SystemFailure(f"There is no model at {path}. Name its folder, relative to the study.")
    folder = next((place for place in places if (place / "tokenizer.json").is_file()), places[0])
    found = ModelFiles(folder, network)
    needed = [found.tokenizer, *([found.weights, found.config] if network is None else [])]
    if missing := [file.name for file in needed if not file.is_file()]:
        what = f"there is no {' and no '.join(missing)}"
        fix = (
            "A model is model.onnx and tokenizer.json, or model.safetensors, config.json and tokenizer.json."
        )
        raise DataError(Problem(what, str(folder), fix=fix))
    return found


def content_hash(files: Iterable[Path]) -> str:
    """One hash over the content of files, whatever they are called."""
    stats = [(file, file.stat()) for file in files]
    return digest(_file_hash(file, stat.st_size, stat.st_mtime_ns) for file, stat in stats)


@lru_cache(maxsize=256)
def _file_hash(path: Path, *_stamp: int) -> bytes:
    """Read once a process for as long as size and time stay: weights are large, and asked for often."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()


def snapshot(name: str, files: Sequence[str], ways_out: str) -> Path:
    """The folder in the Hugging Face hub's cache with those files of a model, named for their commit.

    What was fetched before stays in use, so that a model changes when somebody empties the cache, not when
    its author pushes. `ways_out` ends the message where the hub does not give it.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    # Which HTTP library is below has changed twice; some of its errors, such as a proxy's, come through.
    roots = [kind for kind in HfHubHTTPError.__mro__ if issubclass(kind, Exception)]
    failures: tuple[type[Exception], ...] = (
        OSError,
        *(kind for kind in roots if kind.__name__ == "HTTPError"),
    )
    try:
        return Path(snapshot_download(name, allow_patterns=list(files), local_files_only=True))
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(name, allow_patterns=list(files)))
    except failures as error:
        said = str(error).strip().partition("\n")[0]
        raise SystemFailure(f"The Hugging Face hub did not give {name!r} ({said}). {ways_out}") from error
