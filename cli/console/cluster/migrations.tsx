import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { Migration } from '../service/shapes.ts';
import { useMigrations } from './cluster-feed.ts';

/** Pipelines on their way from worker to worker, and those that were. */
export function MigrationsPage() {
  const { data, error } = useMigrations();
  return (
    <Page title="Migrations">
      {data === undefined ? error === undefined ? <Waiting /> : <Problem error={error} /> : <MigrationTable migrations={data} />}
    </Page>
  );
}

function MigrationTable({ migrations }: { readonly migrations: readonly Migration[] }) {
  if (migrations.length === 0)
    return (
      <Empty title="Nothing was moved yet.">
        <p>
          A group's page moves one pipeline, <a href={href(['workers'])}>a worker is drained</a>, and all are rebalanced.
        </p>
      </Empty>
    );
  return (
    <Wide label="Migrations">
      <table>
        <thead>
          <tr>
            <th scope="col">Pipeline</th>
            <th scope="col">Status</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col" class="number minor">
              Epoch
            </th>
          </tr>
        </thead>
        <tbody>
          {migrations.map(({ id, group, pipeline, replica, status, source_worker: from, target_worker: to, epoch, error }) => (
            <tr key={id}>
              <th scope="row">
                {group} / {pipeline}
                {replica > 0 && <span class="quiet"> replica {replica}</span>}
              </th>
              <td>
                <Status of={status} />
                {error !== undefined && <div class="quiet">{error}</div>}
              </td>
              <td>
                <a href={href(['workers', from])}>{from}</a>
              </td>
              <td>
                <a href={href(['workers', to])}>{to}</a>
              </td>
              <td class="number minor">{countText(epoch)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
