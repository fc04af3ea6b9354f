import { useState } from 'preact/hooks';
import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { Cut, Notice, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { bytesText, countText, timeText } from '../parts/text.ts';
import { askPages } from '../service/paging.ts';
import { usePoll } from '../service/poll.ts';
import { ask, ServerError } from '../service/requests.ts';
import type { Tenants, Usage } from '../service/shapes.ts';

const plans = ['free', 'default', 'pro', 'enterprise'];

/** What the key's own tenant has used, and with the server's key the tenants that there are. */
export function TenantsPage() {
  const usage = usePoll('usage page', (signal) => ask<Usage>('/api/v1/usage', { signal }), 5_000);
  const tenants = usePoll('tenants', (signal) => askPages<Tenants>('/api/v1/tenants', 'tenants', signal), 15_000);
  const isOthers = tenants.error instanceof ServerError && tenants.error.code === 'forbidden';
  if (usage.data === undefined)
    return <Page title="Usage and tenants">{usage.error === undefined ? <Waiting /> : <Problem error={usage.error} />}</Page>;
  return (
    <Page title="Usage and tenants">
      <UsagePart of={usage.data} />
      {isOthers ? (
        <p class="quiet">Other tenants are shown to the server's own key.</p>
      ) : tenants.data === undefined ? (
        <Problem error={tenants.error} />
      ) : (
        <TenantsPart of={tenants.data} again={tenants.again} />
      )}
    </Page>
  );
}

function UsagePart({ of: usage }: { readonly of: Usage }) {
  const { quota } = usage;
  return (
    <Section title={`Usage of ${usage.tenant_name}`}>
      <Facts
        facts={[
          {
            name: 'Pipelines',
            value: countText(usage.active_pipelines),
            note: `at most ${countText(quota.max_pipelines)}`,
            tone: usage.active_pipelines >= quota.max_pipelines ? 'warn' : undefined,
          },
          { name: 'Events', value: countText(usage.events_processed), note: `at most ${countText(quota.max_events_per_second)} a second` },
          { name: 'Alerts', value: countText(usage.output_events_emitted) },
          {
            name: 'Refused',
            value: countText(usage.events_rejected),
            note: 'for a quota or a full queue',
            tone: usage.events_rejected > 0 ? 'warn' : undefined,
          },
          {
            name: 'Requests refused',
            value: countText(usage.requests_rejected),
            note: 'before their events were read',
            tone: usage.requests_rejected > 0 ? 'warn' : undefined,
          },
          { name: 'Streams of a pipeline', value: `≤ ${countText(quota.max_streams_per_pipeline)}` },
          { name: 'State', value: `≤ ${bytesText(quota.max_state_bytes)}` },
        ]}
      />
    </Section>
  );
}

function TenantsPart({ of: { tenants, total }, again }: { readonly of: Tenants; readonly again: () => void }) {
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  return (
    <Section title={`Tenants (${countText(total)})`}>
      {made !== undefined && (
        <Notice tone="good">
          The key of <strong>{made.name}</strong>, shown this once: <code class="secret">{made.key}</code>
        </Notice>
      )}
      <Cut shown={tenants.length} total={total} what="tenants" />
      <Wide label="Tenants">
        <table>
          <thead>
            <tr>
              <th scope="col">Tenant</th>
              <th scope="col">Plan</th>
              <th scope="col" class="number">
                Pipelines
              </th>
              <th scope="col" class="number">
                Events/s
              </th>
              <th scope="col" class="minor">
                Key
              </th>
              <th scope="col" class="minor">
                Since
              </th>
              <th scope="col">
                <span class="hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tenants.map(({ id, name, plan, quota, key_digest: digest, created_at: created }, at) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td>{plan}</td>
                <td class="number">≤ {countText(quota.max_pipelines)}</td>
                <td class="number">≤ {countText(quota.max_events_per_second)}</td>
                <td class="minor">{digest === null ? 'none' : <code>{digest}…</code>}</td>
                <td class="minor">{timeText(created)}</td>
                <td class="number">
                  {/* The first one is the server's own, which stays. */}
                  {at > 0 && (
                    <Action
                      label="Remove"
                      subject={name}
                      isDangerous
                      question={
                        <p>
                          <strong>{name}</strong> and all its pipelines, with their state, are removed. This cannot be undone.
                        </p>
                      }
                      act={async () => {
                        await ask(`/api/v1/tenants/${encodeURIComponent(id)}`, { method: 'DELETE' });
                        again();
                      }}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <NewTenant
        onMade={(name, key) => {
          setMade({ name, key });
          again();
        }}
      />
    </Section>
  );
}

function NewTenant({ onMade }: { readonly onMade: (name: string, key: string) => void }) {
  const [name, setName] = useState('');
  const [plan, setPlan] = useState('default');
  const [error, setError] = useState<Error>();
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      const { api_key: key } = await ask<{ api_key: string }>('/api/v1/tenants', { method: 'POST', body: { name, plan } });
      onMade(name, key);
      setName('');
    } catch (problem) {
      setError(problem as Error);
    }
  };
  return (
    <form class="filters" onSubmit={(event) => void make(event)}>
      <label>
        New tenant
        <input type="text" required maxLength={128} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        Plan
        <select value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>
          {plans.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button type="submit">Make</button>
      <Problem error={error} />
    </form>
  );
}
