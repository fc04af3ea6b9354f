import { useState } from 'preact/hooks';
import { Action } from '../parts/action.tsx';
import { Empty } from '../parts/notice.tsx';
import { Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { Deployment, Group, Worker } from '../service/shapes.ts';
import { clusterActions, useClusterMetrics } from './cluster-feed.ts';

export interface Deployed {
  readonly group: Group;
  readonly deployment: Deployment;
}

interface DeploymentTableProps {
  readonly deployed: readonly Deployed[];
  readonly workers: readonly Worker[];
  readonly again: () => void;
  readonly isGroupShown?: boolean;
}

/** Which pipeline runs where. */
export function DeploymentTable({ deployed, workers, again, isGroupShown = false }: DeploymentTableProps) {
  const counted = useClusterMetrics().data?.pipelines ?? [];
  if (deployed.length === 0) return <Empty title="Nothing." />;
  return (
    <Wide label="Deployments">
      <table>
        <thead>
          <tr>
            <th scope="col">Pipeline</th>
            <th scope="col">Status</th>
            <th scope="col">{isGroupShown ? 'Group' : 'Worker'}</th>
            <th scope="col" class="number">
              Events
            </th>
            <th scope="col" class="number">
              Alerts
            </th>
            <th scope="col" class="number minor">
              Epoch
            </th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deployed.map(({ group, deployment }) => {
            const { pipeline_name: name, replica, worker_id: worker, status, error, epoch } = deployment;
            const counts = counted.find((one) => one.group === group.name && one.pipeline === name && one.replica === replica);
            return (
              <tr key={`${group.id} ${name} ${replica}`}>
                <th scope="row">
                  {name}
                  {replica > 0 && <span class="quiet"> replica {replica}</span>}
                </th>
                <td>
                  <Status of={status} />
                  {error !== undefined && <div class="quiet address">{error}</div>}
                </td>
                <td class="address">
                  {isGroupShown ? (
                    <a href={href(['groups', group.id])}>{group.name}</a>
                  ) : worker === null ? (
                    'none yet'
                  ) : (
                    <a href={href(['workers', worker])}>{worker}</a>
                  )}
                </td>
                <td class="number">{counts === undefined ? '–' : countText(counts.events_in)}</td>
                <td class="number">{counts === undefined ? '–' : countText(counts.events_out)}</td>
                <td class="number minor">{countText(epoch)}</td>
                <td>
                  <Migrate group={group} deployment={deployment} workers={workers} again={again} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Wide>
  );
}

interface MigrateProps extends Deployed {
  readonly workers: readonly Worker[];
  readonly again: () => void;
}

function Migrate({ group, deployment: { pipeline_name: name, replica, worker_id: from }, workers, again }: MigrateProps) {
  const [to, setTo] = useState('');
  const others = workers.filter(({ id, status }) => id !== from && status === 'ready');
  const question = (
    <>
      <p>
        <strong>{name}</strong> moves with its state. What comes in meanwhile waits.
      </p>
      <label>
        <span>To</span>
        <select value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)}>
          <option value="">the worker that new pipelines would get</option>
          {others.map(({ id, pipelines }) => (
            <option key={id} value={id}>
              {id} ({countText(pipelines.length)})
            </option>
          ))}
        </select>
      </label>
    </>
  );
  const move = (): Promise<void> => clusterActions.migrate(group.id, name, { replica, to }).then(again);
  return (
    <Action
      label="Move"
      subject={replica > 0 ? `${name} replica ${replica}` : name}
      question={question}
      act={move}
      isDisabled={from === null || others.length === 0}
    />
  );
}
