"""Assay decides, with evidence, whether a retrieval system is good enough."""

from __future__ import annotations

__version__ = "0.1.0"
