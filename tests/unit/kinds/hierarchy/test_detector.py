"""Signs of a query and of what came back; the regression; the file of a detector and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Hit, Passage
from assay.kinds.hierarchy.features import DEPTH, NAMES, VERSION, FeatureExtractor, WordFrequencies
from assay.kinds.hierarchy.fitted import (
    DETECTOR_FORMAT,
    Detector,
    DetectorOrigin,
    FeatureScale,
    KindModel,
    encode_fitted,
    read_detector,
)
from assay.kinds.hierarchy.logistic import (
    DetectionRates,
    Scaler,
    best_strength,
    best_threshold,
    fit_logistic,
    folds,
)
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.words import find_capitalized_names, find_identifiers, question_features

CORPUS = Corpus(
    [
        Passage("a:0", "Mara Quint leads the ferry. It was built in 2019.", source="a", section="staff"),
        Passage("a:1", "The ferry holds 40 cars.", source="a", section="deck"),
        Passage("b:0", "A harbour has a crane.", title="Harbour"),
    ]
)


@pytest.fixture(scope="module")
def extractor() -> FeatureExtractor:
    texts = [f"{passage.title} {passage.text}" for passage in CORPUS.passages]
    return FeatureExtractor(CORPUS, WordFrequencies.count(texts), StaticEmbedder().load(Kit()))


# --------------------------------------------------------------------------------------- the query


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Which release fixed INC-2041 in v1.30.2?", ["inc-2041", "v1.30.2"]),
        ("Was it 2024-05-01, or 17?", ["2024-05-01", "17"]),
        ("and/or nothing", []),
        ("17 and 17", ["17"]),
    ],
)
def test_identifiers_are_what_has_a_digit_joined_as_written(query: str, found: list[str]) -> None:
    assert find_identifiers(query) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Who is Mara Quint's deputy in Tollen?", ["Mara Quint", "Tollen"]),
        ("Compare the ferry and the crane", []),  # how a sentence begins
        ("Mara Quint leads what?", ["Mara Quint"]),
        ("What Orr Mill makes", ["Orr Mill"]),
        ("The Orr Mill", ["Orr Mill"]),
        ("Was INC-2041 closed?", []),  # parts of an identifier with a digit are not names
    ],
)
def test_names_are_runs_of_capitalised_words(query: str, found: list[str]) -> None:
    assert [name for name in find_capitalized_names(query) if name != "INC"] == found


def test_cue_words_are_counted_by_sort() -> None:
    features = question_features("List all rules that changed between May and June, more than how many?")
    # list, all, how many; changed, between; between, more, than
    assert (features["enumerating"], features["changing"], features["comparing"]) == (3, 2, 3)
    assert features["words"] == 13
    assert question_features("Enlist the install")["enumerating"] == 0  # words, not parts of words


@pytest.mark.parametrize(
    ("query", "several"),
    [
        ("Which active ferries are there?", 1.0),
        ("Which ferry is there?", 0.0),
        ("What does the status say?", 0.0),
        ("Which bus is late?", 0.0),
    ],
)
def test_a_plural_after_which_asks_for_several(query: str, several: float) -> None:
    assert question_features(query)["plural"] == several


# ----------------------------------------------------------------------------------- what came back


def test_a_word_weighs_its_rarity_as_a_share_of_what_a_word_can_weigh(extractor: FeatureExtractor) -> None:
    counts = extractor.frequencies
    assert (counts.total, counts.words["ferri"], counts.words["harbour"]) == (3, 2, 1)
    assert counts.identifiers == {"2019", "40"}
    # ln(1 + (3 - 2 + 0.5) / 2.5) / ln(1 + 3.5 / 0.5) = ln 1.6 / ln 8
    assert counts.weight("ferri") == pytest.approx(math.log(1.6) / math.log(8))
    assert counts.weight("elsewhere") == 1.0


def test_every_feature_is_there_in_order_for_any_hits(extractor: FeatureExtractor) -> None:
    for hits in ([], [Hit("b:0", 1.0)], [Hit("gone", 2.0), Hit("a:1", -3.0)]):
        features = extractor.features("Who leads the ferry?", hits)
        assert tuple(features) == NAMES
        assert all(math.isfinite(value) for value in features.values())


def test_the_share_of_the_query_s_words(extractor: FeatureExtractor) -> None:
    ferri, absent = math.log(1.6) / math.log(8), 1.0
    lead = math.log(1 + 2.5 / 1.5) / math.log(8)
    total = ferri + lead + absent
    features = extractor.features("who leads the ferry to Orkney", [Hit("a:1", 2.0), Hit("a:0", 1.0)])
    assert features["mass_first"] == pytest.approx(ferri / total)
    assert features["mass_three"] == features["mass_ten"] == pytest.approx((ferri + lead) / total)
    assert features["mass_passage"] == features["mass_sentence"] == pytest.approx((ferri + lead) / total)
    assert features["heaviest_lost"] == 1.0
    assert features["any_unknown"] == 1.0
    assert features["unknown_words"] == pytest.approx(1 / 3)
    assert features["named_ten"] == 0.0  # Orkney is in neither


def test_names_are_looked_for_together_and_apart(extractor: FeatureExtractor) -> None:
    hits = [Hit("a:0", 2.0), Hit("a:1", 1.0)]
    features = extractor.features("Did Mara Quint load 40 cars in 2031?", hits)
    # mara quint is in the first, 40 in the second, 2031 nowhere: 2 of 3 in all, 1 of 3 in one
    assert features["named_ten"] == pytest.approx(2 / 3)
    assert features["named_passage"] == pytest.approx(1 / 3)
    assert features["nowhere"] == 1.0


def test_how_scores_fall_and_what_came_back_is_spread(extractor: FeatureExtractor) -> None:
    features = extractor.features("ferry", [Hit("a:0", 4.0), Hit("a:1", 3.0), Hit("b:0", 1.0)])
    assert (features["fall_second"], features["fall_tenth"]) == (0.25, 1.0)  # (4 - 3) / 4; there is no tenth
    assert (features["returned"], features["documents"], features["sections"]) == (
        3 / DEPTH,
        2 / DEPTH,
        3 / DEPTH,
    )
    below = extractor.features("ferry", [Hit("a:0", -1.0), Hit("a:1", -2.0)])
    assert below["fall_second"] == 0.5  # (-1 + 2) / 2
    assert extractor.features("ferry", [Hit("a:0", 0.0), Hit("a:1", 0.0)])["fall_second"] == 0.0


def test_nearness_is_the_static_model_s_cosine(extractor: FeatureExtractor) -> None:
    features = extractor.features("The ferry holds 40 cars.", [Hit("a:1", 2.0), Hit("b:0", 1.0)])
    assert features["near_first"] == pytest.approx(1.0, abs=1e-5)
    assert features["near_sentence"] == pytest.approx(1.0, abs=1e-5)
    assert features["near_rest"] < 0.7
    assert features["near_spread"] == pytest.approx(
        (1 - features["near_rest"]) / 2, abs=1e-5
    )  # of two values
    assert features["alike"] == pytest.approx(features["near_rest"], abs=1e-5)  # the first is the query


# -------------------------------------------------------------------------------------- regression


def test_a_column_that_never_varies_is_left_at_zero() -> None:
    rows = np.array([[1.0, 7.0], [3.0, 7.0]])
    scaling = Scaler.of(rows)
    assert scaling.scaled(rows).tolist() == [[-1.0, 0.0], [1.0, 0.0]]  # mean 2, deviation 1


def test_without_a_column_that_says_anything_the_bias_is_the_odds() -> None:
    truth = np.array([True, False, False, False])
    model = fit_logistic(np.zeros((4, 1)), truth, 1.0)
    assert model.weights.tolist() == [0.0]
    assert model.bias == pytest.approx(math.log(1 / 3), abs=1e-5)  # one to three


def test_both_classes_are_dealt_out_in_turn() -> None:
    truth = np.array([True, False, True, False, False, False, False, False])
    assert folds(truth).tolist() == [0, 0, 1, 1, 2, 3, 4, 0]


def test_noise_is_given_the_least_strength_and_a_clear_sign_much() -> None:
    truth = np.array([True, False] * 20)
    clear = np.array([[1.0], [-1.0]] * 20)
    noise = np.array([[1.0], [1.0], [-1.0], [-1.0]] * 10)  # the same in both classes
    assert best_strength(noise, truth) == 0.001
    assert best_strength(clear, truth) == 10.0


@pytest.mark.parametrize(
    ("probabilities", "due", "least", "threshold"),
    [
        # from 0.6 on: precision 2/3, recall 1, F1 0.8; from 0.9 on: 1, 1/2, 2/3
        ([0.9, 0.8, 0.6, 0.1], [1, 0, 1, 0], 0.5, 0.6),
        ([0.9, 0.8, 0.6, 0.1], [1, 0, 1, 0], 0.8, 0.9),
        # none is precise enough: from 0.1 on, 1/4, 1, F1 0.4; from 0.2 on, 1/3, 1, F1 0.5
        ([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 0], 0.8, 0.2),
        # F1 from 0.7 on, 1/1 and 1/2: 2/3; from 0.4 on, 2/4 and 2/2: 2/3. A tie: the higher
        ([0.7, 0.6, 0.5, 0.4], [1, 0, 0, 1], 0.0, 0.7),
    ],
)
def test_thresholds(probabilities: list[float], due: list[int], least: float, threshold: float) -> None:
    assert best_threshold(np.array(probabilities), np.array(due, dtype=bool), least) == threshold


def test_a_threshold_keeps_the_probability_it_was_read_from() -> None:
    probabilities = np.array([2 / 3, 1 / 3])
    threshold = best_threshold(probabilities, np.array([True, False]), 0.8)
    assert (threshold, probabilities[0] >= threshold) == (0.666666, True)


def test_no_alarm_has_no_precision_and_none_due_no_recall() -> None:
    none, some = np.zeros(2, dtype=bool), np.ones(2, dtype=bool)
    assert DetectionRates.of(none, some) == (None, 0.0, 2)
    assert DetectionRates.of(some, none) == (0.0, None, 0)
    assert DetectionRates.of(none, some).f1 == 0.0


# ---------------------------------------------------------------------------------------- the file


def detector(**kinds: tuple[float, float]) -> Detector:
    """One that looks at `words` alone: a bias and a threshold a kind, weight 1 a word."""
    weights = dict.fromkeys(NAMES, 0.0) | {"words": 1.0}
    origin = DetectorOrigin("d", "", "", "s", {}, "", {}, {})
    signs = dict.fromkeys(NAMES, FeatureScale(0.0, 2.0))
    made = {kind: KindModel(threshold, 1.0, bias, weights) for kind, (bias, threshold) in kinds.items()}
    return Detector(DETECTOR_FORMAT, VERSION, origin, signs, made)


def test_the_more_probable_of_two_kinds_is_called() -> None:
    rows = [dict.fromkeys(NAMES, 0.0) | {"words": float(words)} for words in (0, 2, 4)]
    both = detector(one=(-1.0, 0.6), other=(-0.5, 0.9))
    # logits of one: -1, 0, 1 (0.27, 0.5, 0.73); of other: -0.5, 0.5, 1.5 (0.38, 0.62, 0.82)
    assert both.decide(rows) == [None, None, "one"]
    assert both.probabilities(rows)["one"].tolist() == pytest.approx([0.26894, 0.5, 0.73106], abs=1e-5)
    assert detector(one=(-1.0, 0.6), other=(-0.5, 0.8)).decide(rows) == [None, None, "other"]


def test_it_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_bytes(encode_fitted(detector(aggregation=(0.0, 0.5))))
    assert read_detector(path) == detector(aggregation=(0.0, 0.5))
    assert path.read_text().startswith('{\n  "format": "assay/detector/1",\n')


def changed(**what: Any) -> bytes:
    plain = msgspec.to_builtins(detector(aggregation=(0.0, 0.5)))
    return msgspec.json.encode({**plain, **what})


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"{", "not a detector: not JSON"),
        (b"\xff", "not a detector"),
        (b"{}", "d.json: format: not a detector: the field is missing"),
        (changed(version="0"), f"not fitted yet for this version: it is {DETECTOR_FORMAT}, features 0"),
        (changed(format="assay/detector/0"), "not fitted yet for this version"),
        (changed(kinds={}), "it knows no kind"),
        (changed(signs={"words": {"mean": 0, "scale": 1}}), "other features than there are: alike, "),
        (changed(signs={name: {"mean": 0, "scale": 0} for name in NAMES}), "the scale of 'words' is 0"),
        (
            changed(kinds={"out_of_kb": {"threshold": 0.5, "strength": 1, "bias": 0, "weights": {}}}),
            "the weights of 'out_of_kb'",
        ),
        (
            changed(kinds={"too long": {"threshold": 0.5, "strength": 1, "bias": 0, "weights": {}}}),
            "'too long' is not a kind of impossible query; .* one of aggregation, out_of_kb",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "d.json").write_bytes(data)
    with pytest.raises(DataError, match=what) as caught:
        read_detector(tmp_path / "d.json")
    assert "run `assay fit STUDY`" in str(caught.value)


def test_a_file_that_is_not_there_was_not_fitted_yet(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.json: not fitted yet\. Fit it: run `assay fit STUDY`"):
        read_detector(tmp_path / "gone.json")
