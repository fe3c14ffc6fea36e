"""What a model is given, told apart: the text itself, and what is put around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Encoding


def own_tokens(encoding: Encoding, prefix: int) -> NDArray[np.bool_]:
    """Which tokens are those of a text: not special ones, nor those of `prefix` characters put before it."""
    ends = np.array([end for _, end in encoding.offsets], dtype=np.int64)
    own: NDArray[np.bool_] = (ends > prefix) & ~np.array(encoding.special_tokens_mask, dtype=bool)
    return own
