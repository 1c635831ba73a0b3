"""What the machine with the GPU needs and does not have: corpora, knowledge base, encoder, wheels.

The default encoder travels with its weights in half precision (float16, half as large); how near its vectors stay to
the originals is measured and kept in the manifest. Wheels are those of the packages that `models` and `training` import
and that come neither with Python nor with torch, transformers or scikit-learn.
"""

from __future__ import annotations

import importlib
import importlib.util
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.gpu.pieces import MANIFEST, PackError, join, read_manifest, split, take

SIZE = 48 * 10**6
"""Bytes of a piece: with the repository's own files it stays below 64 MiB, which some machines take at once."""
DATA = (
    "bc5cdr/train.pubtator.txt",
    "bc5cdr/dev.pubtator.txt",
    "ncbi_disease/train.pubtator.txt",
    "ncbi_disease/dev.pubtator.txt",
    "kb/mesh_medic.jsonl.gz",
)
WHEELS: Mapping[str, str] = {
    "ahocorasick": "pyahocorasick",
    "faiss": "faiss-cpu",
    "llvmlite": "llvmlite",
    "numba": "numba",
    "platformdirs": "platformdirs",
    "psutil": "psutil",
}
"""Module → package."""
FAISS_GPU = ("faiss-gpu", "nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12", "nvidia-curand-cu12")
PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_24", "manylinux_2_17", "manylinux2014", "manylinux1")
PIECES, SITE = ".pieces", "site"


def pack(data: Path, out: Path, *, size: int = SIZE, wheels: bool = True, faiss_gpu: bool = False) -> dict[str, Any]:
    """Write everything as pieces into `out`; the manifest.

    `faiss_gpu` adds FAISS for GPUs and the CUDA 12 libraries that it loads (0.7 GB).
    """
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        facts = half_encoder(work / "encoder")
        files = {f"data/{name}": _present(data / name) for name in DATA}
        if wheels:
            download(work / "wheels", [*WHEELS.values(), *(FAISS_GPU if faiss_gpu else ())])
        made = sorted(path for path in work.rglob("*") if path.is_file())
        files |= {path.relative_to(work).as_posix(): path for path in made}
        return split(files, out, size=size, facts=facts)


def half_encoder(folder: Path) -> dict[str, Any]:
    """Write the default encoder with float16 weights; how near its vectors are to the original's."""
    from safetensors.torch import load_file, save_file

    from models.encoders.default_encoder import default_encoder_folder
    from models.encoders.encoder_folder import read_folder
    from models.encoders.encoders import load_encoder

    source = default_encoder_folder()
    read_folder(source).copy_to(folder)
    weights = folder / "model.safetensors"
    halves = {name: one.half() if one.is_floating_point() else one for name, one in load_file(weights).items()}
    if not all(bool(one.isfinite().all()) for one in halves.values()):
        raise PackError(f"The weights in {source} do not fit into float16. Pack another encoder.")
    save_file(halves, weights, metadata={"format": "pt"})
    texts = ["heart failure", "decreased renal function", "Cancer, Breast", "NTG", "glucose-6-phosphate deficiency"]
    exact, near = (load_encoder(one, device="cpu").encode(texts) for one in (source, folder))
    return {"encoder": "default, weights in float16", "smallest_cosine": round(float((exact * near).sum(1).min()), 7)}


def download(folder: Path, packages: Iterable[str]) -> None:
    """Wheels for Python 3.12 on Linux x86-64, of the versions that are installed here where they are."""
    tags = [word for name in PLATFORMS for word in ("--platform", f"{name}_x86_64")]
    installed = {one.name.lower().replace("_", "-"): one.version for one in metadata.distributions()}
    wanted = [f"{name}=={installed[name]}" if name in installed else name for name in packages]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", "3.12", "--implementation", "cp", *tags, "--dest", str(folder), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackError(
            f"pip could not download the wheels ({done.stderr.strip().splitlines()[-1:]}). Check the network, or pack "
            "with --no-wheels where the other machine has these packages."
        )


def bring(pieces: Path | None, material: Path) -> list[str]:
    """Take over the pieces that have arrived and join them once all are there; the names of those still missing.

    What was joined stays; PackError where `pieces` are of another pack.
    """
    kept, joined = material / PIECES, material / MANIFEST
    if joined.is_file():
        if pieces is not None and read_manifest(pieces) != read_manifest(material):
            raise PackError(f"{material} holds another pack than {pieces}. Remove {material}, then join again.")
        return []
    if pieces is None:
        raise PackError(f"There is no material in {material}. Name the folder of the pieces with --pieces.")
    missing = take(pieces, kept)
    if not missing:
        join(kept, material)
        (kept / MANIFEST).replace(joined)
        shutil.rmtree(kept)
    return missing


def use_site(material: Path) -> list[str]:
    """Install what of the wheels this Python lacks below the material, and let imports find it; the packages' names.

    PackError where a package is neither here nor among the wheels.
    """
    site = material / SITE
    if site.is_dir():
        sys.path.insert(0, str(site))
    lacking = {module: package for module, package in WHEELS.items() if importlib.util.find_spec(module) is None}
    if not lacking:
        return []
    wheels = [_wheel(material / "wheels", package) for one in lacking.values() for package in _with_gpu(material, one)]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-compile",
        "--upgrade",
    ]
    done = subprocess.run(
        [*command, "--target", str(site), *map(str, wheels)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PackError(f"pip could not install the wheels into {site}: {done.stderr.strip()[-500:]}")
    if str(site) not in sys.path:
        sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    return sorted(lacking.values())


def _with_gpu(material: Path, package: str) -> tuple[str, ...]:
    """FAISS for GPUs and its libraries in the place of FAISS where they were packed and there is a GPU."""
    if package != "faiss-cpu" or not list((material / "wheels").glob("faiss_gpu-*.whl")):
        return (package,)
    import torch

    return FAISS_GPU if torch.cuda.is_available() else (package,)


def _wheel(folder: Path, package: str) -> Path:
    found = sorted(folder.glob(f"{package.replace('-', '_')}-*.whl")) + sorted(folder.glob(f"{package}-*.whl"))
    if not found:
        raise PackError(
            f"This Python ({platform.python_version()}) has no package {package}, and {folder} holds no wheel of it. "
            "Pack with wheels and bring all pieces, or install it."
        )
    return found[0]


def _present(path: Path) -> Path:
    if not path.is_file():
        raise PackError(f"{path} is missing. Name the folder of the corpora with --data.")
    return path
