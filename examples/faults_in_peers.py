"""Wrong derivatives in JAX, PyTorch and Autograd, found by einsumad.testing in the versions that are installed.

Each case below is a function, as users of the library write it, and a point. The toolkit gets nothing else: it finds
out what the derivative has to be, and the table tells what it says, beside the public report of the fault. Functions
whose derivatives are right are checked to second order in the same way, to show that not everything is flagged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from einsumad.testing import Finding, Report, check_derivatives, check_user_gradient

try:
    import jax
    import jax.numpy as jnp
    import jax.scipy.special as jsp
except ImportError:
    jax = jnp = jsp = None
try:
    import torch
except ImportError:
    torch = None
try:
    import autograd
    import autograd.numpy as anp
except ImportError:
    autograd = anp = None

NAMESPACES = {"jax": jnp, "torch": torch, "autograd": anp}
LAWS = ("shapes and dtypes", "adjoint identity", "mode agreement", "symmetry")
MODES = ("reverse", "forward")


@dataclass(frozen=True, slots=True)
class Suspect:
    """A function of a peer, a point, and the order to which its derivatives are checked; `public` is the report.

    Where `gradient` is given it makes the gradient as the peer's users ask for it, and that is checked.
    """

    peer: str
    title: str
    function: Callable[..., Any]
    point: tuple[Any, ...]
    order: int
    public: str
    gradient: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None

    def report(self, *, minimal: bool = False) -> Report:
        """What the toolkit finds, with a small case if that is asked for."""
        point = np.array(self.point)
        if self.gradient is not None:
            return check_user_gradient(self.function, self.gradient(self.function), point, minimal=minimal)
        return checked(self.function, point, self.peer, self.order, minimal=minimal)


def checked(function: Callable[..., Any], point: np.ndarray, peer: str, order: int, *, minimal: bool = False) -> Report:
    """The report on a function's derivatives to an order; JAX's functions are compiled, which takes half the time."""
    compiled = jax.jit(function) if peer == "jax" else function
    return check_derivatives(compiled, point, using=peer, order=order, modes=MODES, properties=LAWS, minimal=minimal)


# --- JAX --------------------------------------------------------------------------------------------------------------


def bessel(x):
    return jnp.sum(jsp.i0(x))


def weighted_logsumexp(weights):
    return jsp.logsumexp(jnp.zeros(3), b=weights)


def digamma(x):
    return jnp.sum(jsp.digamma(x))


def log_beta(x):
    return jsp.betaln(x[0], x[1])


# --- PyTorch ----------------------------------------------------------------------------------------------------------


def scaled(x):
    return torch.sum(torch.ldexp(x, torch.tensor([1, -2])))


def inverse_from_factor(x):
    factor = torch.stack([x[0], 0 * x[0], x[1], x[2]]).reshape(2, 2)
    return torch.sum(torch.cholesky_inverse(factor))


def determinant(matrix):
    return torch.linalg.det(matrix)


def last_cumulative_product(x):
    return torch.cumprod(x, 0)[-1]


# --- Autograd ---------------------------------------------------------------------------------------------------------


def broadcast_inner_product(x):
    return anp.einsum("i,i", x, np.array([2.0]))


def broadcast_matrix_product(matrix):
    return anp.sum(anp.einsum("ij,jk->ik", matrix, np.array([[1.5, 0.5]])))


def product(x):
    return anp.prod(x)


def squared_norm(x):
    return anp.linalg.norm(x) ** 2


def gradient_of(function):
    return autograd.grad(function)


SUSPECTS = (
    Suspect("jax", "i0, at 0", bessel, (0.0, 0.5), 1, "jax-ml/jax#40628"),
    Suspect("jax", "logsumexp(a, b=x), weight 0", weighted_logsumexp, (2.0, 0.0, 5.0), 1, "jax-ml/jax#22398"),
    Suspect("jax", "digamma, at -8.5", digamma, (-8.5, 1.5), 1, "jax-ml/jax#37635"),
    Suspect("jax", "betaln, equal arguments", log_beta, (2.0, 2.0), 2, "jax-ml/jax#34353"),
    Suspect("torch", "ldexp, exponent -2", scaled, (0.7, 1.3), 1, "pytorch/pytorch#187460"),
    Suspect("torch", "cholesky_inverse", inverse_from_factor, (1.7, 1.0, 2.0), 1, "pytorch/pytorch#196682"),
    Suspect("torch", "linalg.det", determinant, ((1.3, 0.4), (-0.7, 0.9)), 2, "pytorch/pytorch#196696"),
    Suspect("torch", "cumprod, a factor 0", last_cumulative_product, (2.0, 0.0, 3.0), 2, "pytorch/pytorch#196701"),
    Suspect(
        "autograd", 'einsum("i,i"), size 1', broadcast_inner_product, (2.0, 3.0), 1, "HIPS/autograd#376", gradient_of
    ),
    Suspect(
        "autograd",
        'einsum("ij,jk->ik"), size 1',
        broadcast_matrix_product,
        ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),
        1,
        "HIPS/autograd#376",
        gradient_of,
    ),
    Suspect("autograd", "prod, a factor 0", product, (2.0, 0.0, 3.0), 1, "HIPS/autograd#378"),
    Suspect("autograd", "linalg.norm(x)**2, at 0", squared_norm, (0.0, 0.0), 1, "HIPS/autograd#617"),
)


# --- functions whose derivatives are right ----------------------------------------------------------------------------


def logsumexp(xp, x):
    return xp.log(xp.sum(xp.exp(x)))


def norm(xp, x):
    return xp.sqrt(xp.sum(x * x))


def network(xp, x):
    return xp.sum(xp.tanh(xp.outer(x, x)))


def logistic(xp, x):
    return xp.sum(xp.log(1 + xp.exp(-x)))


def polynomial(xp, x):
    return x[0] * x[1] ** 2 - xp.sin(x[2])


RIGHT = (logsumexp, norm, network, logistic, polynomial)
ORDINARY = np.array([0.5, -1.2, 0.8])


def passed(peer: str) -> int:
    """How many of the functions that are right are found right, to second order."""
    return sum(bool(checked(partial(each, NAMESPACES[peer]), ORDINARY, peer, order=2)) for each in RIGHT)


# --- the table --------------------------------------------------------------------------------------------------------

HEAD = f"""{"function":31}{"verdict":16}what the toolkit says
      by which means; likely cause; public report"""
VERDICTS = {"right": "right in this version", "undecided": "undecided", "refused": "refused"}


def verdict_on(suspect: Suspect) -> tuple[str, Report | None]:
    """The verdict as the table has it, and the report unless the peer raises an exception."""
    try:
        report = suspect.report()
    except Exception as error:  # noqa: BLE001 - another version of a peer may raise what it likes, and that is told
        return f"raises {type(error).__name__}", None
    return (f"wrong, order {report.wrong[0].order}" if report.wrong else VERDICTS[report.verdict]), report


def told(finding: Finding) -> str:
    """What is wrong, in one line."""
    if finding.found is None:
        return finding.detail
    error = f" ± {finding.error:.0e}" if finding.error else ""
    return f"{finding.index}: found {finding.found:.4g}, expected {finding.expected:.4g}{error}"


def means(report: Report) -> str:
    """What showed that the derivative is wrong: its shape, oracles with the modes compared with them, laws."""
    modes: dict[str, list[str]] = {}
    for finding in report.wrong:
        compared = finding.claim in ("derivative", "gradient")
        name = finding.against.replace("the shape", "its shape") if compared else finding.claim
        modes.setdefault(name, []).extend([finding.mode] if finding.claim == "derivative" else [])
    named = [f"{name} ({', '.join(each)})" if each else name for name, each in modes.items()]
    return ", ".join(named).replace("derivative along lines", "differences along lines")


def print_row(suspect: Suspect) -> Report | None:
    """Print what is said about a suspect; its report if it is wrong."""
    verdict, report = verdict_on(suspect)
    if report is None or not report.wrong:
        print(f"  {suspect.title:29}{verdict}")
        return None
    print(f"  {suspect.title:29}{verdict:16}{told(report.wrong[0])}")
    cause = f"; cause: {report.causes[0]}" if report.causes else ""
    print(f"      by {means(report)}{cause}; {suspect.public}")
    return report


def survey(peer: str) -> dict[Suspect, Report]:
    """Print what is found in a peer; the reports of faults."""
    if NAMESPACES[peer] is None:
        print(f'{peer}\n  not installed: pip install "einsumad[peers]"')
        return {}
    print(f"{peer} {version(peer)}")
    reports = {suspect: print_row(suspect) for suspect in SUSPECTS if suspect.peer == peer}
    print(f"  {passed(peer)} of {len(RIGHT)} right ones passed")
    return {suspect: report for suspect, report in reports.items() if report is not None}


def main() -> dict[Suspect, Report]:
    """Print the table, and of the fault that is found by most means the whole report; the reports of all faults."""
    print(HEAD)
    faults = {suspect: report for peer in NAMESPACES for suspect, report in survey(peer).items()}
    if faults:
        clearest = max(faults, key=lambda suspect: len({finding.claim for finding in faults[suspect].wrong}))
        print(f"\n{len(faults)} faults. One report in full:\n\n{clearest.report(minimal=True)}")
    return faults


if __name__ == "__main__":
    main()
