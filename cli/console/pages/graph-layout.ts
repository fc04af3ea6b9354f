import { graphlib, layout } from '@dagrejs/dagre';
import type { Topology } from '../service/shapes.ts';

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** `x` and `y` of the upper left corner. */
  readonly nodes: readonly {
    readonly node: Topology['nodes'][number];
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
  /** `path` as SVG writes it. */
  readonly edges: readonly { readonly id: string; readonly path: string }[];
}

const height = { event: 44, other: 76 };
/** Of a character of a name, and around it; connectors have their state beside their type. */
const width = { least: 120, leastOfConnector: 185, most: 210, character: 8, around: 24 };
const margin = 8;

/** Places the nodes from left to right, so that edges go forward and cross little. */
export function layoutOf({ nodes, edges }: Topology): Layout {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 40, marginx: margin, marginy: margin });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes)
    graph.setNode(node.id, { width: widthOf(node), height: node.node_type === 'event' ? height.event : height.other });
  for (const { source, target } of edges) graph.setEdge(source, target);
  layout(graph);
  // Its ends are the middles of the sides that face each other; it bends only where it goes past other nodes.
  const paths = edges.map(({ id, source, target }) => {
    const [from, to] = [graph.node(source), graph.node(target)];
    const bends: readonly Point[] = graph.edge(source, target).points.slice(1, -1);
    const between = bends.length > 1 ? bends : [];
    return { id, points: [{ x: from.x + from.width / 2, y: from.y }, ...between, { x: to.x - to.width / 2, y: to.y }] };
  });
  // The size that the library gives is that of the nodes: an edge may go past them above or below all of them.
  const heights = paths.flatMap(({ points }) => points.map(({ y }) => y));
  const whole = graph.graph();
  const down = Math.max(0, margin - Math.min(margin, ...heights));
  return {
    width: whole.width ?? 0,
    height: down + Math.max(whole.height ?? 0, ...heights.map((y) => y + margin)),
    nodes: nodes.map((node) => {
      const placed = graph.node(node.id);
      return { node, x: placed.x - placed.width / 2, y: down + placed.y - placed.height / 2, width: placed.width, height: placed.height };
    }),
    edges: paths.map(({ id, points }) => ({ id, path: pathOf(points.map(({ x, y }) => ({ x, y: down + y }))) })),
  };
}

function widthOf({ label, node_type: type }: Topology['nodes'][number]): number {
  const least = type === 'source' || type === 'sink' ? width.leastOfConnector : width.least;
  return Math.min(width.most, Math.max(least, label.length * width.character + width.around));
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A curve that leaves, passes and enters level. */
function pathOf(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return '';
  let before = first;
  const parts = [`M${at(first)}`];
  for (const point of others) {
    const middle = (before.x + point.x) / 2;
    parts.push(`C${at({ x: middle, y: before.y })} ${at({ x: middle, y: point.y })} ${at(point)}`);
    before = point;
  }
  return parts.join('');
}

function at({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
