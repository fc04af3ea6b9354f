import { useState } from 'preact/hooks';
import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { bytesText, countText, plural, rateText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { lookAt } from '../service/location.ts';
import { historyOf, useAllMetrics } from '../service/metrics-feed.ts';
import type { PipelineEntry } from '../service/shapes.ts';

const perPage = 100;

interface Column {
  readonly name: string;
  readonly title: string;
  readonly value: (pipeline: PipelineEntry) => number | string;
  readonly text: (pipeline: PipelineEntry) => string;
  /** Left out where there is little room. */
  readonly isMinor?: true;
}

const eventsOf = (pipeline: PipelineEntry): number => historyOf(pipeline.id).rate((entry) => entry.events_processed) ?? 0;
const alertsOf = (pipeline: PipelineEntry): number => historyOf(pipeline.id).rate((entry) => entry.output_events_emitted) ?? 0;
/** Events that did not do what they were sent for. */
const lossesOf = (p: PipelineEntry): number =>
  p.events_invalid + p.events_late + p.events_unread + p.events_refused + p.requests_refused + p.dlq_events;

const columns: readonly Column[] = [
  { name: 'events', title: 'Events', value: eventsOf, text: (pipeline) => rateText(eventsOf(pipeline)) },
  { name: 'processed', title: 'in all', value: (p) => p.events_processed, text: (p) => countText(p.events_processed), isMinor: true },
  { name: 'alerts', title: 'Alerts', value: alertsOf, text: (pipeline) => rateText(alertsOf(pipeline)), isMinor: true },
  { name: 'emitted', title: 'in all', value: (p) => p.output_events_emitted, text: (p) => countText(p.output_events_emitted) },
  { name: 'losses', title: 'Lost or late', value: lossesOf, text: (p) => countText(lossesOf(p)) },
  { name: 'runs', title: 'Open runs', value: (p) => p.active_runs, text: (p) => countText(p.active_runs), isMinor: true },
  { name: 'state', title: 'State', value: (p) => p.state_bytes, text: (p) => bytesText(p.state_bytes), isMinor: true },
];

const order = ['failed', 'degraded', 'draining', 'starting', 'running', 'stopped'];

export function PipelinesPage({ query }: { readonly query: URLSearchParams }) {
  const { data, error } = useAllMetrics();
  const [page, setPage] = useState(0);
  const search = query.get('search') ?? '';
  const status = query.get('status') ?? '';
  const sort = query.get('sort') ?? 'status';
  const look = (change: Readonly<Record<string, string>>): void => {
    setPage(0);
    lookAt(href(['pipelines'], { search, status, sort, ...change }));
  };
  const turnTo = (to: number): void => {
    setPage(to);
    window.scrollTo(0, 0);
  };
  if (data === undefined) return <Page title="Pipelines">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  if (data.total === 0)
    return (
      <Page title="Pipelines">
        <Empty title="No pipeline is deployed yet.">
          <p>
            <a class="button primary" href={href(['editor'])}>
              Write a program
            </a>
          </p>
        </Empty>
      </Page>
    );
  const found = sorted(
    data.pipelines.filter((pipeline) => fits(pipeline, { search, status })),
    sort,
  );
  const pages = Math.max(1, Math.ceil(found.length / perPage));
  const at = Math.min(page, pages - 1);
  return (
    <Page
      title="Pipelines"
      aside={
        <a class="button" href={href(['editor'])}>
          New pipeline
        </a>
      }
    >
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Name or label
          <input type="search" value={search} onInput={(event) => look({ search: event.currentTarget.value })} />
        </label>
        <label>
          Status
          <select value={status} onChange={(event) => look({ status: event.currentTarget.value })}>
            <option value="">any</option>
            {order.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Order
          <select value={sort} onChange={(event) => look({ sort: event.currentTarget.value })}>
            <option value="status">problems first</option>
            <option value="name">name</option>
            {columns.map(({ name, title }) => (
              <option key={name} value={name}>
                {title === 'in all' ? `${name} in all` : title.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <p role="status">
          {found.length === data.total ? plural(data.total, 'pipeline') : `${countText(found.length)} of ${countText(data.total)}`}
        </p>
      </form>
      {found.length === 0 ? (
        <Empty title="No pipeline fits.">
          <p>
            <a href={href(['pipelines'])}>Show all</a>
          </p>
        </Empty>
      ) : (
        <Wide label="Pipelines">
          <table>
            <thead>
              <tr>
                <th scope="col">Pipeline</th>
                <th scope="col">Status</th>
                {columns.map(({ name, title, isMinor }) => (
                  <th
                    key={name}
                    scope="col"
                    class={`number ${isMinor ? 'minor' : ''}`}
                    aria-sort={sort === name ? 'descending' : undefined}
                  >
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {found.slice(at * perPage, (at + 1) * perPage).map((pipeline) => (
                <Row key={pipeline.id} pipeline={pipeline} />
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      {pages > 1 && (
        <p class="pager">
          <button type="button" disabled={at === 0} onClick={() => turnTo(at - 1)}>
            Previous
          </button>
          <span>
            page {at + 1} of {pages}
          </span>
          <button type="button" disabled={at === pages - 1} onClick={() => turnTo(at + 1)}>
            Next
          </button>
        </p>
      )}
    </Page>
  );
}

function Row({ pipeline }: { readonly pipeline: PipelineEntry }) {
  return (
    <tr>
      <th scope="row">
        <a href={href(['pipelines', pipeline.id])}>{pipeline.name}</a>
      </th>
      <td>
        <Status of={pipeline.status} />
      </td>
      {columns.map(({ name, value, text, isMinor }) => (
        <td key={name} class={`number ${isMinor ? 'minor' : ''} ${name === 'losses' && value(pipeline) !== 0 ? 'warn' : ''}`}>
          {text(pipeline)}
        </td>
      ))}
    </tr>
  );
}

function fits({ name, id, status, labels = {} }: PipelineEntry, wanted: { readonly search: string; readonly status: string }): boolean {
  if (wanted.status !== '' && status !== wanted.status) return false;
  const text = [name, id, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)].join(' ').toLowerCase();
  return text.includes(wanted.search.toLowerCase());
}

function sorted(pipelines: readonly PipelineEntry[], by: string): readonly PipelineEntry[] {
  const byName = (a: PipelineEntry, b: PipelineEntry): number => a.name.localeCompare(b.name, 'en', { numeric: true });
  const column = columns.find(({ name }) => name === by);
  if (column !== undefined) return pipelines.toSorted((a, b) => Number(column.value(b)) - Number(column.value(a)) || byName(a, b));
  if (by === 'name') return pipelines.toSorted(byName);
  const rank = (pipeline: PipelineEntry): number => order.indexOf(pipeline.status) * 2 - (lossesOf(pipeline) > 0 ? 1 : 0);
  return pipelines.toSorted((a, b) => rank(a) - rank(b) || byName(a, b));
}
