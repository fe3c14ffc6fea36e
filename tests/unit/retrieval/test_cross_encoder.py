"""Cross-encoders, on tiny weights made here: what is loaded, scored and refused."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import PluginError, SystemFailure, UsageError
from assay.core.parts import Reranker
from assay.core.protocols import Kit
from assay.core.registry import RERANKERS, Registry
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.rerankers import CrossEncoder, PairScorer
from stand_ins.hub import Hub

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
WORDS = [*SPECIAL.values(), "who", "barks", "the", "dog", "cat", "sleeps", "zinc", "heart"]
POSITIONS = 32
REASON = "pip install 'retrieval-assay[sentence-transformers]'"

# torch and its tokenizers warn about themselves as they are imported
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a folder with a model of two small layers, random but seeded, and its tokenizer."""
    torch = pytest.importorskip("torch", reason=REASON)
    transformers = pytest.importorskip("transformers", reason=REASON)
    pytest.importorskip("sentence_transformers", reason=REASON)
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    def folder(kind: str = "BertForSequenceClassification", labels: int = 1, seed: int = 0) -> Path:
        torch.manual_seed(seed)
        config = transformers.BertConfig(
            vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64, max_position_embeddings=POSITIONS, num_labels=labels, initializer_range=0.5,
        )  # fmt: skip
        path = tmp_path_factory.mktemp("model")
        getattr(transformers, kind)(config).save_pretrained(path)
        words = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, "[UNK]"))
        words.pre_tokenizer = pre_tokenizers.Whitespace()
        words.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
        transformers.PreTrainedTokenizerFast(tokenizer_object=words, **SPECIAL).save_pretrained(path)
        return path

    return folder


def load(path: Path, **parameters: object) -> PairScorer:
    return CrossEncoder(str(path), device="cpu", **parameters).load(StaticEmbedder(), Kit())  # type: ignore[arg-type]


TEXTS = ["the dog barks", "the cat sleeps", "zinc", "the dog barks", "heart " * 60]


def test_scores_are_those_of_the_weights_run_by_transformers(make: Callable[..., Path]) -> None:
    import torch
    import transformers

    path = make()
    network = transformers.AutoModelForSequenceClassification.from_pretrained(path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    expected = []
    for text in TEXTS:  # one at a time, so without padding
        encoded = tokenizer("who barks", text, truncation=True, max_length=POSITIONS, return_tensors="pt")
        with torch.inference_mode():
            expected.append(torch.sigmoid(network(**encoded).logits).item())
    scored = load(path, batch=2).scores("who barks", TEXTS)
    assert scored.scores == pytest.approx(expected, abs=1e-5)
    assert scored.scores.dtype == np.float64
    assert len(set(expected)) == 4  # the weights do tell texts apart
    assert scored.scores[0] == scored.scores[3]


def test_counts_the_tokens_it_read(make: Callable[..., Path]) -> None:
    # [CLS] who barks [SEP] … [SEP] is 5 and the text: 3, 3, 1, the first once more not read again; cut: 32
    assert load(make()).scores("who barks", TEXTS).tokens == 8 + 8 + 6 + 32
    assert load(make(), max_tokens=10).scores("who barks", TEXTS).tokens == 8 + 8 + 6 + 10


def test_reads_only_as_far_as_it_was_told_to(make: Callable[..., Path]) -> None:
    path = make()
    same_beginning = ["the dog barks", "the dog sleeps"]
    whole, cut = load(path), load(path, max_tokens=7)  # room for two words of the text
    assert np.ptp(whole.scores("who barks", same_beginning).scores) > 1e-3
    assert np.ptp(cut.scores("who barks", same_beginning).scores) < 1e-6


def test_of_no_texts_there_are_no_scores(make: Callable[..., Path]) -> None:
    scored = load(make()).scores("who barks", [])
    assert scored.scores.tolist() == []
    assert scored.tokens == 0


def test_threads_may_share_it(make: Callable[..., Path]) -> None:
    scorer = load(make())
    expected = scorer.scores("who barks", TEXTS).scores.tolist()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: scorer.scores("who barks", TEXTS), range(12)):
            assert found.scores.tolist() == expected


def test_is_known_by_its_weights_and_read_once(make: Callable[..., Path]) -> None:
    path, other = make(seed=0), make(seed=1)
    assert CrossEncoder(str(path)).identity(Kit()) == CrossEncoder(str(make(seed=0))).identity(Kit())
    assert CrossEncoder(str(path)).identity(Kit()) != CrossEncoder(str(other)).identity(Kit())
    assert load(path) is load(path)


def test_a_folder_is_relative_to_the_study(make: Callable[..., Path]) -> None:
    path = make()
    part = CrossEncoder(path.name, device="cpu")
    scored = part.load(StaticEmbedder(), Kit(root=path.parent)).scores("who barks", ["zinc"])
    assert scored.scores.tolist() == load(path).scores("who barks", ["zinc"]).scores.tolist()


def test_refuses_a_model_without_a_trained_score(make: Callable[..., Path]) -> None:
    missing = r"lack tensors that the model uses \(classifier\.bias, classifier\.weight\)"
    with pytest.raises(SystemFailure, match=rf"{missing}\..*trained for this work"):
        load(make("BertModel"))


def test_refuses_a_model_with_several_scores(make: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="gives 3 scores per pair"):
        load(make(labels=3))


def test_refuses_more_tokens_than_the_model_reads(make: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match=r"max_tokens is 33, but .* has 32 positions"):
        load(make(), max_tokens=33)


def test_refuses_scores_that_are_no_numbers(make: Callable[..., Path]) -> None:
    import torch
    import transformers

    path = make(seed=2)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(path)
    with torch.no_grad():
        network.classifier.bias.fill_(float("nan"))
    network.save_pretrained(path)
    with pytest.raises(SystemFailure, match="not a number, for the query 'who barks'"):
        load(path).scores("who barks", ["zinc"])


def test_says_when_a_device_is_not_there(make: Callable[..., Path]) -> None:
    import torch

    missing = "mps" if torch.cuda.is_available() else "cuda"
    with pytest.raises(UsageError, match=f"device is '{missing}'"):
        CrossEncoder(str(make()), device=missing).load(StaticEmbedder(), Kit())  # type: ignore[arg-type]


def test_says_when_a_folder_is_no_model(make: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(SystemFailure, match="could not load"):
        load(tmp_path)


def test_says_when_the_weights_are_cut_off(make: Callable[..., Path]) -> None:
    weights = make() / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    with pytest.raises(SystemFailure, match="could not load"):
        load(weights.parent)


ASK = """
from assay.core.protocols import Kit
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.rerankers import CrossEncoder
scorer = CrossEncoder("owner/tiny", device="cpu").load(StaticEmbedder(), Kit())
print(scorer.scores("who barks", ["zinc"]).scores.tolist())
"""


@pytest.mark.slow
def test_comes_from_the_hub_once_and_is_not_asked_for_again(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    path = make()
    with Hub(path, "owner/tiny") as server:
        env = {**os.environ, "HF_HOME": str(tmp_path), "HF_ENDPOINT": server.url, "NO_PROXY": "127.0.0.1"}
        env.pop("HF_HUB_OFFLINE", None)
        for _ in range(2):
            command = [sys.executable, "-c", ASK]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=120)
            assert done.stdout.strip() == str(load(path).scores("who barks", ["zinc"]).scores.tolist())
            asked, server.asked = [path for path in server.asked if "owner/tiny" in path], []
    assert asked == []


# ------------------------------------------------------------------- without the library


def test_says_what_to_install(tmp_path: Path) -> None:
    if importlib.util.find_spec("sentence_transformers"):
        pytest.skip("it is installed here")
    with pytest.raises(PluginError, match=r"pip install 'retrieval-assay\[sentence-transformers\]'"):
        load(tmp_path)


def test_says_when_there_is_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no folder"):
        load(tmp_path / "missing")


@pytest.mark.parametrize("parameters", [{"batch": 0}, {"max_tokens": 4}])
def test_refuses_parameters_that_mean_nothing(parameters: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=rf"{next(iter(parameters))} is \d\. It must be at least"):
        CrossEncoder("some/model", **parameters)  # type: ignore[arg-type]


def test_is_made_from_what_a_study_says() -> None:
    registry = Registry({RERANKERS: {"cross_encoder": CrossEncoder}})
    made = registry.create(RERANKERS, "cross_encoder(model=cross-encoder/ms-marco-MiniLM-L6-v2, batch=16)")
    assert made == CrossEncoder("cross-encoder/ms-marco-MiniLM-L6-v2", batch=16)
    assert isinstance(made, Reranker)
