"""The documented JSON form: what `--json` prints and other programs read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from assay.core.results import Results


@dataclass(frozen=True)
class JsonReport:
    """Results as one UTF-8 JSON object; values that are not numbers are null."""

    suffix: ClassVar[str] = ".json"

    def render(self, results: Results) -> bytes:
        # msgspec writes NaN and the infinities as null, which the standard library would not.
        return msgspec.json.format(msgspec.json.encode(results.as_json()), indent=1) + b"\n"
