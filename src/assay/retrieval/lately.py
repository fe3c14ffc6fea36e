"""What was made lately of some texts, kept as far as there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=NDArray[np.generic] | NDArray[Any])


class Lately(Generic[T]):
    """Arrays by text, as many as a number of bytes holds: the ones used last. Threads may share it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._arrays: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def get(self, texts: Iterable[str]) -> dict[str, T]:
        """Those of the texts that are kept."""
        with self._lock:
            found = {text: self._arrays[text] for text in texts if text in self._arrays}
            for text in found:
                self._arrays.move_to_end(text)
            return found

    def put(self, arrays: Mapping[str, T]) -> None:
        """Keeps these, and lets go of what was used longest ago."""
        with self._lock:
            for text, array in arrays.items():
                if text not in self._arrays:  # another thread may have been as quick
                    self._arrays[text] = array
                    self._used += array.nbytes + len(text)
            while self._used > self._size:
                text, array = self._arrays.popitem(last=False)
                self._used -= array.nbytes + len(text)
