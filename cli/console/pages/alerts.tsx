import { Fields } from '../parts/fields.tsx';
import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { plural, timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { lookAt } from '../service/location.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { Alert, Alerts } from '../service/shapes.ts';

const shownMax = 200;

/** The newest alerts of all pipelines. */
export function AlertsPage({ query }: { readonly query: URLSearchParams }) {
  const { data, error } = usePoll('all alerts', (signal) => ask<Alerts>(`/api/v1/alerts?limit=${shownMax}`, { signal }), 3_000);
  const search = query.get('search') ?? '';
  const stream = query.get('stream') ?? '';
  if (data === undefined) return <Page title="Alerts">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  const streams = [...new Set(data.alerts.map((alert) => alert.stream))].sort();
  const shown = data.alerts.filter((alert) => (stream === '' || alert.stream === stream) && textOf(alert).includes(search.toLowerCase()));
  const look = (change: Readonly<Record<string, string>>): void => lookAt(href(['alerts'], { search, stream, ...change }));
  return (
    <Page title="Alerts">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Text
          <input type="search" value={search} onInput={(event) => look({ search: event.currentTarget.value })} />
        </label>
        <label>
          Stream
          <select value={stream} onChange={(event) => look({ stream: event.currentTarget.value })}>
            <option value="">all</option>
            {streams.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <p role="status">
          {plural(shown.length, 'alert')}, of the newest {data.alerts.length}
        </p>
      </form>
      {data.alerts.length === 0 ? (
        <Empty title="No alert yet.">
          <p>
            <a href={href(['pipelines'])}>Each pipeline</a> has a view "Explain" that says why nothing came. Alerts are kept until the
            server restarts.
          </p>
        </Empty>
      ) : (
        <AlertRows alerts={shown} hasPipeline />
      )}
    </Page>
  );
}

function textOf({ pipeline, event_type: type, data }: Alert): string {
  return `${pipeline} ${type} ${JSON.stringify(data)}`.toLowerCase();
}

interface AlertRowsProps {
  readonly alerts: readonly Alert[];
  readonly hasPipeline?: boolean;
  /** The sequence of the one that is looked at. */
  readonly current?: number;
}

export function AlertRows({ alerts, hasPipeline, current }: AlertRowsProps) {
  return (
    <ul class="rows">
      {alerts.map((alert) => (
        <li key={`${alert.pipeline_id} ${alert.sequence}`}>
          <a
            href={href(['pipelines', alert.pipeline_id, 'alerts', String(alert.sequence)])}
            aria-current={alert.sequence === current ? 'true' : undefined}
          >
            <span class="quiet">{timeText(alert.timestamp)}</span> {hasPipeline && <span>{alert.pipeline}</span>}{' '}
            <strong>{alert.event_type}</strong> <Fields of={alert.data} />
          </a>
        </li>
      ))}
    </ul>
  );
}
