"""Models of the sentence-transformers library: where they are, what they hold, and whether they are whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from safetensors import SafetensorError

from assay.core.dataset import digest
from assay.core.errors import PluginError, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.retrieval.embed.model_files import content_hash, snapshot

Device = Literal["cpu", "cuda", "mps"]
Kind = Literal["SentenceTransformer", "CrossEncoder"]

# What torch, transformers and their readers of files raise for a model that is damaged, or none of theirs.
_UNREADABLE = (
    OSError, ValueError, RuntimeError, LookupError, ImportError, EOFError, UnpicklingError, SafetensorError
)  # fmt: skip
_HOOKED = threading.Lock()  # held while transformers is made to say what is missing


def open_checkpoint(
    kind: Kind, where: str, max_tokens: int | None, probe: Callable[[Any], ArrayLike], **settings: Any
) -> Any:
    """A model of the library, whole; `probe` has it work once, where tensors are missing from its files."""
    library = _library()
    check_device(settings.get("device"))
    open_model = partial(getattr(library, kind), where, revision=commit_of(where), **settings)
    try:
        with _missing_made_nan() as missing:
            try:
                # What is all there is not asked for on the hub, where every file would be looked up again.
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
def _missing_made_nan() -> Iterator[list[str]]:
    """The names of the tensors that models loaded meanwhile do not find in their files.

    transformers gives those random numbers, says so in its log, and tells a caller who asks; between it and
    us the library does not ask. They are made NaN here: a tensor that is never used, such as the pooler that
    many checkpoints lack, stays harmless, and any other is seen in all that comes out.
    """
    import torch
    from transformers import PreTrainedModel

    missing: list[str] = []
    original = vars(PreTrainedModel)["from_pretrained"]  # the class method itself, bound to no class

    def asking(cls: type, /, *given: Any, output_loading_info: bool = False, **named: Any) -> Any:
        model, told = original.__func__(cls, *given, output_loading_info=True, **named)
        tensors = model.state_dict()
        for name in sorted(told["missing_keys"]):
            if name in tensors and torch.is_floating_point(tensors[name]):
                tensors[name].fill_(float("nan"))
                missing.append(name)
        return (model, told) if output_loading_info else model

    with _HOOKED:
        PreTrainedModel.from_pretrained = classmethod(asking)
        try:
            yield missing
        finally:
            PreTrainedModel.from_pretrained = original


def _check_length(where: str, wanted: int, network: Any) -> None:
    """Refuses more tokens than a network has positions for; some families count from the padding's on."""
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
    """Refuses a device that this machine, or the installed torch, does not have."""
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device is not None and not there[device]:
        found = " and ".join(name for name in there if there[name])
        raise UsageError(f"device is {device!r}, but torch {torch.__version__} finds only {found} here.")


def local_or_hub(model: str, kit: Kit) -> str:
    """The folder of that name beside the study where there is one, otherwise the name on the hub."""
    folder = kit.path(model)
    if folder.is_dir():
        return str(folder)
    if model.count("/") != 1 or model.startswith((".", "/", "~")):
        raise UsageError(
            f"There is no folder {folder}, and {model!r} is no name on the Hugging Face hub. "
            "Write the folder relative to the study, or the name with its owner: OWNER/NAME."
        )
    return model


def weights_identity(name_or_path: str | Path) -> str:
    """The hash of the files of a local folder, or a hub name with its commit: a name alone could change."""
    try:
        commit = commit_of(name_or_path)
    except SystemFailure:
        if find_spec("sentence_transformers") is None:
            raise _not_installed() from None  # who lacks the library need not look for the network first
        raise
    if commit is not None:
        return f"{name_or_path}@{commit}"
    folder = Path(name_or_path)
    names = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    # the library never reads notes, nor what other tools keep beside a model
    read = [name for name in names if name.suffix != ".md" and not str(name).startswith(".")]
    content = content_hash(folder / name for name in read)
    return digest(part.encode() for part in (*map(Path.as_posix, read), content))


def commit_of(name_or_path: str | Path) -> str | None:
    """The commit of a model on the hub, that in its cache where there is one; None for a local folder."""
    if Path(name_or_path).is_dir():
        return None
    ways_out = "Check name and network, or download it elsewhere and give its folder instead of its name."
    return snapshot(str(name_or_path), ["*.json"], ways_out).name
