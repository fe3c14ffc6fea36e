"""How sure a way of retrieving is: the formula without a file, the file, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.core.errors import DataError, UsageError
from assay.kinds.hierarchy.features import NAMES, VERSION
from assay.kinds.hierarchy.fitted import (
    CONFIDENCE_FORMAT,
    FIXED_CONFIDENCE,
    AnswerCounts,
    Confidence,
    ConfidenceOrigin,
    FeatureScale,
    PathModel,
    RaceQuality,
    encode_fitted,
    fitted_hash,
    read_confidence,
)

NONE = dict.fromkeys(NAMES, 0.0)


def way(bias: float, **weights: float) -> PathModel:
    """One whose signs have mean 1 and deviation 2."""
    return PathModel(0.1, bias, dict.fromkeys(NAMES, FeatureScale(1.0, 2.0)), {**NONE, **weights})


def confidence() -> Confidence:
    reached = RaceQuality({"beam": 0.5, "collapsed": 0.4}, 0.6, 0.5, 0.7)
    counts = {"tune": AnswerCounts(20, {"beam": 10, "collapsed": 8})}
    origin = ConfidenceOrigin("d", "", "", "s", {}, "", 400, [0], counts, reached)
    ways = {"beam": way(0.5, words=2.0), "collapsed": way(-0.5)}
    return Confidence(CONFIDENCE_FORMAT, VERSION, origin, ways)


def test_without_a_file_it_is_one_formula_for_all_ways() -> None:
    signs = {**NONE, "mass_sentence": 0.5, "near_sentence": 0.8, "words": 9.0}
    assert FIXED_CONFIDENCE.of("beam", signs) == FIXED_CONFIDENCE.of("collapsed", signs) == 0.4  # 0.5 × 0.8


def test_each_way_has_its_own_probability() -> None:
    signs = {**dict.fromkeys(NAMES, 1.0), "words": 2.0}
    # (2 - 1) / 2 × 2 + 0.5 = 1.5: 1 / (1 + e^-1.5); every other sign is at its mean. -0.5 is the other's bias
    assert confidence().of("beam", signs) == pytest.approx(0.817574, abs=1e-6)
    assert confidence().of("collapsed", signs) == pytest.approx(0.377541, abs=1e-6)
    with pytest.raises(UsageError, match=r"No confidence was fitted for 'beams'\. Did you mean 'beam'"):
        confidence().of("beams", signs)


def test_it_reads_back_as_it_was_written_and_has_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(encode_fitted(confidence()))
    assert read_confidence(path, ["beam", "collapsed"]) == confidence()
    assert path.read_text().startswith('{\n  "format": "assay/confidence/1",\n')
    before = fitted_hash(path)
    path.write_bytes(encode_fitted(confidence()).replace(b"0.5", b"0.6"))
    assert fitted_hash(path) != before


def changed(**what: Any) -> bytes:
    return msgspec.json.encode({**msgspec.to_builtins(confidence()), **what})


def changed_way(**what: Any) -> bytes:
    return changed(paths={"beam": {**msgspec.to_builtins(way(0.0)), **what}})


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"{", "not a confidence: not JSON"),
        (b"\xff", "not a confidence"),
        (b"{}", "c.json: format: not a confidence: the field is missing"),
        (changed(version="0"), f"not fitted yet for this version: it is {CONFIDENCE_FORMAT}, features 0"),
        (changed(format="assay/detector/1"), "not fitted yet for this version"),
        (changed(paths={}), "it was not fitted for beam"),
        (
            changed_way(signs={"words": {"mean": 0, "scale": 1}}),
            "beam reads other features than there are: ali",
        ),
        (changed_way(weights={}), "the weights of beam are not those of its features"),
        (changed_way(signs={name: {"mean": 0, "scale": 0} for name in NAMES}), "the scale of 'words' is 0"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "c.json").write_bytes(data)
    with pytest.raises(DataError, match=what) as caught:
        read_confidence(tmp_path / "c.json", ["beam"])
    assert "run `assay fit STUDY`" in str(caught.value)


def test_a_file_that_is_not_there_or_knows_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.json: not fitted yet\. Fit it: run `assay fit STUDY`"):
        read_confidence(tmp_path / "gone.json")
    (tmp_path / "c.json").write_bytes(changed(paths={}))
    with pytest.raises(DataError, match="it knows no path of retrieval"):
        read_confidence(tmp_path / "c.json")
