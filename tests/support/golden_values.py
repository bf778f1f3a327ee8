"""Prints the expected values that tests/layers/*.cpp quote, with 50 digits of working precision: python3 golden_values.py (needs mpmath).

The formulas are written out here on their own; nothing is taken from coldpress.
"""

from mpmath import exp, log, mp, mpf, tanh

mp.dps = 50
# The first pair is that of Juice's own activation tests.
x = [mpf(v) for v in "1.121623378076182407 -0.75 0.5 2.25 -3.125 0.0625 1.75 -1.5 0.25 -0.125 3.5 -2.0".split()]
dy = [mpf(v) for v in "-2.332776404488865508 0.5 1.25 -0.75 0.375 2.0 -1.0 0.0625 -0.25 1.5 -0.5 0.875".split()]


def show(name, values):
    print(f"{name}:\n  {{" + ", ".join(mp.nstr(v, 12, strip_zeros=False) for v in values) + "}")


sigmoid = [1 / (1 + exp(-v)) for v in x]
show("sigmoid", sigmoid)
show("sigmoid gradient", [g * y * (1 - y) for y, g in zip(sigmoid, dy)])
hyperbolic = [tanh(v) for v in x]
show("tanh", hyperbolic)
show("tanh gradient", [g * (1 - y * y) for y, g in zip(hyperbolic, dy)])
mass = sum(exp(v) for v in x)
softmax = [exp(v) / mass for v in x]
show("softmax", softmax)
inner = sum(y * g for y, g in zip(softmax, dy))
show("softmax gradient", [y * (g - inner) for y, g in zip(softmax, dy)])
show("log_softmax", [v - log(mass) for v in x])
show("log_softmax gradient", [g - y * sum(dy) for y, g in zip(softmax, dy)])
