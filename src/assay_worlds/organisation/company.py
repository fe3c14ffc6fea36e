"""The names and stock sentences that the organisation is made of."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from assay_worlds.texts import TextEntry, read_texts


class Office(NamedTuple):
    """A site, and the money that is spent there: `rate` units of it make one euro."""

    name: str
    currency: str
    rate: int


class Product(NamedTuple):
    """Something the organisation sells, with the prefix of its tickets."""

    name: str
    prefix: str
    about: str


class Company(TextEntry, frozen=True):
    """The organisation by its names."""

    name: str
    offices: tuple[Office, ...]
    teams: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    roles: tuple[str, ...]
    products: tuple[Product, ...]
    project_names: tuple[str, ...]
    months: tuple[str, ...]
    filler: tuple[str, ...]  # sentences that fit on any page


@cache
def company() -> Company:
    return read_texts(Company, __package__, "company")
