import { Cut, Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { agoText, countText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { Group } from '../service/shapes.ts';
import { useGroups } from './cluster-feed.ts';

const order = ['failed', 'degraded', 'deploying', 'draining', 'running'];

/** Which pipelines the cluster runs together, what does not run first. */
export function GroupsPage() {
  const { data, error } = useGroups();
  return (
    <Page title="Groups">
      {data !== undefined && <Cut shown={data.length} what="groups" />}
      {data === undefined ? error === undefined ? <Waiting /> : <Problem error={error} /> : <GroupTable groups={data} />}
    </Page>
  );
}

function GroupTable({ groups }: { readonly groups: readonly Group[] }) {
  if (groups.length === 0)
    return (
      <Empty title="No group is deployed yet.">
        <p>
          From a terminal: <code>cep groups deploy group.yaml --server {location.origin}</code>
        </p>
      </Empty>
    );
  const sorted = groups.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name));
  return (
    <Wide label="Groups">
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Status</th>
            <th scope="col" class="number minor">
              Pipelines
            </th>
            <th scope="col" class="number">
              Running
            </th>
            <th scope="col">Workers</th>
            <th scope="col" class="number minor">
              Version
            </th>
            <th scope="col" class="minor">
              Changed
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((group) => (
            <GroupRow key={group.id} group={group} />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function GroupRow({ group: { id, name, status, pipelines, deployments, version, updated_at: updated } }: { readonly group: Group }) {
  const running = deployments.filter((one) => one.status === 'running').length;
  const workers = [...new Set(deployments.map(({ worker_id: worker }) => worker).filter((worker) => worker !== null))].sort();
  return (
    <tr>
      <th scope="row">
        <a href={href(['groups', id])}>{name}</a>
      </th>
      <td>
        <Status of={status} />
      </td>
      <td class="number minor">{countText(pipelines.length)}</td>
      <td class={`number ${running < deployments.length ? 'warn' : ''}`}>
        {countText(running)} of {countText(deployments.length)}
      </td>
      <td>{workers.slice(0, 4).join(', ') + (workers.length > 4 ? ` and ${workers.length - 4} more` : '')}</td>
      <td class="number minor">{countText(version)}</td>
      <td class="minor">{agoText(updated)}</td>
    </tr>
  );
}
