"""How the metrics of a blinded scoring read: titles, scales, and what a difference says in words."""

from __future__ import annotations

from dataclasses import dataclass

ACCURACY, TOKENS = "accuracy", "tokens"


@dataclass(frozen=True)
class Metric:
    """How one metric reads: its title, what it is, and what a difference either way says of B and A."""

    title: str
    about: str
    better: str  # higher, lower; nothing where neither is good or bad
    above: str  # B - A is positive
    below: str


METRICS = {
    ACCURACY: Metric(
        "Accuracy",
        "0 to 3, against the gold answer.",
        "higher",
        "{b} answers more accurately than {a}",
        "{b} answers less accurately than {a}",
    ),
    "hallucinations": Metric(
        "Hallucinations",
        "Unsupported claims in a response.",
        "lower",
        "{b} makes up more than {a}",
        "{b} makes up less than {a}",
    ),
    TOKENS: Metric(
        "Tokens of content",
        "Neither more nor fewer is good by itself.",
        "",
        "{b} needs more tokens than {a}",
        "{b} needs fewer tokens than {a}",
    ),
    "completeness": Metric(
        "Completeness",
        "Whether every part of the question is answered: 0 or 1.",
        "higher",
        "{b} answers completely more often than {a}",
        "{b} answers completely less often than {a}",
    ),
    "citation": Metric(
        "Citation fidelity",
        "0 to 2, where citations apply to both responses.",
        "higher",
        "{b} cites more faithfully than {a}",
        "{b} cites less faithfully than {a}",
    ),
}


def metric_of(name: str) -> Metric:
    """How a metric reads; one of somebody's own by its name."""
    known = METRICS.get(name)
    above, below = (f"{name} is {word} for {{b}} than for {{a}}" for word in ("higher", "lower"))
    return known or Metric(name.capitalize(), "", "", above, below)
