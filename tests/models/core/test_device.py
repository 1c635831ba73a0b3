from types import SimpleNamespace

import pytest
import torch

from models.core.device import (
    LEAST_FREE,
    Precision,
    choose_device,
    choose_precision,
    gpu_memory,
    has_native_bf16,
    set_threads,
)
from models.errors import ModelError, english, use


def test_the_processor_is_described() -> None:
    device = choose_device("cpu")
    assert device.dtype is torch.float32
    assert "processor" in device.sentence


def test_devices_that_are_not_there_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("cuda", "cuda:7", "tpu"):
        with pytest.raises(ModelError, match="not available"):
            choose_device(name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ModelError, match="this computer has 1"):
        choose_device("cuda:7")


def test_only_gpus_round_products_and_compute_attention_without_cudnn(monkeypatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", asked.append)
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", asked.append)
    choose_device("cpu")
    assert not asked
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    properties = SimpleNamespace(name="Card", total_memory=2**35)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    assert "GPU Card (32 GiB)" in choose_device("cuda:0").sentence
    assert asked == ["high", False]


def test_a_gpu_that_others_fill_is_not_chosen_by_itself(monkeypatch) -> None:
    card = SimpleNamespace(name="Card", total_memory=2**35)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (LEAST_FREE, 2**35))
    assert choose_device("auto").name == "cuda"
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (300 * 2**20, 2**35))
    chosen = choose_device("auto")
    assert chosen.name == "cpu"
    assert chosen.sentence.startswith("The GPU has only 300 MiB free. The encoder runs on the processor")
    assert choose_device("cuda").name == "cuda"
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: LEAST_FREE)
    assert choose_device("auto").name == "cuda", "this process holds the memory itself, and can use it again"


def test_records_get_the_sentence_in_english(monkeypatch) -> None:
    use(lambda text, **values: "Deutsch", lambda one, many, n, **values: "Deutsch")
    try:
        sentence = choose_device("cpu").sentence
    finally:
        use()
    assert sentence == "Deutsch"
    assert english(sentence).startswith("The encoder runs on the processor")


def test_a_gpu_without_room_even_for_the_question_has_no_memory(monkeypatch) -> None:
    def asked(device: int) -> tuple[int, int]:
        raise RuntimeError(words)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", asked)
    words = "CUDA error: out of memory"
    assert gpu_memory() == 0
    words = "CUDA error: unspecified launch failure"
    with pytest.raises(RuntimeError, match="launch"):
        gpu_memory()


def test_the_number_format_is_part_of_the_device() -> None:
    half = choose_device("cpu", precision="bf16")
    assert half.precision is Precision.BF16
    assert half.dtype is torch.bfloat16
    assert "bfloat16" in half.sentence


def test_auto_is_bfloat16_only_where_the_processor_multiplies_in_it(monkeypatch) -> None:
    monkeypatch.setattr("models.core.device.has_native_bf16", lambda: True)
    assert choose_precision("auto", device="cpu") is Precision.BF16
    assert choose_precision("auto", device="cuda") is Precision.FP32
    monkeypatch.setattr("models.core.device.has_native_bf16", lambda: False)
    assert choose_precision("auto", device="cpu") is Precision.FP32


def test_native_bfloat16_is_told_by_the_processor(monkeypatch) -> None:
    for found, expected in (({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({"avx2": True}, False)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda found=found: found, raising=False)
        assert has_native_bf16() is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert has_native_bf16() is False


def test_number_formats_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ModelError, match="Unknown number format 'fp8'"):
        choose_precision("fp8", device="cpu")


def test_one_core_can_be_left_free() -> None:
    before = torch.get_num_threads()
    try:
        every = set_threads(leave_one_free=False)
        assert set_threads(leave_one_free=True) == max(1, every - 1)
    finally:
        torch.set_num_threads(before)
