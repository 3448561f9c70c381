"""How far from uniform are the draws of the Markov chain sampler? Prints a Markdown table.

- TV: total variation between uniform and one draw given the previous one, exact: the sampler's own learned
  weights, the whole state space, linear algebra. Over all previous draws where there are few matchings,
  else over three of them. Below 1e-9 it is not followed further.
- needed: after how many perfect visits that is at most eta; the sampler takes `visits`.
- measured: total variation of the empirical distribution of real draws (in brackets: what as many exactly
  uniform draws would show, on average); marginals: the same per position, the largest.
"""

import time

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import cg

from duelmatch.graph import Graph
from duelmatch.matchings.chain import Chain

DRAWS = 20_000
DENSE = 200
NEGLIGIBLE = 1e-9


def random_graph(candidates, positions, density, seed=0):
    rng = np.random.default_rng(seed)
    while True:
        position, candidate = np.nonzero(rng.random((positions, candidates)) < density)
        graph = Graph.from_edges(candidates, positions, candidate, position)
        if graph.some_matching() is not None:
            return graph


def blocks(candidates):
    """Return disjoint 2 x 2 blocks, the slowest kind of graph we know."""
    position, candidate = np.nonzero(np.kron(np.eye(candidates // 2), np.ones((2, 2))))
    return Graph.from_edges(candidates, candidates, candidate, position)


def enumerate_states(is_edge, holes):
    """List matchings that leave at most `holes` positions free, as rows of candidates, n where free."""
    n = is_edge.shape[1]
    rows = np.zeros((1, 0), dtype=np.int64)
    for position in range(len(is_edge)):
        longer = []
        for candidate in range(n + 1):
            if candidate == n:
                fits = (rows == n).sum(axis=1) < holes
            else:
                fits = is_edge[position, candidate] & ~(rows == candidate).any(axis=1)
            longer.append(np.column_stack([rows[fits], np.full(fits.sum(), candidate)]))
        rows = np.concatenate(longer)
    return rows


def transition_matrix(states, weight):
    """Return the chain's transition matrix at activity 0, and Lambda of each state."""
    count, n = states.shape
    everyone = np.arange(count)
    perfect = ~(states == n).any(axis=1)
    hole = np.argmax(states == n, axis=1)
    idle = n * (n - 1) // 2 + n - states.sum(axis=1)
    size = np.where(perfect, 1.0, weight[hole * n + np.where(perfect, 0, idle)])
    digits = (n + 1) ** np.arange(n)
    codes = states @ digits
    order = np.argsort(codes)
    matrix = sparse.csr_array((count, count))
    for vertex in range(2 * n):
        new = states.copy()
        if vertex < n:
            owner = np.argmax(states == vertex, axis=1)
            owned = (states == vertex).any(axis=1)
            new[everyone[owned], owner[owned]] = n
            new[everyone[~perfect], hole[~perfect]] = vertex
        else:
            new[:, vertex - n] = np.where(perfect, n, idle)
        place = np.minimum(np.searchsorted(codes, new @ digits, sorter=order), count - 1)
        target = order[place]
        target = np.where(codes[target] == new @ digits, target, everyone)
        accept = np.minimum(1, size[target] / size) / (2 * n)
        matrix = matrix + sparse.csr_array((accept, (everyone, target)), shape=(count, count))
    rest = 1 - matrix.sum(axis=1)
    return (matrix + sparse.diags_array(rest)).tocsr(), size, perfect


class PerfectTimes:
    """The chain watched at its perfect times: one step of a distribution over perfect matchings."""

    def __init__(self, states, weight):
        matrix, size, perfect = transition_matrix(states, weight)
        near = ~perfect
        self.stay, self.leave = matrix[perfect][:, perfect], matrix[perfect][:, near]
        self.back, self.size = matrix[near][:, perfect], size[near]
        generator = sparse.eye_array(near.sum()) - matrix[near][:, near]
        self.symmetric = (sparse.diags_array(self.size) @ generator).tocsr()
        self.scale = sparse.diags_array(1 / self.symmetric.diagonal())

    def step(self, distribution):
        flow = distribution @ self.leave
        solution, failed = cg(self.symmetric, flow, rtol=1e-12, M=self.scale, maxiter=10_000)
        assert not failed
        return distribution @ self.stay + (self.size * solution) @ self.back

    def full_matrix(self):
        flow = self.leave.toarray().T
        solution = np.linalg.solve(self.symmetric.toarray(), flow)
        return self.stay.toarray() + (self.size[:, None] * solution).T @ self.back.toarray()


def variation_by_visits(chain):
    """Return the exact total variation from uniform after 1, 2, ... perfect visits, largest over starts."""
    states = enumerate_states(chain._is_edge, holes=1)
    watched = PerfectTimes(states, chain._weight)
    perfect = states[~(states == states.shape[1]).any(axis=1)][:, : chain.graph.positions]
    matchings, label = np.unique(perfect, axis=0, return_inverse=True)
    if len(perfect) <= DENSE:
        now, matrix = np.eye(len(perfect)), watched.full_matrix()
    else:
        starts = np.random.default_rng(0).choice(len(perfect), 3, replace=False)
        now, matrix = np.zeros((3, len(perfect))), None
        now[np.arange(3), starts] = 1
    variations = []
    while len(variations) < chain.visits_per_sample:
        now = now @ matrix if matrix is not None else np.array([watched.step(row) for row in now])
        shares = np.array([np.bincount(label, row, len(matchings)) for row in now])
        variations.append(np.abs(shares - 1 / len(matchings)).sum(axis=1).max() / 2)
        if variations[-1] < NEGLIGIBLE:
            break
    return np.array(variations)


def measured(candidates, matchings):
    """Return the total variation of these draws from uniform, of the whole and of the worst marginal."""
    n = matchings.max() + 1
    digits = n ** np.arange(matchings.shape[1])
    number = np.searchsorted(np.sort(matchings @ digits), candidates @ digits)
    share = np.bincount(number, minlength=len(matchings)) / len(candidates)
    whole = np.abs(share - 1 / len(matchings)).sum() / 2
    marginals = [
        np.abs(
            np.bincount(drawn, minlength=n) / len(drawn) - np.bincount(true, minlength=n) / len(true)
        ).sum()
        / 2
        for drawn, true in zip(candidates.T, matchings.T, strict=True)
    ]
    return whole, max(marginals)


def report(name, graph, variations, eta):
    started = time.perf_counter()
    chain = Chain(graph, eta, seed=1)
    setup = time.perf_counter() - started
    started = time.perf_counter()
    candidates = graph.edge_candidate[chain.draw(DRAWS)]
    each = (time.perf_counter() - started) / DRAWS
    matchings = enumerate_states(graph.edge_at >= 0, holes=0)
    uniform = matchings[np.random.default_rng(2).integers(len(matchings), size=DRAWS)]
    whole, marginal = measured(candidates, matchings)
    floor, marginal_floor = measured(uniform, matchings)
    needed = 1 + int(np.argmax(variations <= eta))
    final = variations[min(chain.visits_per_sample, len(variations)) - 1]
    exact = f"< {NEGLIGIBLE:.0e}" if final < NEGLIGIBLE else f"{final:.1e}"
    print(
        f"| {name} | {len(matchings)} | {eta} | {exact} | {needed} | {chain.visits_per_sample} "
        f"| {whole:.4f} ({floor:.4f}) | {marginal:.4f} ({marginal_floor:.4f}) "
        f"| {1e3 * setup:.0f} | {1e6 * each:.0f} |",
        flush=True,
    )


def main():
    Chain(random_graph(2, 2, 1.0), 0.5, seed=0)  # compiles
    print("| graph | matchings | eta | TV | needed | visits | measured | marginals | set-up ms | us |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    shapes = [(8, 8, 0.3), (8, 8, 0.5), (8, 8, 0.8), (8, 8, 1.0), (7, 4, 0.5), (8, 5, 0.4)]
    graphs = {f"{s[0]} x {s[1]}, {s[2]}": random_graph(*s) for s in shapes}
    graphs["8 x 8, 2 x 2 blocks"] = blocks(8)
    for name, graph in graphs.items():
        variations = variation_by_visits(Chain(graph, 0.02, seed=1))
        for eta in (0.1, 0.02):
            report(name, graph, variations, eta)


if __name__ == "__main__":
    main()
