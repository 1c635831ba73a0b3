import pytest
import torch

from models.device import choose_device, set_threads
from models.errors import ModelError


def test_the_processor_is_described() -> None:
    device = choose_device("cpu")
    assert device.dtype is torch.float32
    assert "processor" in device.sentence
    assert choose_device("cpu", dtype=torch.float16).dtype is torch.float16


def test_devices_that_are_not_there_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("cuda", "cuda:7", "tpu"):
        with pytest.raises(ModelError, match="not available"):
            choose_device(name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ModelError, match="this machine has 1"):
        choose_device("cuda:7")


def test_one_core_can_be_left_free() -> None:
    before = torch.get_num_threads()
    try:
        every = set_threads(leave_one_free=False)
        assert set_threads(leave_one_free=True) == max(1, every - 1)
    finally:
        torch.set_num_threads(before)
