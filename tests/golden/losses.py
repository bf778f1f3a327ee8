#!/usr/bin/python3
"""Writes losses.txt beside it: losses as PyTorch computes them. The means are over the batch, the gradients those of the
sum over it: dx with respect to the predictions, dt, where there is one, to the targets."""

import itertools

import torch
from torch.nn import functional

from cases import lines, numbers, put, write


def case(name, x, target, total):
    total.backward()
    lines.append(name)
    gradients = {"dx": x.grad, "dt": target.grad}
    for word, values in {"in": x.shape, "x": x, "target": target, "y": total / x.shape[0], **gradients}.items():
        if values is not None:
            put(word, torch.as_tensor(values).detach())


def between(*shape):
    """Probabilities: multiples of 1/64 from 1/64 to 63/64."""
    return (torch.randint(1, 64, shape) / 64).requires_grad_()


def distributions(rows, size):
    """Rows with a sum of 1, of exact numbers above 0."""
    cuts = torch.stack([torch.randperm(63)[: size - 1].sort().values + 1 for _ in range(rows)])
    ends = torch.cat([torch.zeros(rows, 1), cuts, torch.full((rows, 1), 64.0)], 1)
    return (ends.diff(dim=1) / 64).requires_grad_()


def transport(a, b, cost, strength, iterations=4000):
    """The entropic cost of transport (its plan's cost less entropy / strength), by Sinkhorn's iterations on logarithms."""
    f, g = torch.zeros_like(a), torch.zeros_like(b)
    for _ in range(iterations):
        f = a.log() - torch.logsumexp(g[:, None, :] - strength * cost, 2)
        g = b.log() - torch.logsumexp(f[:, :, None] - strength * cost, 1)
    plan = (f[:, :, None] + g[:, None, :] - strength * cost).exp()
    return (plan * cost).sum(), f / strength, g / strength


x, t = numbers(3, 5), numbers(3, 5)
case("square_loss", x, t, 0.5 * functional.mse_loss(x, t, reduction="sum"))
x, t = between(4, 7), between(4, 7)
case("binary_cross_entropy", x, t, functional.binary_cross_entropy(x, t, reduction="sum"))
x, t = numbers(4, 6), (torch.randint(0, 2, (4, 6)) * 2 - 1.0).requires_grad_()
case("hinge", x, t, (1 - t * x).clamp(min=0).sum())
x, t = numbers(3, 5), (torch.randint(8, 129, (3, 5)) / 64).requires_grad_()
normal = torch.distributions.Normal
case("gaussian_kl", x, t, torch.distributions.kl_divergence(normal(x, t), normal(0.0, 1.0)).sum())

x, t = numbers(4, 6), torch.tensor([5, 0, 3, 3])
case("softmax_loss", x, t, functional.cross_entropy(x, t, reduction="sum"))
weights = torch.tensor([0.5, 2, 1, 0.25])
x, t = numbers(2, 4, 2, 3), torch.randint(0, 4, (2, 2, 3))
case("softmax_loss_image", x, t, functional.cross_entropy(x, t, weight=weights, reduction="sum") / 6)
x, t = numbers(3, 2, 4), torch.randint(0, 4, (3, 2))
scaled = weights * 4 / weights.sum()
case("softmax_loss_scaled", x, t, functional.cross_entropy(x.mT, t, weight=scaled, reduction="sum") / 2)
x, t = between(4, 6), torch.tensor([5, 0, 3, 3])
case("multinomial_logistic", x, t, functional.nll_loss(x.log(), t, reduction="sum"))
x, t = between(2, 4, 3), torch.randint(0, 4, (2, 3))
case("multinomial_logistic_scaled", x, t, functional.nll_loss(x.log(), t, weight=scaled, reduction="sum") / 3)
x, t = numbers(3, 6), distributions(3, 6)
case("softlabel_softmax", x, t, functional.cross_entropy(x, t, reduction="sum"))
x, t = numbers(2, 4, 3), between(2, 4, 3)
case("softlabel_softmax_positions", x, t, functional.cross_entropy(x, t, reduction="sum") / 3)

for name, power, strength in ("wasserstein", 1, 10), ("wasserstein_squares", 2, 5):
    a, b = distributions(3, 6), distributions(3, 6)
    places = torch.arange(6.0)
    cost = ((places[:, None] - places).abs() / 5) ** power
    value, da, db = transport(a.detach(), b.detach(), cost, strength)
    lines.append(name)
    for word, values in {"in": a.shape, "x": a, "target": b, "y": value / 3, "dx": da, "dt": db}.items():
        put(word, torch.as_tensor(values).detach())



def error_to_signal(x, t, c):
    """As neural-amp-modeler computes it, with auraloss' epsilon."""
    filtered = lambda signal: signal[:, 1:] - c * signal[:, :-1] if c else signal
    return ((filtered(x) - filtered(t)).square().sum(1) / (filtered(t).square().sum(1) + 1e-8)).sum()


for name, c in ("error_to_signal_ratio", 0), ("error_to_signal_ratio_filtered", 0.875):
    x, t = numbers(3, 7), numbers(3, 7)
    case(name, x, t, error_to_signal(x, t, c))


def stft_loss(x, t, resolutions, factors):
    """The formulas of auraloss' MultiResolutionSTFTLoss, for each sample of its own."""
    total = 0
    for size, hop, length in resolutions:
        spectra = [
            torch.stft(signal, size, hop, length, torch.hann_window(length), return_complex=True)
            for signal in (x, t)
        ]
        y, target = [(s.real.square() + s.imag.square()).clamp(min=1e-8).sqrt() for s in spectra]
        convergence = (y - target).flatten(1).norm(dim=1) / target.flatten(1).norm(dim=1)
        logs, linear = (y.log() - target.log()).abs().mean((1, 2)), (y - target).abs().mean((1, 2))
        total += sum(f * part.sum() for f, part in zip(factors, (convergence, logs, linear))) / len(resolutions)
    return total


x, t = numbers(2, 40), numbers(2, 40)
case("stft_loss", x, t, stft_loss(x, t, [(16, 3, 10), (32, 8, 32), (8, 2, 5)], (1, 1, 0)))
x, t = numbers(2, 30), numbers(2, 30)
case("stft_loss_weighted", x, t, stft_loss(x, t, [(16, 5, 16)], (0.5, 0.25, 2)))

x, t = numbers(4, 7), numbers(4, 7)
case("huber", x, t, functional.huber_loss(x, t, reduction="sum", delta=0.75))
x, t = numbers(4, 8), numbers(4, 8)
case("smooth_l1", x, t, functional.smooth_l1_loss(x, t, reduction="mean", beta=0.5) * 4)
x, t = numbers(4, 6).detach().log_softmax(1).requires_grad_(), distributions(4, 6)
case("kl_divergence", x, t, functional.kl_div(x, t, reduction="sum"))
x, t = numbers(4, 6), torch.tensor([5, 0, 3, 3])
case("softmax_loss_smoothed", x, t, functional.cross_entropy(x, t, reduction="sum", label_smoothing=0.25))
x, t = numbers(2, 4, 2, 3), torch.randint(0, 4, (2, 2, 3))
smoothed = functional.cross_entropy(x, t, weight=weights, reduction="sum", label_smoothing=0.125)
case("softmax_loss_smoothed_image", x, t, smoothed / 6)


def ignoring(x, t, loss):
    """PyTorch's mean over the labels that count, for each sample of its own; it is NaN, and here 0, if none counts."""
    return sum(loss(x[n : n + 1], t[n : n + 1]) for n in range(len(x)) if (t[n] != -100).any())


x, t = numbers(3, 4, 5), torch.randint(0, 4, (3, 5))
t[0, 1:4], t[1] = -100, -100
case("softmax_loss_ignoring", x, t, ignoring(x, t, functional.cross_entropy))
x, t = between(3, 4, 5), torch.randint(0, 4, (3, 5))
t[0], t[2, 0] = -100, -100
case("multinomial_logistic_ignoring", x, t, ignoring(x, t, lambda p, t: functional.nll_loss(p.log(), t)))


def focal(x, t, weights, gamma):
    log_p = x.log_softmax(1).gather(1, t[:, None]).squeeze(1)
    return -(weights[t] * (1 - log_p.exp()) ** gamma * log_p).sum()


x, t = numbers(4, 6), torch.tensor([5, 0, 3, 3])
case("focal_loss", x, t, focal(x, t, torch.ones(6), 2))
x, t = numbers(2, 4, 3), torch.randint(0, 4, (2, 3))
case("focal_loss_weighted", x, t, focal(x, t, weights, 0.5) / 3)

x, t = numbers(4, 6), numbers(4, 6)
case("cosine_similarity_loss", x, t, (1 - functional.cosine_similarity(x, t)).sum())
x, t = numbers(2, 3, 4), numbers(2, 3, 4)
case("cosine_similarity_loss_last", x, t, (1 - functional.cosine_similarity(x, t, dim=2)).sum() / 3)

x, t = numbers(6, 8), numbers(6, 4)
case("triplet_margin", x, t, functional.triplet_margin_loss(t, x[:, :4], x[:, 4:], 0.5, eps=0, reduction="sum"))


def ctc(x, labels, blank):
    """The sum over all paths, one by one. PyTorch's own gradient is that of scores before a log softmax."""
    paths = []
    for path in itertools.product(range(x.shape[1]), repeat=x.shape[0]):
        merged = [k for k, _ in itertools.groupby(path)]
        if [k for k in merged if k != blank] == labels:
            paths.append(x[range(len(path)), path].sum())
    loss = -torch.logsumexp(torch.stack(paths), 0)
    lengths = torch.tensor([x.shape[0]]), torch.tensor([len(labels)])
    own = functional.ctc_loss(x[:, None], torch.tensor([labels], dtype=torch.long), *lengths, blank, reduction="sum")
    assert torch.isclose(loss, own)
    return loss


for name, blank, targets in (
    ("ctc_loss", 0, [[1, 2, 3], [2, 2, -1], [3, -1, -1], [-1, -1, -1], [1, 2, 1]]),
    ("ctc_loss_last_blank", 3, [[0, 1, 3], [2, 2, 3], [0, 0, 2]]),
):
    x = numbers(len(targets), 6, 4).detach().log_softmax(2).requires_grad_()
    each = [ctc(scores, [k for k in labels if k not in (-1, blank)], blank) for scores, labels in zip(x, targets)]
    case(name, x, torch.tensor(targets), sum(each))

write(__file__)
