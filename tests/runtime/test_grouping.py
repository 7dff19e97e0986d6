"""Groups of claimed nodes: convex, complete, numbered in topological order."""

from hypothesis import given
from hypothesis import strategies as st

from hipep.grouping import group_nodes


@st.composite
def graphs(draw):
    count = draw(st.integers(0, 24))
    claimed = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    edges = [
        sorted(draw(st.sets(st.integers(n + 1, count - 1), max_size=3))) if n + 1 < count else []
        for n in range(count)
    ]
    return claimed, edges


def reachable(edges, start):
    found, stack = set(), list(start)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(edges[node])
    return found


@given(graphs())
def test_all_claimed_nodes_are_grouped_and_no_others(graph):
    claimed, edges = graph
    groups = group_nodes(claimed, edges)
    assert [group >= 0 for group in groups] == claimed
    assert {group for group in groups if group >= 0} == set(range(max(groups, default=-1) + 1))


@given(graphs())
def test_groups_are_convex(graph):
    claimed, edges = graph
    groups = group_nodes(claimed, edges)
    for group in set(groups) - {-1}:
        members = {n for n in range(len(groups)) if groups[n] == group}
        left = {c for n in members for c in edges[n] if c not in members}
        assert not reachable(edges, left) & members


@given(graphs())
def test_numbers_are_topological(graph):
    claimed, edges = graph
    groups = group_nodes(claimed, edges)
    for n, consumers in enumerate(edges):
        for consumer in consumers:
            if groups[n] >= 0 and groups[consumer] >= 0:
                assert groups[n] <= groups[consumer]


@given(graphs())
def test_groups_are_free_of_cycles_between_them(graph):
    """Convex groups may still wait for each other, which onnxruntime refuses."""
    claimed, edges = graph
    groups = group_nodes(claimed, edges)
    names = [("group", g) if g >= 0 else ("node", n) for n, g in enumerate(groups)]
    merged = {name: set() for name in names}
    for n, consumers in enumerate(edges):
        merged[names[n]].update(names[c] for c in consumers if names[c] != names[n])
    done, open_ = set(), set()

    def visit(name):
        assert name not in open_
        if name in done:
            return
        open_.add(name)
        for following in merged[name]:
            visit(following)
        open_.discard(name)
        done.add(name)

    for name in merged:
        visit(name)


def test_a_graph_of_claimed_nodes_is_one_group():
    assert group_nodes([True] * 4, [[1], [2], [3], []]) == [0] * 4
    assert group_nodes([True] * 4, [[], [], [], []]) == [0] * 4


def test_a_chain_alternates():
    assert group_nodes([True, False, True, False, True], [[1], [2], [3], [4], []]) == [
        0, -1, 1, -1, 2,
    ]  # fmt: skip


def test_a_branch_beside_a_cpu_node_joins_a_neighbour():
    groups = group_nodes([True, False, True, True], [[1, 2], [3], [3], []])
    assert groups[1] == -1
    assert groups[2] in (groups[0], groups[3])
