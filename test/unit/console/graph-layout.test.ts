import { describe, expect, it } from 'vitest';
import { layoutOf } from '../../../cli/console/pages/graph-layout.ts';
import type { Topology } from '../../../cli/console/service/shapes.ts';

/** Nodes that many read beside few, so that an edge to a later one goes past all that stand in between. */
const reads = {
  Lvl1: ['A'],
  Lvl2: ['Lvl1'],
  Lvl3: ['Lvl2', 'C'],
  ...{ Ded: ['A'], Lim: ['A'], Err: ['A'], And3: ['A', 'B', 'C'], Both: ['A', 'B', 'C'], Either: ['A', 'B', 'C'] },
  ...{ Can: ['A', 'B', 'C'], J: ['A', 'B'], J2: ['Lvl1', 'B'] },
};

function topology(): Topology {
  const node = (label: string, type: 'event' | 'stream') => ({ id: label, label, node_type: type, config: {} });
  const streams = Object.keys(reads);
  return {
    nodes: [...['A', 'B', 'C'].map((type) => node(type, 'event')), ...streams.map((stream) => node(stream, 'stream'))],
    edges: Object.entries(reads).flatMap(([target, sources]) => sources.map((source) => ({ id: `${source}-${target}`, source, target }))),
  } as unknown as Topology;
}

describe('the layout of a topology', () => {
  it('has every node and every edge inside', () => {
    const { width, height, nodes, edges } = layoutOf(topology());
    const points = edges.flatMap(({ path }) => Array.from(path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g), ([, x, y]) => [Number(x), Number(y)]));
    const corners = nodes.flatMap((node) => [
      [node.x, node.y],
      [node.x + node.width, node.y + node.height],
    ]);
    expect(points.length).toBeGreaterThan(edges.length);
    const isOutside = ([x = -1, y = -1]: readonly number[]) => x < 0 || y < 0 || x > width || y > height;
    expect([...points, ...corners].filter(isOutside)).toEqual([]);
  });
});
