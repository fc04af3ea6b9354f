import { useEffect, useState } from 'preact/hooks';
import { Wide } from '../parts/page.tsx';
import type { Topology } from '../service/shapes.ts';
import type { Layout } from './graph-layout.ts';

export interface NodeFigures {
  /** Below the name. */
  readonly lines: readonly string[];
  readonly problem: string | undefined;
  readonly link: string | undefined;
}

interface GraphProps {
  readonly topology: Topology;
  readonly figures: (node: Topology['nodes'][number]) => NodeFigures;
}

const kinds: Readonly<Record<string, string>> = { event: 'event type', source: 'source', sink: 'sink', stream: 'stream', timer: 'timer' };
const lineHeight = 15;
const charactersMax = 24;

/** The topology from left to right. Everything on it stands in the table of streams too. */
export function Graph({ topology, figures }: GraphProps) {
  const [layout, setLayout] = useState<Layout>();
  const shape = JSON.stringify([topology.nodes.map(({ id }) => id), topology.edges]);
  useEffect(() => {
    let isWanted = true;
    void import('./graph-layout.ts').then(({ layoutOf }) => {
      if (isWanted) setLayout(layoutOf(topology));
    });
    return () => {
      isWanted = false;
    };
  }, [shape]);
  if (layout === undefined) return <div class="graph-space" />;
  return (
    <Wide label="Flow of events, from left to right">
      <svg class="graph" viewBox={`0 0 ${layout.width} ${layout.height}`} width={layout.width} height={layout.height}>
        <title>Flow of events: {topology.nodes.map(({ label }) => label).join(', ')}</title>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 L8 4 L0 8 z" class="arrow" />
          </marker>
        </defs>
        {layout.edges.map(({ id, path }) => (
          <path key={id} class="edge" d={path} marker-end="url(#arrow)" />
        ))}
        {layout.nodes.map(({ node, x, y, width, height }) => (
          <g key={node.id} transform={`translate(${x} ${y})`}>
            <Node node={node} width={width} height={height} figures={figures(node)} />
          </g>
        ))}
      </svg>
    </Wide>
  );
}

interface NodeProps {
  readonly node: Topology['nodes'][number];
  readonly width: number;
  readonly height: number;
  readonly figures: NodeFigures;
}

function Node({ node, width, height, figures: { lines, problem, link } }: NodeProps) {
  const kind = kinds[node.node_type] ?? node.node_type;
  const type = typeof node.config['type'] === 'string' ? `${node.config['type']} ${kind}` : kind;
  const operators = Array.isArray(node.config['operators']) ? `\n.${node.config['operators'].join('\n.')}` : '';
  const body = (
    <>
      <title>{`${kind} ${node.label}${operators}`}</title>
      <rect
        class={`node ${node.node_type} ${problem === undefined ? '' : 'problem'}`}
        width={width}
        height={height}
        rx={node.node_type === 'event' ? height / 2 : 4}
      />
      <text class="node-kind" x="10" y={lineHeight}>
        {type}
        {problem !== undefined && <tspan class="node-problem"> ■ {problem}</tspan>}
      </text>
      <text class="node-name" x="10" y={2.2 * lineHeight}>
        {node.label.length > charactersMax ? `${node.label.slice(0, charactersMax - 1)}…` : node.label}
      </text>
      {lines.map((line, at) => (
        <text key={line} class="node-figure" x="10" y={(3.3 + at) * lineHeight}>
          {line}
        </text>
      ))}
    </>
  );
  return link === undefined ? body : <a href={link}>{body}</a>;
}
