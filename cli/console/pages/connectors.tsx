import { Cut, Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { askPages } from '../service/paging.ts';
import { usePoll } from '../service/poll.ts';
import type { Connector, Connectors } from '../service/shapes.ts';

type Source = Extract<Connector, { direction: 'source' }>;
type Sink = Extract<Connector, { direction: 'sink' }>;

const sinkOrder = ['open', 'half_open', 'closed'];
const sourceOrder = ['disconnected', 'connected', 'ended'];

/** What pipelines read from and send to, what is broken first. */
export function ConnectorsPage() {
  const { data, error } = usePoll('all connectors', (signal) => askPages<Connectors>('/api/v1/connectors', 'connectors', signal), 3_000);
  if (data === undefined) return <Page title="Connectors">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  const sources = data.connectors
    .filter((one) => one.direction === 'source')
    .toSorted((a, b) => sourceOrder.indexOf(a.state) - sourceOrder.indexOf(b.state));
  const sinks = data.connectors
    .filter((one) => one.direction === 'sink')
    .toSorted((a, b) => sinkOrder.indexOf(a.state) - sinkOrder.indexOf(b.state));
  return (
    <Page title="Connectors">
      {data.total === 0 && (
        <Empty title="No pipeline reads from or sends to anything.">
          <p>
            A program declares a <code>connector</code>, reads with <code>.from(..)</code> and sends with <code>.to(..)</code>. Events also
            come over HTTP, and alerts can be followed there.
          </p>
        </Empty>
      )}
      <Cut shown={data.connectors.length} total={data.total} what="connectors" />
      {sinks.length > 0 && <Sinks of={sinks} />}
      {sources.length > 0 && <Sources of={sources} />}
    </Page>
  );
}

function Whose({ of: { pipeline_id: id, pipeline } }: { readonly of: Connector }) {
  return <a href={href(['pipelines', id])}>{pipeline}</a>;
}

function Sinks({ of: sinks }: { readonly of: readonly Sink[] }) {
  return (
    <Section title="Sinks">
      <Wide label="Sinks">
        <table>
          <thead>
            <tr>
              <th scope="col">Sink</th>
              <th scope="col">Pipeline</th>
              <th scope="col">Breaker</th>
              <th scope="col" class="number minor">
                Delivered
              </th>
              <th scope="col" class="number minor">
                Pending
              </th>
              <th scope="col" class="number">
                Dead letters
              </th>
              <th scope="col" class="number minor">
                Opened
              </th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {sinks.map((sink) => (
              <tr key={`${sink.pipeline_id} ${sink.name}`}>
                <th scope="row">
                  {sink.name} <span class="quiet">{sink.type}</span>
                </th>
                <td>
                  <Whose of={sink} />
                </td>
                <td>
                  <Status of={sink.state} />
                </td>
                <td class="number minor">{countText(sink.delivered)}</td>
                <td class="number minor">{countText(sink.pending)}</td>
                <td class={`number ${sink.dlq_events > 0 ? 'warn' : ''}`}>
                  {sink.dlq_events > 0 ? <a href={href(['pipelines', sink.pipeline_id, 'letters'])}>{countText(sink.dlq_events)}</a> : 0}
                  {sink.dlq_dropped > 0 && <> ({countText(sink.dlq_dropped)} fell out)</>}
                </td>
                <td class="number minor">{countText(sink.opened)}×</td>
                <td class="said">{sink.problem}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

function Sources({ of: sources }: { readonly of: readonly Source[] }) {
  return (
    <Section title="Sources">
      <Wide label="Sources">
        <table>
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">Pipeline</th>
              <th scope="col">State</th>
              <th scope="col" class="number minor">
                Received
              </th>
              <th scope="col" class="number">
                Unreadable
              </th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {sources.map((source, at) => (
              <tr key={`${source.pipeline_id} ${source.name} ${at}`}>
                <th scope="row">
                  {source.name} <span class="quiet">{source.type}</span>
                </th>
                <td>
                  <Whose of={source} />
                </td>
                <td>
                  <Status of={source.state} />
                </td>
                <td class="number minor">{countText(source.received)}</td>
                <td class={`number ${source.unreadable > 0 ? 'warn' : ''}`}>{countText(source.unreadable)}</td>
                <td class="said">{source.problem}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
