"""The kinds of study that are installed: each is a package, registered by name, with a template in it."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable

GROUP = "assay.kinds"


def kind_packages() -> dict[str, str]:
    """The package of every kind, by name; none is imported."""
    return {
        point.name: point.value for point in sorted(entry_points(group=GROUP), key=lambda each: each.name)
    }


def template_of(kind: str) -> Traversable:
    """The folder of a kind that holds a study to start from."""
    return files(kind_packages()[kind]) / "template"
