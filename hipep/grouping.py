"""Clustering claimed nodes into convex groups."""


def group_nodes(claimed, edges):
    """Assign every claimed node to a group such that no path between two of its nodes leaves it.

    Parameters
    ----------
    claimed : list of bool
        One entry a node, nodes in topological order.
    edges : list of list of int
        For each node the nodes that read its outputs.

    Returns
    -------
    list of int
        The group of each node, -1 for nodes that are not claimed. Groups are numbered from 0 in
        topological order; there are as few as the alternation between claimed and other nodes
        along a path allows.
    """
    count = len(claimed)
    level = [0] * count
    # A node's level counts how often a path into it crossed from claimed to other nodes: nodes of
    # one level cannot reach each other through a node that is not claimed.
    for n in range(count):
        own = level[n]
        for consumer in edges[n]:
            needed = own + 1 if claimed[n] and not claimed[consumer] else own
            if needed > level[consumer]:
                level[consumer] = needed
    # A claimed node that only later groups read moves to them: its value crosses no border.
    for n in range(count - 1, -1, -1):
        if claimed[n] and edges[n] and all(claimed[consumer] for consumer in edges[n]):
            level[n] = max(level[n], min(level[consumer] for consumer in edges[n]))
    used = sorted({level[n] for n in range(count) if claimed[n]})
    number = {value: index for index, value in enumerate(used)}
    return [number[level[n]] if claimed[n] else -1 for n in range(count)]
