"""What kind of dataset a study's `data` names: a plugin by its spec, or a folder by what lies in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.core.spec import Spec, parse_spec

_MARKS = {"beir": ("corpus.jsonl", "corpus.jsonl.gz"), "folder": ("items.jsonl", "items.jsonl.gz")}


def dataset_spec(given: str | Mapping[str, Any], kit: Kit) -> Spec:
    """The spec of the dataset plugin that `data` means."""
    if isinstance(given, Mapping):
        return parse_spec(given)
    path = kit.path(given)
    if path.is_dir():
        for plugin, names in _MARKS.items():
            if any((path / name).is_file() for name in names):
                return Spec(plugin, {"path": given})
        known = " or ".join(names[0] for names in _MARKS.values())
        raise UsageError(f"no dataset lies in {path}. The folder needs {known}.")
    if path.exists():
        raise UsageError(f"{path} is a file. Name its folder, or say what it is: trec(topics=…, qrels=…).")
    try:
        return parse_spec(given)
    except UsageError:
        raise UsageError(f"there is no folder {path}. Check the path: it is relative to the study.") from None
