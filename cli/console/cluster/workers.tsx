import { useState } from 'preact/hooks';
import { Action } from '../parts/action.tsx';
import { Cut, Empty, Notice, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { agoText, countText, plural, rateText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { Worker } from '../service/shapes.ts';
import { clusterActions, useScaling, useWorkers } from './cluster-feed.ts';
import { ScalingFacts } from './scaling.tsx';

/** Who runs the pipelines, how much each has, and whether it is still there. */
export function WorkersPage() {
  const { data: workers, error, again } = useWorkers();
  const scaling = useScaling().data;
  const [told, setTold] = useState<string>();
  const rebalance = async (): Promise<void> => {
    const { migrations } = await clusterActions.rebalance();
    setTold(migrations.length === 0 ? 'Nothing to move: the workers are even.' : `${plural(migrations.length, 'pipeline')} on the way.`);
    again();
  };
  const question = (
    <p>Pipelines are moved from workers with many to workers with few, each with its state. What comes in meanwhile waits.</p>
  );
  return (
    <Page title="Workers" aside={<Action label="Rebalance" question={question} act={rebalance} isDisabled={(workers?.length ?? 0) < 2} />}>
      {told !== undefined && <Notice>{told}</Notice>}
      {workers !== undefined && <Cut shown={workers.length} what="workers" />}
      {workers === undefined ? (
        error === undefined ? (
          <Waiting />
        ) : (
          <Problem error={error} />
        )
      ) : (
        <WorkerTable workers={workers} again={again} />
      )}
      {scaling !== undefined && (
        <Section title="Scaling">
          <ScalingFacts scaling={scaling} />
        </Section>
      )}
    </Page>
  );
}

function WorkerTable({ workers, again }: { readonly workers: readonly Worker[]; readonly again: () => void }) {
  if (workers.length === 0)
    return (
      <Empty title="No worker has registered yet.">
        <p>
          Start one: <code>cep server --port 9001 --coordinator {location.origin}</code>
        </p>
      </Empty>
    );
  const sorted = workers.toSorted((a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }));
  return (
    <Wide label="Workers">
      <table>
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Pipelines
            </th>
            <th scope="col" class="number minor">
              Events
            </th>
            <th scope="col" class="number minor">
              In all
            </th>
            <th scope="col" class="minor">
              Heard
            </th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((worker) => (
            <tr key={worker.id}>
              <th scope="row">
                <a href={href(['workers', worker.id])}>{worker.id}</a>
              </th>
              <td>
                <Status of={worker.status} />
              </td>
              <td class="number">
                {countText(worker.pipelines.length)}
                {worker.max_pipelines > 0 && <span class="quiet"> of {countText(worker.max_pipelines)}</span>}
              </td>
              <td class="number minor">{rateText(worker.events_per_second)}</td>
              <td class="number minor">{countText(worker.events_processed)}</td>
              <td class="minor">{worker.last_heartbeat === null ? 'not yet' : agoText(worker.last_heartbeat)}</td>
              <td>
                <WorkerActions worker={worker} again={again} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

export function WorkerActions({ worker: { id, status, pipelines }, again }: { readonly worker: Worker; readonly again: () => void }) {
  const then = (action: Promise<unknown>): Promise<void> => action.then(again);
  return (
    <div class="buttons">
      <Action
        label="Drain"
        subject={id}
        isDisabled={status !== 'ready'}
        question={
          <p>
            {plural(pipelines.length, 'pipeline')} of <strong>{id}</strong> {pipelines.length === 1 ? 'moves' : 'move'} to other workers,
            with {pipelines.length === 1 ? 'its' : 'their'} state. Then it can be stopped; started again, it takes part again.
          </p>
        }
        act={() => then(clusterActions.drain(id))}
      />
      <Action
        label="Remove"
        subject={id}
        isDangerous
        question={
          <p>
            <strong>{id}</strong> is forgotten at once, its process stops what it runs, and others go on from the last checkpoint. A worker
            that answers is better drained.
          </p>
        }
        act={() => then(clusterActions.removeWorker(id))}
      />
    </div>
  );
}
