"""`${NAME}` in a study file: filled in where a plugin is made, and put back wherever text is stored or shown.

`${NAME:-other}` stands for the other text where the variable is not set, or empty.

A variable is a secret where a word of its name says so (`API_KEY`, `HF_TOKEN`, `PGPASSWORD`). Secrets decide
who may ask, never what is answered, so that no identity holds them; any other variable, such as an endpoint,
makes another system of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from assay.core.protocols import Kit

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET = re.compile(
    r"(APIKEY|PASSWORD|PASSWD|((^|_)(KEY|TOKEN|SECRET|CREDENTIAL|AUTH|AUTHORIZATION|PASS|PWD|PAT)))S?(_|$)",
    re.IGNORECASE,
)


def fill(given: Any, kit: Kit, *, secrets: bool = True) -> Any:
    """Every variable inside replaced by its value; secrets stay as written unless they are asked for."""

    def value(match: re.Match[str]) -> str:
        name, otherwise = match.groups()
        if not secrets and _SECRET.search(name):
            return match[0]
        return otherwise if otherwise is not None and not kit.env.get(name) else kit.secret(name)

    return _each_text(given, lambda text: _VARIABLE.sub(value, text))


def _each_text(given: Any, change: Callable[[str], str]) -> Any:
    if isinstance(given, str):
        return change(given)
    if isinstance(given, Mapping):
        return {key: _each_text(value, change) for key, value in given.items()}
    return [_each_text(value, change) for value in given] if isinstance(given, list) else given


def conceal(text: str, kit: Kit) -> str:
    """A text without the values that the kit gave out: their `${NAME}` stands there instead.

    Secrets are looked for everywhere, plain and as in a URL; other values, which may be as short as a port,
    only where no letter or digit adjoins them.
    """
    values = {name: value for name in sorted(kit.told) if (value := kit.env.get(name))}
    for name in sorted(values, key=lambda each: -len(values[each])):  # one may be part of another
        in_url = quote(values[name], safe="", errors="surrogateescape")
        pattern = "|".join(map(re.escape, dict.fromkeys((values[name], in_url))))
        if not _SECRET.search(name):
            pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
        text = re.sub(pattern, f"${{{name}}}", text)
    return text
