"""Optimal mechanisms of the binary model."""

import numpy as np
import pulp
import scipy

from gaplib import _checks, leakage
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel
from gaplib.optimum import Optimum


def optimal_pdd(model: BinaryModel, D: float, method: str = "closed-form") -> Optimum:
    """Return a private-data dependent mechanism that a MAP adversary reads least well.

    With :math:`A_0 = \\sum_i \\max_j p_{i,j}`, the accuracy without privatization,

    .. math:: P_d(D) = \\max\\{P(Y=0),\\; P(Y=1),\\; A_0 - D\\}.

    Parameters
    ----------
    model : BinaryModel
        Any joint distribution.
    D : float >= 0
        Budget: the mechanism may flip the public bit with at most this probability.
    method : {"closed-form", "lp"}
        The formula above, or the paper's linear program (its Equation 21) solved by HiGHS.

    Returns
    -------
    Optimum
        The closed form's price is the slope to the right of D. At D = 0, where no smaller budget exists, and at the
        kink, where the value reaches the prior, other prices are right too, and the program may give one of them.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `BinaryModel`, `D` not a finite number >= 0, or `method` not one of the two.
    RuntimeError
        If the solver does not report an optimum.
    """
    _checks.instance("model", model, BinaryModel)
    D = _checks.real("D", D, 0)
    if _checks.choice("method", method, ("closed-form", "lp")) == "lp":
        return _solve_program(model, pdd_program(model, D), model.joint)
    return _closed_form_pdd(model, D)


def _closed_form_pdd(model: BinaryModel, D: float) -> Optimum:
    joint, likelier = model.joint, int(model.p_y.argmax())
    # Only in a row that points at the less likely Y does the release tell more than the prior; there is at most
    # one such row. Flipping its surplus makes the row a tie.
    surplus = joint[:, 1 - likelier] - joint[:, likelier]
    row = int(surplus.argmax())
    saturation = max(float(surplus[row]), 0.0)
    keep = np.ones((2, 2))
    if saturation > 0:
        keep[row, 1 - likelier] = 1 - min(D, saturation) / joint[row, 1 - likelier]
    mechanism = BinaryKernel(*keep.ravel())
    value = max(float(model.p_y.max()), float(joint.max(axis=1).sum()) - D)
    return Optimum(value, mechanism, mechanism.distortion(model), 1.0 if D < saturation else 0.0)


def pdd_program(model: BinaryModel, D: float) -> pulp.LpProblem:
    """Return the paper's linear program for the PDD mechanism (its Equation 21), unsolved.

    Its variables are the flipped masses ``fij = p[i, j] * (1 - sij)``. All coefficients are then 0 or 1, and the
    solver does well on models with cells close to zero too.

    Parameters
    ----------
    model : BinaryModel
    D : float >= 0

    Returns
    -------
    pulp.LpProblem
        Variables ``f00, f01, f10, f11, t0, t1``; the budget is the constraint named ``distortion``.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `BinaryModel` or `D` not a finite number >= 0.
    """
    p = _checks.instance("model", model, BinaryModel).joint
    return _program("pdd", p, D, {(i, j): pulp.LpVariable(f"f{i}{j}", 0, p[i, j]) for i, j in np.ndindex(2, 2)})


def optimal_pdi(model: BinaryModel, D: float, method: str = "closed-form") -> Optimum:
    """Return a private-data independent mechanism that a MAP adversary reads least well.

    With :math:`A_0 = \\sum_i \\max_j p_{i,j}`, the accuracy without privatization,

    .. math::

       P_d(D) = \\max\\{P(Y=0),\\; P(Y=1),\\; A_0 - \\kappa D\\}, \\qquad
       \\kappa = \\max_i |P(Y=1 \\mid X=i) - P(Y=0 \\mid X=i)|,

    the maximum over the i of positive mass. For ``Y = X xor N`` this is the value in the paper's Theorem 1, with
    :math:`\\kappa = |1 - 2q|`.

    Parameters
    ----------
    model : BinaryModel
        Any joint distribution.
    D : float >= 0
        Budget: the mechanism may flip the public bit with at most this probability.
    method : {"closed-form", "lp"}
        The formula above, or the paper's problem (its Equation 30) as a linear program solved by HiGHS.

    Returns
    -------
    Optimum
        Its mechanism has ``s00 == s01`` and ``s10 == s11`` exactly. Prices are as for `optimal_pdd`.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `BinaryModel`, `D` not a finite number >= 0, or `method` not one of the two.
    RuntimeError
        If the solver does not report an optimum.
    """
    _checks.instance("model", model, BinaryModel)
    D = _checks.real("D", D, 0)
    if _checks.choice("method", method, ("closed-form", "lp")) == "lp":
        return _solve_program(model, pdi_program(model, D), model.p_x)
    return _closed_form_pdi(model, D)


def _closed_form_pdi(model: BinaryModel, D: float) -> Optimum:
    joint, mass, prior = model.joint, model.p_x, float(model.p_y.max())
    lean = joint[:, 1] - joint[:, 0]
    if not lean.min() < 0 < lean.max():
        # Both rows lean to one guess, or a row to none: then no release tells more than the prior.
        return Optimum(prior, BinaryKernel(1, 1, 1, 1), 0.0, 0.0)
    # Flipping all of a row costs the adversary its lean, so per unit of flipped mass its lean over its mass: flip the
    # row where that is larger. What there is to lose is the weaker lean.
    row = int((abs(lean) / mass).argmax())
    kappa = float(abs(lean[row]) / mass[row])
    saturation = mass[row] * (abs(lean).min() / abs(lean[row]))
    keep = np.ones((2, 2))
    keep[row] = 1 - min(D, saturation) / mass[row]
    mechanism = BinaryKernel(*keep.ravel())
    value = max(prior, float(joint.max(axis=1).sum()) - kappa * D)
    return Optimum(value, mechanism, mechanism.distortion(model), kappa if D < saturation else 0.0)


def pdi_program(model: BinaryModel, D: float) -> pulp.LpProblem:
    """Return the paper's problem for the PDI mechanism (its Equation 30) as a linear program, unsolved.

    It is `pdd_program` with one variable for each public bit, the mass that is flipped out of its row.

    Parameters
    ----------
    model : BinaryModel
    D : float >= 0

    Returns
    -------
    pulp.LpProblem
        Variables ``f0, f1, t0, t1``; the budget is the constraint named ``distortion``.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `BinaryModel` or `D` not a finite number >= 0.
    """
    _checks.instance("model", model, BinaryModel)
    leaving = [pulp.LpVariable(f"f{i}", 0, mass) for i, mass in enumerate(model.p_x)]
    y_given_x = model.joint / np.where(model.p_x > 0, model.p_x, 1)[:, None]
    return _program("pdi", model.joint, D, {(i, j): y_given_x[i, j] * leaving[i] for i, j in np.ndindex(2, 2)})


def _program(name: str, p: np.ndarray, D: float, flipped: dict) -> pulp.LpProblem:
    """Return the program for a mechanism that flips the mass ``flipped[i, j]`` of cell (i, j)."""
    D = _checks.real("D", D, 0)
    program = pulp.LpProblem(name, pulp.LpMinimize)
    t = [pulp.LpVariable("t0"), pulp.LpVariable("t1")]
    program += t[0] + t[1]
    for k, j in np.ndindex(2, 2):
        program += p[k, j] - flipped[k, j] + flipped[1 - k, j] <= t[k], f"guess_{j}_on_{k}"
    program += pulp.lpSum(flipped.values()) <= D, "distortion"
    return program


def _solve_program(model: BinaryModel, program: pulp.LpProblem, mass: np.ndarray) -> Optimum:
    """Solve `program`, whose variables ``f0`` or ``f00`` and so on say how much of each entry of `mass` is flipped."""
    solve(program)
    values = {variable.name: variable.varValue for variable in program.variables()}
    # A row without mass is in no constraint, and what leaves it no variable of the program.
    flipped = np.reshape([values.get("f" + "".join(map(str, at)), 0.0) for at in np.ndindex(mass.shape)], (2, -1))
    # A vertex may miss its bounds by the solver's rounding, never by more than its tolerance.
    keep = np.ones((2, 2)) - np.clip(flipped / np.where(mass > 0, mass, 1).reshape(2, -1), 0, 1)
    mechanism = BinaryKernel(*keep.ravel())
    price = -program.constraints["distortion"].pi
    return Optimum(leakage.map_accuracy(model, mechanism), mechanism, mechanism.distortion(model), price)


def optimal_mi(model: BinaryModel, D: float, kind: str = "pdd") -> Optimum:
    """Return a mechanism whose release has the least mutual information with Y.

    Against log-loss (Equation 6 of the paper) the adversary's best is I(Y; Xhat). Mass flipped from X=0 to Xhat=1
    and mass flipped the other way share the budget, and the leakage is convex in the split. The best split has

    .. math:: \\prod_j P(Y=j \\mid \\hat X=0)^{w_j} = \\prod_j P(Y=j \\mid \\hat X=1)^{w_j}, \\qquad
       w_j = \\sum_i P(Y=j \\mid X=i \\text{ is flipped}),

    or spends the budget on one row. This one equation is solved to rounding; wherever a closed form exists (PDD for
    any joint, PDI for ``Y = X xor N``), its root is that closed form.

    Parameters
    ----------
    model : BinaryModel
        Any joint distribution.
    D : float >= 0
        Budget: the mechanism may flip the public bit with at most this probability.
    kind : {"pdd", "pdi"}
        Whether the mechanism may use Y. If not, ``s00 == s01`` and ``s10 == s11`` exactly.

    Returns
    -------
    Optimum
        ``value`` is I(Y; Xhat) in nats, exactly 0 from the budget on that makes Y and Xhat independent; ``price`` is
        in nats per unit of distortion, 0 from there on, and infinite at D = 0 if a first flip helps infinitely (as for
        X = Y).

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `BinaryModel`, `D` not a finite number >= 0, or `kind` not one of the two.
    """
    joint = _checks.instance("model", model, BinaryModel).joint
    D = _checks.real("D", D, 0)
    _checks.choice("kind", kind, ("pdd", "pdi"))
    determinant = float(joint[0, 0] * joint[1, 1] - joint[0, 1] * joint[1, 0])
    if abs(determinant) <= np.finfo(float).eps:  # independent, as far as rounded cells can tell
        return Optimum(0.0, BinaryKernel(1, 1, 1, 1), 0.0, 0.0)
    # The cells that mass may leave, as ones.
    if kind == "pdi":
        cells = np.ones((2, 2))
    else:
        # Moving mass out of the two cells where X and Y go together brings them apart; out of the others, closer.
        cells = np.eye(2) if determinant > 0 else 1 - np.eye(2)
    mass = (joint * cells).sum(axis=1)
    y_given_flip = joint * cells / mass[:, None]
    # What independence costs if it is bought in one row; to buy it in both is never cheaper.
    saturation = mass if kind == "pdi" else abs(determinant) / (y_given_flip @ model.p_y[::-1])
    row = int(saturation.argmin())
    saturated = bool(D >= saturation[row])
    leaving = saturation[row] * np.eye(2)[row] if saturated else _split(joint, y_given_flip, D)
    flip = np.minimum(leaving / mass, 1)  # rounding: all of a row may have to go
    mechanism = BinaryKernel(*(1 - cells * flip[:, None]).ravel())
    distortion = mechanism.distortion(model)
    if saturated:
        return Optimum(0.0, mechanism, distortion, 0.0)
    value = max(leakage.mutual_information(model, mechanism), 0.0)
    return Optimum(value, mechanism, distortion, _price(_posterior(joint, y_given_flip, leaving), y_given_flip))


def _split(joint: np.ndarray, y_given_flip: np.ndarray, D: float) -> np.ndarray:
    """Return how much mass leaves each row of X, D in total, for the least I(Y; Xhat)."""
    weight = y_given_flip.sum(axis=0)

    def slope(fraction: float) -> float:
        # The sign of the leakage's derivative in the fraction of the budget that row 1 gets. The derivative itself is
        # the difference of logarithms, infinite where a cell is empty.
        posterior = _posterior(joint, y_given_flip, D * np.array([1 - fraction, fraction]))
        sides = (posterior**weight).prod(axis=1)
        return sides[0] - sides[1]

    if slope(0) >= 0:
        fraction = 0.0
    elif slope(1) <= 0:
        fraction = 1.0
    else:
        fraction = scipy.optimize.brentq(slope, 0, 1, xtol=np.finfo(float).eps)
    return D * np.array([1 - fraction, fraction])


def _posterior(joint: np.ndarray, y_given_flip: np.ndarray, leaving: np.ndarray) -> np.ndarray:
    """Return P(Y=j | Xhat=k) when ``leaving[i] * y_given_flip[i, j]`` is flipped out of cell (i, j)."""
    moved = y_given_flip * leaving[:, None]
    released = joint - moved + moved[::-1]
    return released / released.sum(axis=1, keepdims=True)


def _price(posterior: np.ndarray, y_given_flip: np.ndarray) -> float:
    """Return by how much I(Y; Xhat) falls, per unit of mass, when more leaves the row where that helps most."""
    with np.errstate(divide="ignore"):  # an empty cell: the first flip into it helps infinitely
        log = np.log(posterior)
    gain = np.where(y_given_flip > 0, log - log[::-1], 0)
    return float((y_given_flip * gain).sum(axis=1).max())


def solve(program: pulp.LpProblem) -> None:
    """Solve a linear program in place by HiGHS, at its tightest tolerance where it can be reached.

    Parameters
    ----------
    program : pulp.LpProblem

    Raises
    ------
    TypeError
        If `program` is not a `pulp.LpProblem`.
    RuntimeError
        If HiGHS does not report an optimum.
    """
    _checks.instance("program", program, pulp.LpProblem)
    # The solver's own tolerances (1e-7) are looser than the 1e-9 that we check; 1e-10 is the least it accepts. Where
    # coefficients of that size make it unattainable, the solver's own must do, without the presolver, which takes
    # rounding for infeasibility. Numbers down to 1e-12 are not zeros. Scaled, the program would meet the tolerances in
    # its scaled form only. Next to rows of mass 1e-8 the dual simplex method may end at the right vertex and return
    # values of another one, which miss the constraints; then the primal method does it.
    for tolerance, options in ((1e-10, {}), (1e-10, {"simplex_strategy": 4}), (1e-7, {"presolve": "off"})):
        status = program.solve(
            pulp.HiGHS(
                msg=False,
                primal_feasibility_tolerance=tolerance,
                dual_feasibility_tolerance=tolerance,
                small_matrix_value=1e-12,
                simplex_scale_strategy=0,
                **options,
            )
        )
        if pulp.LpStatus[status] == "Optimal" and program.valid(2 * tolerance):
            return
    found = pulp.LpStatus[status]
    raise RuntimeError(
        f"HiGHS reports {found!r} for the program {program.name!r}"
        + (" and returns values that miss its constraints" if found == "Optimal" else "")
    )
