import { useRef } from 'preact/hooks';
import { Facts } from '../parts/facts.tsx';
import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Section, Wide } from '../parts/page.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { agoText, bytesText, countText, durationText, plural, rateText, timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { usePoll } from '../service/poll.ts';
import { History } from '../service/rates.ts';
import { ask } from '../service/requests.ts';
import type { Connectors, Pipeline, PipelineMetrics, StreamMetrics, Topology } from '../service/shapes.ts';
import { Graph, type NodeFigures } from './graph.tsx';

/** How events flow through a pipeline, and what becomes of them. */
export function FlowView({ pipeline }: { readonly pipeline: Pipeline }) {
  const { id, version } = pipeline;
  const path = `/api/v1/pipelines/${encodeURIComponent(id)}`;
  const history = useRef(new History<PipelineMetrics>()).current;
  const { data: metrics, error } = usePoll(
    `metrics ${id}`,
    async (signal) => {
      const counts = await ask<PipelineMetrics>(`${path}/metrics`, { signal });
      history.add({ timeMs: performance.now(), counts });
      return counts;
    },
    2_000,
  );
  const topology = usePoll(`topology ${id} ${version}`, (signal) => ask<Topology>(`${path}/topology`, { signal }), 60_000).data;
  const connectors = usePoll(
    `connectors ${id}`,
    (signal) => ask<Connectors>(`/api/v1/connectors?limit=1000&pipeline_id=${encodeURIComponent(id)}`, { signal }),
    5_000,
  ).data;
  if (metrics === undefined) return error === undefined ? <Waiting /> : <Problem error={error} />;
  const ends = connectors?.connectors.filter((one) => one.pipeline_id === id) ?? [];
  return (
    <>
      <Counts metrics={metrics} history={history} pipeline={pipeline} />
      <Section title="Flow">
        {topology === undefined ? (
          <Waiting />
        ) : topology.nodes.length === 0 ? (
          <Empty title="The program has no streams." />
        ) : (
          <Graph topology={topology} figures={(node) => figuresOf(node, { metrics, history, ends, id })} />
        )}
      </Section>
      <Streams metrics={metrics} history={history} pipelineId={id} />
      <NotUsed metrics={metrics} />
    </>
  );
}

interface Known {
  readonly metrics: PipelineMetrics;
  readonly history: History<PipelineMetrics>;
  readonly ends: Connectors['connectors'];
  readonly id: string;
}

/** What is written on a node of the graph. */
function figuresOf({ label, node_type: type, id: nodeId }: Topology['nodes'][number], { metrics, history, ends, id }: Known): NodeFigures {
  if (type === 'stream' || type === 'timer') {
    const stream = metrics.streams.find(({ name }) => name === label);
    if (stream === undefined) return { lines: [], problem: undefined, link: undefined };
    const count = (of: (stream: StreamMetrics) => number): number | undefined => history.rate(({ streams }) => countOf(streams, label, of));
    const holds = [
      stream.runs_active > 0 && plural(stream.runs_active, 'run'),
      stream.queue_size > 0 && `${countText(stream.queue_size)} waiting`,
    ];
    const lost = lostOf(stream);
    return {
      lines: [
        `${rateText(count((one) => one.events_in))} → ${rateText(count((one) => one.events_out))}`,
        ...holds.filter((text) => text !== false),
      ],
      problem: lost > 0 ? `${countText(lost)} lost` : undefined,
      link: href(['pipelines', id, 'explain'], { stream: label }),
    };
  }
  const direction = nodeId.startsWith('source:') ? 'source' : 'sink';
  const end = ends.find((one) => one.name === label && one.direction === direction);
  if (end === undefined) return { lines: [], problem: undefined, link: undefined };
  const isBad = end.state === 'open' || end.state === 'disconnected' || end.state === 'half_open';
  const lines = end.direction === 'source' ? [`${countText(end.received)} received`] : [`${countText(end.delivered)} delivered`];
  const link = end.direction === 'sink' && end.dlq_events > 0 ? href(['pipelines', id, 'letters']) : href(['connectors']);
  return { lines, problem: isBad ? end.state.replace('_', '-') : undefined, link };
}

function countOf(streams: readonly StreamMetrics[], name: string, of: (stream: StreamMetrics) => number): number {
  const stream = streams.find((one) => one.name === name);
  return stream === undefined ? 0 : of(stream);
}

/** What a stream did not carry through. What `.dedupe` and its like keep back on purpose is not lost. */
function lostOf({ late, failures, runs_dropped: dropped }: StreamMetrics): number {
  return late + failures + Object.values(dropped).reduce((sum, count) => sum + count, 0);
}

function Counts({
  metrics,
  history,
  pipeline,
}: {
  readonly metrics: PipelineMetrics;
  readonly history: History<PipelineMetrics>;
  readonly pipeline: Pipeline;
}) {
  const { watermark, latency } = metrics;
  const warn = (count: number): 'warn' | undefined => (count > 0 ? 'warn' : undefined);
  return (
    <>
      <Facts
        facts={[
          {
            name: 'Events',
            value: rateText(history.rate((m) => m.events_processed)),
            note: `${countText(metrics.events_processed)} in all`,
          },
          {
            name: 'Alerts',
            value: rateText(history.rate((m) => m.output_events_emitted)),
            note: `${countText(metrics.output_events_emitted)} in all`,
          },
          {
            name: 'Event time stands at',
            value: watermark === null ? 'nothing yet' : timeText(watermark),
            note: watermark === null ? 'the first event sets it' : agoText(watermark),
          },
          { name: 'Open runs', value: countText(metrics.active_runs) },
          { name: 'State', value: bytesText(metrics.state_bytes), note: 'as last saved' },
          {
            name: 'Latency',
            value: `${(latency.p50_us / 1_000).toFixed(1)} ms`,
            note: `99 % within ${(latency.p99_us / 1_000).toFixed(1)} ms`,
          },
          { name: 'In the queue', value: countText(metrics.events_in_flight) },
          { name: 'Late', value: countText(metrics.events_late), tone: warn(metrics.events_late) },
          { name: 'Invalid', value: countText(metrics.events_invalid), tone: warn(metrics.events_invalid) },
          { name: 'Refused', value: countText(metrics.events_refused), tone: warn(metrics.events_refused) },
          { name: 'Requests refused', value: countText(metrics.requests_refused), tone: warn(metrics.requests_refused) },
          { name: 'Dead letters', value: countText(metrics.dlq_events), tone: warn(metrics.dlq_events) },
          { name: 'Runs for', value: pipeline.uptime_secs === 0 ? '–' : durationText(pipeline.uptime_secs * 1_000) },
        ]}
      />
      <div class="charts">
        <figure>
          <figcaption>Events a second</figcaption>
          <Sparkline rates={history.rates((m) => m.events_processed)} label="Events a second" />
        </figure>
        <figure>
          <figcaption>Alerts a second</figcaption>
          <Sparkline rates={history.rates((m) => m.output_events_emitted)} label="Alerts a second" />
        </figure>
      </div>
    </>
  );
}

const streamColumns: readonly { readonly title: string; readonly value: (stream: StreamMetrics) => number; readonly isLoss?: true }[] = [
  { title: 'In', value: (s) => s.events_in },
  { title: 'Out', value: (s) => s.events_out },
  { title: 'Open runs', value: (s) => s.runs_active },
  { title: 'Waiting', value: (s) => s.queue_size },
  { title: 'Late', value: (s) => s.late, isLoss: true },
  { title: 'Failures', value: (s) => s.failures, isLoss: true },
  { title: 'Kept back', value: (s) => s.suppressed },
];

interface StreamsProps {
  readonly metrics: PipelineMetrics;
  readonly history: History<PipelineMetrics>;
  readonly pipelineId: string;
}

function Streams({ metrics: { streams }, history, pipelineId }: StreamsProps) {
  return (
    <Section title="Streams">
      <Wide label="Streams">
        <table>
          <thead>
            <tr>
              <th scope="col">Stream</th>
              <th scope="col" class="number">
                In, a second
              </th>
              {streamColumns.map(({ title }) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
              <th scope="col">Dropped runs, taps</th>
            </tr>
          </thead>
          <tbody>
            {streams.map((stream) => (
              <tr key={stream.name}>
                <th scope="row">
                  <a href={href(['pipelines', pipelineId, 'explain'], { stream: stream.name })}>{stream.name}</a>
                </th>
                <td class="number">{rateText(history.rate((m) => countOf(m.streams, stream.name, (one) => one.events_in)))}</td>
                {streamColumns.map(({ title, value, isLoss }) => (
                  <td key={title} class={`number ${isLoss && value(stream) > 0 ? 'warn' : ''}`}>
                    {countText(value(stream))}
                  </td>
                ))}
                <td>
                  {Object.entries({ ...stream.runs_dropped, ...stream.taps })
                    .map(([name, count]) => `${name} ${countText(count)}`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

/** Events that had no effect, and what was meant, perhaps. */
function NotUsed({ metrics: { unread_types: unread, incomplete_fields: incomplete } }: { readonly metrics: PipelineMetrics }) {
  if (unread.length + incomplete.length === 0) return null;
  return (
    <Section title="Events without effect">
      <ul>
        {unread.map(({ event_type: type, events, did_you_mean: meant }) => (
          <li key={type}>
            {plural(events, 'event')} of type <code>{type}</code>, which no stream reads
            {meant !== undefined && (
              <>
                {' '}
                (did you mean <code>{meant}</code>?)
              </>
            )}
          </li>
        ))}
        {incomplete.map(({ event_type: type, field, events }) => (
          <li key={`${type}.${field}`}>
            <code>
              {type}.{field}
            </code>{' '}
            missing in {plural(events, 'event')}: a condition on it holds for none of them
          </li>
        ))}
      </ul>
    </Section>
  );
}
