import { countText, plural } from '../parts/text.ts';
import { href } from './href.ts';
import type { Connector, PipelineEntry, Usage } from './shapes.ts';

/** Something that somebody should look at. */
export interface FoundProblem {
  readonly tone: 'bad' | 'warn';
  /** Whether it goes on at the moment. */
  readonly isGrowing: boolean;
  /** What it is about: a pipeline, a connector, the server. */
  readonly subject: string;
  readonly text: string;
  /** Where it is looked into. */
  readonly link: string;
  readonly size: number;
}

export interface Facts {
  readonly pipelines: readonly PipelineEntry[];
  readonly connectors: readonly Connector[];
  readonly usage?: Usage | undefined;
  /** Why the server takes no changes. */
  readonly serverProblem?: string | undefined;
  /** Counts a second of a pipeline, where they are known. */
  readonly rate: (id: string, count: (entry: PipelineEntry) => number) => number | undefined;
}

/** What should be looked at, worst first. */
export function problemsOf(facts: Facts): readonly FoundProblem[] {
  const found = [
    ...serverProblems(facts),
    ...facts.pipelines.flatMap((pipeline) => pipelineProblems(pipeline, facts)),
    ...facts.connectors.flatMap(connectorProblems),
  ];
  const rank = ({ tone, isGrowing }: FoundProblem): number => (tone === 'bad' ? 0 : 2) + (isGrowing ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || b.size - a.size);
}

function serverProblems({ usage, serverProblem }: Facts): FoundProblem[] {
  const found: FoundProblem[] = [];
  const add = (tone: FoundProblem['tone'], text: string, link = href(['tenants'])): void => {
    found.push({ tone, isGrowing: true, subject: 'server', text, link, size: Number.MAX_SAFE_INTEGER });
  };
  if (serverProblem !== undefined) add('bad', serverProblem, href(['settings']));
  if (usage !== undefined && usage.active_pipelines >= usage.quota.max_pipelines)
    add('warn', `all ${countText(usage.quota.max_pipelines)} pipelines of the quota are used: no other can be deployed`);
  return found;
}

type Counter = (entry: PipelineEntry) => number;

interface Loss {
  readonly count: Counter;
  readonly text: (count: number) => string;
  readonly view?: string;
}

const losses: readonly Loss[] = [
  {
    count: (p) => p.dlq_events,
    text: (n) => `${plural(n, 'dead letter')}: a sink did not take ${n === 1 ? 'it' : 'them'}`,
    view: 'letters',
  },
  { count: (p) => p.events_refused, text: (n) => `${plural(n, 'event')} refused: a full queue, a quota or a budget` },
  { count: (p) => p.requests_refused, text: (n) => `${plural(n, 'request')} with events refused unread: a full queue or a quota` },
  { count: (p) => p.events_invalid, text: (n) => `${plural(n, 'event')} with a wrong value, refused` },
  { count: (p) => p.events_unread, text: (n) => `${plural(n, 'event')} of types that no stream reads` },
  { count: (p) => p.events_late, text: (n) => `${plural(n, 'event')} too late for a window, a run or a join` },
  { count: (p) => p.events_incomplete, text: (n) => `${plural(n, 'event')} without a declared field` },
];

function pipelineProblems(pipeline: PipelineEntry, { rate, connectors }: Facts): FoundProblem[] {
  const { id, name: subject, status, error = 'no reason is known', failing_connectors: failing = [] } = pipeline;
  const found: FoundProblem[] = [];
  const link = href(['pipelines', id]);
  if (status === 'failed')
    found.push({ tone: 'bad', isGrowing: true, subject, text: `failed: ${error}`, link, size: Number.MAX_SAFE_INTEGER });
  // Of a connector it is said there, and why.
  const said = connectors.filter((connector) => connector.pipeline_id === id && connectorProblems(connector).length > 0);
  const isSaid = failing.length > 0 && failing.every((one) => said.some(({ name }) => name === one));
  if (status === 'degraded' && !isSaid)
    found.push({ tone: 'warn', isGrowing: true, subject, text: `degraded: ${error}`, link, size: Number.MAX_SAFE_INTEGER });
  for (const { count, text, view } of losses) {
    const size = count(pipeline);
    if (size === 0) continue;
    const isGrowing = (rate(id, count) ?? 0) > 0;
    const to = view === undefined ? link : href(['pipelines', id, view]);
    found.push({ tone: 'warn', isGrowing, subject, text: text(size), link: to, size });
  }
  return found;
}

function connectorProblems(connector: Connector): FoundProblem[] {
  const { name, pipeline, pipeline_id: id } = connector;
  const subject = `${pipeline} / ${name}`;
  const common = { isGrowing: true, subject, size: Number.MAX_SAFE_INTEGER - 1 };
  if (connector.direction === 'source') {
    if (connector.state !== 'disconnected') return [];
    const why = connector.problem === undefined ? '' : `: ${connector.problem}`;
    return [{ ...common, tone: 'bad', text: `reads nothing, not connected${why}`, link: href(['connectors']) }];
  }
  if (connector.state === 'closed') return [];
  const why = connector.problem === undefined ? '' : ` (${connector.problem})`;
  const text =
    connector.state === 'open'
      ? `breaker open: nothing is sent, events become dead letters${why}`
      : `breaker half-open: one probe decides${why}`;
  return [{ ...common, tone: connector.state === 'open' ? 'bad' : 'warn', text, link: href(['pipelines', id, 'letters']) }];
}
