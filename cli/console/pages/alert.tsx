import { Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section } from '../parts/page.tsx';
import { agoText, plural, timeText, valueText } from '../parts/text.ts';
import { Timeline } from '../parts/timeline.tsx';
import { href } from '../service/href.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { Alert, Alerts, AlertWithCauses } from '../service/shapes.ts';
import { AlertCausesView } from './alert-causes.tsx';
import { AlertRows } from './alerts.tsx';

const neighboursMax = 1_000;
const listedMax = 12;

/** One alert: what it says, the events that made it, and those around it. */
export function AlertPage({ pipelineId, sequence }: { readonly pipelineId: string; readonly sequence: string }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipelineId)}`;
  const what = `${pipelineId} ${sequence}`;
  const { data: alert, error } = usePoll(
    `alert ${what}`,
    (signal) => ask<AlertWithCauses>(`${path}/alerts/${encodeURIComponent(sequence)}`, { signal }),
    60_000,
  );
  const around = usePoll(
    `around ${what}`,
    (signal) => ask<Alerts>(`/api/v1/alerts?limit=${neighboursMax}&pipeline_id=${encodeURIComponent(pipelineId)}`, { signal }),
    15_000,
  ).data;
  if (alert === undefined)
    return (
      <Page title="Alert">
        {error === undefined ? <Waiting /> : <Problem error={error} />}
        <p>
          <a href={href(['pipelines', pipelineId, 'alerts'])}>The alerts of the pipeline</a>
        </p>
      </Page>
    );
  const others = around?.alerts.filter((one) => one.stream === alert.stream) ?? [];
  return (
    <Page title={alert.event_type}>
      <p class="under-title">
        <a href={href(['pipelines', pipelineId])}>{alert.pipeline}</a> · stream {alert.stream} · alert {alert.sequence} ·{' '}
        {timeText(alert.timestamp)} <span class="quiet">({agoText(alert.timestamp)})</span>
      </p>
      <table class="record">
        <tbody>
          {Object.entries(alert.data).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <code>{valueText(value)}</code>
              </td>
            </tr>
          ))}
          <tr class="quiet">
            <th scope="row">id</th>
            <td>
              <code>{alert.id}</code> <span class="quiet">(the same at every sink)</span>
            </td>
          </tr>
        </tbody>
      </table>
      <AlertCausesView alert={alert} />
      <Section title={`${plural(others.length, 'alert')} of this stream`}>
        {others.length > 1 && (
          <Timeline
            label={`Alerts of ${alert.stream} by time`}
            points={others.map((one) => ({
              key: String(one.sequence),
              timeMs: one.timestamp,
              text: `${timeText(one.timestamp)} alert ${one.sequence}`,
              isCurrent: one.sequence === alert.sequence,
            }))}
          />
        )}
        <AlertRows alerts={nearest(others, alert)} current={alert.sequence} />
      </Section>
    </Page>
  );
}

function nearest(alerts: readonly Alert[], to: Alert): readonly Alert[] {
  const at = alerts.findIndex(({ sequence }) => sequence === to.sequence);
  const first = Math.max(0, Math.min(at - Math.floor(listedMax / 2), alerts.length - listedMax));
  return alerts.slice(first, first + listedMax);
}
