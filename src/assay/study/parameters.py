"""Sets the parameters of a study's plugins, from environment variables and from dotted names.

A variable `${NAME}` is replaced by its value when a plugin is made. It is put back wherever text is stored or
shown. `${NAME:-other}` is replaced by `other` if the variable is not set, or empty. A variable is a secret if
its name has a word such as those in `API_KEY`, `HF_TOKEN` and `PGPASSWORD`. Secrets do not change answers, so
identities do not contain them. If the value of any other variable changes, such as an endpoint, the system
counts as another system.

A factor or a sweep sets a parameter by its dotted name: `k`, `fuse.k` inside a part, `params.rrf_k` in a
mapping. The value of a factor is text, and is read as in a spec: `40` is a number, `[0.6, 0.4]` a list,
`null` no value.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.core.registry import Registry, part_groups
from assay.core.spec import Spec, make_plugin, parse_spec

NULL = "null"
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET = re.compile(
    r"(APIKEY|PASSWORD|PASSWD|((^|_)(KEY|TOKEN|SECRET|CREDENTIAL|AUTH|AUTHORIZATION|PASS|PWD|PAT)))S?(_|$)",
    re.IGNORECASE,
)


def fill_variables(given: Any, kit: Kit, *, secrets: bool = True) -> Any:
    """Replaces every variable by its value. Without `secrets`, variables that are secrets stay as written."""

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


def conceal_variables(text: str, kit: Kit) -> str:
    """Puts `${NAME}` back for every value of a variable that the kit gave out.

    Secrets are replaced everywhere, plain and as in a URL. Other values may be as short as a port, so they
    are replaced only where no letter or digit is next to them.
    """
    values = {name: value for name in sorted(kit.given_secrets) if (value := kit.env.get(name))}
    for name in sorted(values, key=lambda each: -len(values[each])):  # one value may be part of another
        in_url = quote(values[name], safe="", errors="surrogateescape")
        pattern = "|".join(map(re.escape, dict.fromkeys((values[name], in_url))))
        if not _SECRET.search(name):
            pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
        text = re.sub(pattern, f"${{{name}}}", text)
    return text


# ----------------------------------------------------------------------- dotted parameters


def top_parameter(path: str) -> str:
    """Returns the first part of a dotted name: the parameter of the plugin itself."""
    return path.partition(".")[0]


def parameter_names(cls: type) -> list[str]:
    """Returns the names of the parameters of a plugin class, without the parameters of its parts."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return [field.name for field in fields if field.init]


def set_parameter(registry: Registry, group: str, spec: Spec, path: str, text: str) -> Spec:
    """Returns a spec with one parameter set.

    This is a parameter of the plugin itself, or a parameter inside one of its parts or mappings.
    """
    name, _, rest = path.partition(".")
    if not rest:
        return Spec(spec.name, {**spec.params, name: _list_or_text(text)})
    cls = registry.load(group, spec.name)
    given = spec.params[name] if name in spec.params else _default(cls, name)
    parts = part_groups(cls)
    if name in parts and isinstance(given, str | Mapping | Spec):
        inside: Any = set_parameter(registry, parts[name], parse_spec(given), rest, text)
    elif isinstance(given, Mapping):
        inside = _in_mapping(given, rest, text)
    elif dataclasses.is_dataclass(given) and not isinstance(given, type):
        inside = _in_part(given, rest, text)
    else:
        what = f"{spec.name!r} takes a {name} that is {given!r}"
        raise UsageError(f"{path}: {what}: there is nothing inside it to set. Set {name} itself.")
    return Spec(spec.name, {**spec.params, name: inside})


def part_parameter_names(registry: Registry, group: str, spec: Spec) -> Iterator[str]:
    """Yields the dotted names of the parameters of all parts of a plugin, and of the parts of these parts."""
    cls = registry.load(group, spec.name)
    for name, inner in part_groups(cls).items():
        given = spec.params[name] if name in spec.params else _default(cls, name)
        if isinstance(given, str | Mapping | Spec):
            part = parse_spec(given)
            own = parameter_names(registry.load(inner, part.name))
            own += part_parameter_names(registry, inner, part)
        else:
            own = _names_inside(given)
        yield from (f"{name}.{each}" for each in own)


def _names_inside(part: Any) -> list[str]:
    """Returns the dotted names of the parameters of a part that exists already as an object."""
    if isinstance(part, type) or not dataclasses.is_dataclass(part):
        return []
    names = parameter_names(type(part))
    return names + [f"{name}.{each}" for name in names for each in _names_inside(getattr(part, name))]


def _default(cls: type, name: str) -> Any:
    fields = {each.name: each for each in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}
    if name not in fields:
        return None
    field = fields[name]
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _in_part(part: Any, path: str, text: str) -> Any:
    """Returns a copy of a part with one parameter set."""
    name, _, rest = path.partition(".")
    fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part) if field.init}
    if rest and not dataclasses.is_dataclass(fields.get(name)):
        raise UsageError(f"{path}: {type(part).__name__} has no part {name!r}.")
    value = _in_part(fields[name], rest, text) if rest else _list_or_text(text)
    return make_plugin(type(part), Spec(type(part).__name__, {**fields, name: value}))


def _in_mapping(given: Mapping[str, Any], path: str, text: str) -> dict[str, Any]:
    name, _, rest = path.partition(".")
    if not rest:
        value = _read(text)
        return {**given, name: text if isinstance(value, Spec) else value}
    inner = given.get(name, {})
    if not isinstance(inner, Mapping):
        raise UsageError(f"{path}: {name} is {inner!r}, not a mapping. Set {name} itself.")
    return {**given, name: _in_mapping(inner, rest, text)}


def _list_or_text(text: str) -> Any:
    """Returns a list or None if the text is one of these. Any other text is returned as it is.

    It is converted later to the type of the parameter.
    """
    return _read(text) if text.startswith("[") or text == NULL else text


def _read(text: str) -> Any:
    """Returns the value that a text has in a spec, or the text itself if it cannot be read there."""
    try:
        read = parse_spec(f"one(value={text})").params
    except UsageError:
        return text
    return read["value"] if len(read) == 1 else text
