import { Facts } from '../parts/facts.tsx';
import { Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText, durationText, valueText } from '../parts/text.ts';
import { usePoll } from '../service/poll.ts';
import { ask, ServerError } from '../service/requests.ts';
import type { Health, Ready, Settings } from '../service/shapes.ts';

/** What the server runs with, and where each setting comes from. */
export function SettingsPage() {
  const health = usePoll('health', (signal) => ask<Health>('/health', { signal }), 5_000);
  const ready = usePoll('readiness', (signal) => ask<Ready>('/ready', { signal }), 5_000);
  const settings = usePoll('settings', (signal) => ask<Settings>('/api/v1/settings', { signal }), 60_000);
  const isOthers = settings.error instanceof ServerError && settings.error.code === 'forbidden';
  if (health.data === undefined)
    return <Page title="Settings">{health.error === undefined ? <Waiting /> : <Problem error={health.error} />}</Page>;
  const { version, uptime_seconds: uptime } = health.data;
  return (
    <Page title="Settings">
      <Problem error={ready.error} />
      <Facts
        facts={[
          { name: 'Version', value: version },
          { name: 'Runs for', value: durationText(uptime * 1_000) },
          ready.data && {
            name: 'Requests',
            value: (
              <Status of={ready.error === undefined ? 'ready' : 'failed'}>{ready.error === undefined ? 'taken' : 'refused in part'}</Status>
            ),
          },
          ready.data && { name: 'Streams', value: countText(ready.data.streams_count), note: 'of all tenants' },
        ]}
      />
      {isOthers ? (
        <p class="quiet">The settings are shown to the server's own key.</p>
      ) : settings.data === undefined ? (
        <Problem error={settings.error} />
      ) : (
        <Table of={settings.data} />
      )}
    </Page>
  );
}

function Table({ of: { settings } }: { readonly of: Settings }) {
  const all = Object.entries(settings);
  if (all.length === 0) return <p class="quiet">The server was started by another program, which knows its settings.</p>;
  const order = ['flag', 'environment', 'file', 'default'];
  const sorted = all.toSorted(([a, x], [b, y]) => order.indexOf(x.origin) - order.indexOf(y.origin) || a.localeCompare(b));
  return (
    <Section title="Settings in effect">
      <Wide label="Settings in effect">
        <table>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(([name, { value, origin, where }]) => (
              <tr key={name} class={origin === 'default' ? 'quiet' : ''}>
                <th scope="row">{name}</th>
                <td>{value === null ? 'not set' : <code>{valueText(value)}</code>}</td>
                <td>
                  {origin}
                  {where !== undefined && <span class="quiet"> {where}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
