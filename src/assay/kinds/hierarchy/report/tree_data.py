"""What a tree shows: how queries fare level by level, node by node and one by one; data without words."""

from __future__ import annotations

import msgspec

from assay.core.records import Step


class TreeLevel(msgspec.Struct, frozen=True):
    """A level of a tree, and how many queries came through it."""

    level: int  # 1: the root's children
    nodes: int
    lost: int  # queries without any right branch here; what is lost above is lost below
    lost_part: int  # queries without the branch of some of their evidence
    visited: float | None = None  # mean share of its nodes that were scored
    apart: float | None = None  # mean cosine distance between what siblings are about
    overlap: float | None = None  # mean share of names that siblings have in common


class TreeNode(msgspec.Struct, frozen=True):
    """A node of a tree, and what became of the queries whose evidence lies below it."""

    node_id: str
    level: int
    start: int  # where it stands in the picture, and how wide: passages of the leaves drawn below it
    wide: int
    passages: int  # below it, each once
    parents: list[str] = []
    about: str = ""
    entities: list[str] = []
    expanded: int = 0  # queries that came here on a right way
    lost: int = 0  # of these, how many took none of its right children
    ended: int = 0  # of those, how many had no other right branch left
    passed_by: int = 0  # queries that ended where it should have been taken


class RouteCandidate(msgspec.Struct, frozen=True):
    """A child that a query was routed past or into; of several parents the one that it scored best under."""

    node_id: str
    rank: int  # by score among the level's candidates, from 1
    scores: dict[str, float]
    selected: bool
    right: bool  # evidence lies below it
    source: str = ""
    stop: str = ""  # why it was not taken
    about: str = ""


class RouteLevel(msgspec.Struct, frozen=True):
    """The candidates of a level that a reader asks about: the best, the last one taken, the right ones."""

    level: int
    of: int  # all candidates
    taken: int
    shown: list[RouteCandidate]


class Route(msgspec.Struct, frozen=True):
    """One query's way down a tree."""

    item_id: str
    levels: list[RouteLevel]
    lost: int | None = None  # the level that took no right branch
    lost_part: int | None = None  # the level that lost the branch of some evidence
    why: str = ""  # how it was lost, in words
    evidence: list[str] = []  # the passages that say what it asks for
    links: list[Step] = []  # what came by a link
    race: list[Step] = []  # the paths that were held against each other


class RaceShares(msgspec.Struct, frozen=True):
    """How often each path of a race was taken, over all items and by the values of a tag."""

    arm: str
    paths: list[str]
    taken: dict[str, list[int]]  # by slice in words, "" for all: a count a path
    alone: dict[str, str] = {}  # by path: an arm that always takes it


class TreeView(msgspec.Struct, frozen=True):
    """The tree that an arm routes in, of its first seed, and how it fares there."""

    arm: str
    seed: int
    items: int  # with evidence in the tree, answered
    passages: int
    coverage: float | None  # the share of passages that the root leads to
    levels: list[TreeLevel]
    nodes: list[TreeNode]  # the root first; of a large tree only some
    also: list[str] = []  # arms of the same tree and the same errors
    routes: list[Route] = []
    race: RaceShares | None = None
    visited: float | None = None  # mean share of the passages that were scored
