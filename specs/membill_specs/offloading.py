"""What can be moved off the device, and over which links."""

from membill.spec import Link, Movement, register

register(
    Movement(
        "activations",
        "activations",
        1,
        1,
        "Out as forward makes them, in again as backward needs them.",
        "Rhu et al. 2016, vDNN; torch.autograd.graph.save_on_cpu",
    ),
    Movement(
        "moments",
        "moments",
        1,
        1,
        "In for the optimizer's step on the device, and out again.",
        "Rajbhandari et al. 2021, ZeRO-Infinity",
    ),
    Movement(
        "gradients",
        "gradients",
        1,
        0,
        "Out as backward makes them, to an optimizer that runs on the host.",
        "Ren et al. 2021, ZeRO-Offload",
    ),
    Movement(
        "weights",
        "weights",
        0,
        2,
        "In for forward and once more for backward; the host holds them.",
        "Rajbhandari et al. 2021, ZeRO-Infinity",
    ),
)

register(
    Link("pcie-5-x16", "PCIe 5.0 x16", 64 * 10**9, "PCI-SIG: 32 GT/s on 16 lanes, each way"),
    Link("pcie-4-x16", "PCIe 4.0 x16", 32 * 10**9, "PCI-SIG: 16 GT/s on 16 lanes, each way"),
    Link("nvme-pcie-4-x4", "NVMe on PCIe 4.0 x4", 8 * 10**9, "PCI-SIG: 16 GT/s on 4 lanes"),
)
