"""Newton's method for l2-regularised logistic regression, with the loss written as in a textbook.

Nothing below differentiates, simplifies or stabilises by hand: the loss overflows as it is written, and what
is differentiated is its stable form. The data are the breast cancer data that scikit-learn ships. The
solution is compared with scikit-learn's, the Hessian with a hand-written one.
"""

from statistics import median
from time import perf_counter

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import einsumad as ea

LAM = 1.0  # scikit-learn minimises C * (sum of losses) + w @ w / 2, so its C is 1 / LAM
ROUNDS = 2000


def load_data():
    """Standardised features with a column of ones, and the classes as -1 and 1."""
    features, classes = load_breast_cancer(return_X_y=True)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([features, np.ones(len(features))]), 2.0 * classes - 1


X, y = load_data()


def loss(w):
    """The loss, naively: exp overflows at a margin of -1000. All of w is penalised, the constant too."""
    return np.sum(np.log(np.exp(-y * (X @ w)) + 1)) + LAM / 2 * w @ w


def newton(w, tolerance=1e-9):
    """Newton steps, halved until the loss decreases enough (Armijo's rule); prints every step."""
    value_of = ea.compile(loss)
    derivatives_of = ea.compile(ea.value_grad_and_hessian(loss))
    print("step       loss    |gradient|   step size")
    for step in range(50):
        value, gradient, hessian = derivatives_of(w)
        norm = np.linalg.norm(gradient)
        print(f"{step:4}  {value:9.5f}  {norm:12.3e}", end="")
        if norm < tolerance:
            break
        direction = -np.linalg.solve(hessian, gradient)
        slope, rounding, size = gradient @ direction, 1e-14 * abs(value), 1.0
        while size > 1e-9 and value_of(w + size * direction) > value + 1e-4 * size * slope + rounding:
            size /= 2
        print(f"  {size:10g}")
        w = w + size * direction
    print()
    return w


def hessian_by_hand(w):
    """What one would write after some work with pencil and paper."""
    p = expit(y * (X @ w))
    return (X.T * (p * (1 - p))) @ X + LAM * np.eye(len(w))


def median_times(functions, argument):
    """The median seconds a call of each function, called in turn so that they meet the same conditions."""
    times = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, taken in zip(functions, times, strict=True):
            start = perf_counter()
            function(argument)
            taken.append(perf_counter() - start)
    return [median(taken[ROUNDS // 10 :]) for taken in times]


def main():
    start = np.zeros(X.shape[1])
    print(f"{X.shape[0]} patients, {X.shape[1]} weights\n")
    print(ea.explain(ea.hessian(loss), start), "\n")

    w = newton(start)

    peer = LogisticRegression(C=1 / LAM, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    difference = np.abs(w - peer.fit(X, y).coef_[0]).max()
    print(f"\nlargest difference from scikit-learn's weights: {difference:.1e}")
    print(f"training accuracy: {np.mean(np.sign(X @ w) == y):.1%}")

    hessian = ea.compile(ea.hessian(loss))
    difference = np.abs(hessian(w) - hessian_by_hand(w)).max()
    ours, by_hand = median_times([hessian, hessian_by_hand], w)
    print(f"\nHessian compiled {ours * 1e6:.0f} us, by hand {by_hand * 1e6:.0f} us (medians of {ROUNDS})")
    print(f"largest difference: {difference:.1e}")
    far = 1000 * w
    largest = np.abs(X @ far).max()
    print(f"finite at margins up to {largest:,.0f}: {np.isfinite(hessian(far)).all()}")


if __name__ == "__main__":
    main()
