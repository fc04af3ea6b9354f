import { Facts } from '../parts/facts.tsx';
import { Fields } from '../parts/fields.tsx';
import { Cut, Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Status } from '../parts/status.tsx';
import { bytesText, countText, plural, rateText, timeText } from '../parts/text.ts';
import { useAnnounced } from '../service/announcement.ts';
import { href } from '../service/href.ts';
import { historyOf, totalsHistory, useAllMetrics } from '../service/metrics-feed.ts';
import { askPages } from '../service/paging.ts';
import { usePoll } from '../service/poll.ts';
import { type FoundProblem, problemsOf } from '../service/problems.ts';
import { ask, ServerError } from '../service/requests.ts';
import type { Alert, Alerts, AllMetrics, Connectors, PipelineEntry, Usage } from '../service/shapes.ts';

const alertsMax = 8;
const busiestMax = 8;
const problemsMax = 25;

export function OverviewPage() {
  const { data: metrics, error } = useAllMetrics();
  const connectors = usePoll('connectors', (signal) => askPages<Connectors>('/api/v1/connectors', 'connectors', signal), 4_000).data;
  const usage = usePoll('usage', (signal) => ask<Usage>('/api/v1/usage', { signal }), 10_000).data;
  const alerts = usePoll('alerts', (signal) => ask<Alerts>(`/api/v1/alerts?limit=${alertsMax}`, { signal }), 4_000).data;
  const serverProblem = usePoll('ready', readyProblem, 5_000).data?.problem;
  if (metrics === undefined) return <Page title="Overview">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  if (metrics.total === 0) return <FirstSteps serverProblem={serverProblem} />;
  const problems = problemsOf({
    pipelines: metrics.pipelines,
    connectors: connectors?.connectors ?? [],
    usage,
    serverProblem,
    rate: (id, count) => historyOf(id).rate(count, 30_000),
  });
  return (
    <Page title="Overview">
      <Cut shown={metrics.pipelines.length} total={metrics.total} what="pipelines" />
      {connectors !== undefined && <Cut shown={connectors.connectors.length} total={connectors.total} what="connectors" />}
      <Problems found={problems} />
      <Totals metrics={metrics} />
      <div class="columns">
        <NewestAlerts alerts={alerts?.alerts} />
        <Busiest pipelines={metrics.pipelines} />
      </div>
    </Page>
  );
}

async function readyProblem(signal: AbortSignal): Promise<{ readonly problem: string | undefined }> {
  try {
    await ask('/ready', { signal });
    return { problem: undefined };
  } catch (error) {
    if (error instanceof ServerError && error.code === 'storage_unavailable') return { problem: error.message };
    throw error;
  }
}

function Problems({ found }: { readonly found: readonly FoundProblem[] }) {
  useAnnounced(plural(found.length, 'problem'));
  if (found.length === 0)
    return (
      <p class="all-good">
        <Status of="healthy">No problems</Status>
        <span class="quiet"> All pipelines run, all connectors are connected, no event was lost, late or refused.</span>
      </p>
    );
  const shown = found.slice(0, problemsMax);
  return (
    <Section title={plural(found.length, 'problem')}>
      <ul class="problems">
        {shown.map(({ tone, isGrowing, subject, text, link }) => (
          <li key={`${subject} ${link} ${text.replace(/[\d,]+/g, '')}`} class={tone}>
            <a href={link}>
              <Status of={tone === 'bad' ? 'failed' : 'degraded'}>{subject}</Status>
              <span>
                {text}
                {isGrowing ? '' : ' (not at the moment)'}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {found.length > shown.length && <p class="quiet">and {plural(found.length - shown.length, 'smaller one')}</p>}
    </Section>
  );
}

function Totals({ metrics }: { readonly metrics: AllMetrics }) {
  const { totals, pipelines, total } = metrics;
  const running = pipelines.filter(({ status }) => status === 'running').length;
  const stopped = pipelines.filter(({ status }) => status === 'stopped').length;
  const others = total - running - stopped;
  const notes = [stopped > 0 && `${stopped} stopped`, others > 0 && `${others} other`].filter(Boolean).join(', ');
  const events = totalsHistory.rates((counts) => counts.events_processed);
  const alerts = totalsHistory.rates((counts) => counts.output_events_emitted);
  return (
    <Section title="All pipelines">
      <Facts
        facts={[
          {
            name: 'Running',
            value: countText(running),
            note: notes === '' ? `of ${countText(total)}` : `of ${countText(total)}, ${notes}`,
          },
          {
            name: 'Events',
            value: rateText(totalsHistory.rate((counts) => counts.events_processed)),
            note: `${countText(totals.events_processed)} in all`,
          },
          {
            name: 'Alerts',
            value: rateText(totalsHistory.rate((counts) => counts.output_events_emitted)),
            note: `${countText(totals.output_events_emitted)} in all`,
          },
          { name: 'Open runs', value: countText(totals.active_runs) },
          { name: 'State', value: bytesText(totals.state_bytes), note: 'as last saved' },
          { name: 'Waiting', value: countText(totals.events_in_flight), note: 'events in queues' },
        ]}
      />
      <div class="charts">
        <figure>
          <figcaption>Events a second</figcaption>
          <Sparkline rates={events} label="Events a second" />
        </figure>
        <figure>
          <figcaption>Alerts a second</figcaption>
          <Sparkline rates={alerts} label="Alerts a second" />
        </figure>
      </div>
    </Section>
  );
}

function NewestAlerts({ alerts }: { readonly alerts: readonly Alert[] | undefined }) {
  return (
    <Section title="Newest alerts" aside={<a href={href(['alerts'])}>All alerts</a>}>
      {alerts === undefined ? (
        <Waiting />
      ) : alerts.length === 0 ? (
        <Empty title="No alert yet.">
          <p>Each pipeline has a page "Explain" that says why nothing came.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {alerts.map((alert) => (
            <li key={`${alert.pipeline_id} ${alert.sequence}`}>
              <a href={href(['pipelines', alert.pipeline_id, 'alerts', String(alert.sequence)])}>
                <span class="quiet">{timeText(alert.timestamp)}</span> <strong>{alert.event_type}</strong> <Fields of={alert.data} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Busiest({ pipelines }: { readonly pipelines: readonly PipelineEntry[] }) {
  const rated = pipelines
    .map((pipeline) => ({ pipeline, events: historyOf(pipeline.id).rate((entry) => entry.events_processed) ?? 0 }))
    .sort((a, b) => b.events - a.events || b.pipeline.events_processed - a.pipeline.events_processed)
    .slice(0, busiestMax);
  return (
    <Section title="Busiest pipelines" aside={<a href={href(['pipelines'])}>All pipelines</a>}>
      <Wide label="Busiest pipelines">
        <table>
          <thead>
            <tr>
              <th scope="col">Pipeline</th>
              <th scope="col" class="number">
                Events
              </th>
              <th scope="col" class="number">
                Alerts
              </th>
            </tr>
          </thead>
          <tbody>
            {rated.map(({ pipeline, events }) => (
              <tr key={pipeline.id}>
                <th scope="row">
                  <a href={href(['pipelines', pipeline.id])}>{pipeline.name}</a>
                </th>
                <td class="number">{rateText(events)}</td>
                <td class="number">{countText(pipeline.output_events_emitted)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

function FirstSteps({ serverProblem }: { readonly serverProblem: string | undefined }) {
  return (
    <Page title="Overview">
      {serverProblem !== undefined && <Problem error={new Error(serverProblem)} />}
      <Empty title="No pipeline is deployed yet.">
        <p>
          <a class="button primary" href={href(['editor'])}>
            Write a program
          </a>
        </p>
        <p>
          or, from a terminal: <code>cep deploy rules.vpl</code>
        </p>
        <p>On a worker of a cluster: what was placed here is shown by the console of the coordinator.</p>
      </Empty>
    </Page>
  );
}
