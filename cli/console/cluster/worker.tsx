import { Facts } from '../parts/facts.tsx';
import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { agoText, countText, rateText, timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { useGroups, useWorkers } from './cluster-feed.ts';
import { DeploymentTable } from './deployments.tsx';
import { WorkerActions } from './workers.tsx';

/** One worker, and what it runs. */
export function WorkerPage({ id }: { readonly id: string }) {
  const { data: workers, error, again } = useWorkers();
  const groups = useGroups().data ?? [];
  if (workers === undefined) return <Page title={id}>{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  const worker = workers.find((one) => one.id === id);
  if (worker === undefined)
    return (
      <Page title={id}>
        <Empty title="There is no such worker, or no more.">
          <p>
            <a href={href(['workers'])}>To all workers</a>
          </p>
        </Empty>
      </Page>
    );
  const deployed = groups.flatMap((group) =>
    group.deployments.filter(({ worker_id: on }) => on === id).map((deployment) => ({ group, deployment })),
  );
  return (
    <Page title={id} aside={<WorkerActions worker={worker} again={again} />}>
      <Facts
        facts={[
          { name: 'Status', value: <Status of={worker.status} /> },
          { name: 'Pipelines', value: countText(worker.pipelines.length), note: `${countText(worker.pipelines_running)} running` },
          { name: 'Events', value: rateText(worker.events_per_second), note: `${countText(worker.events_processed)} in all` },
          { name: 'Heard', value: worker.last_heartbeat === null ? 'not yet' : agoText(worker.last_heartbeat) },
          { name: 'Registered', value: timeText(worker.registered_at), note: `version ${worker.version}` },
          { name: 'Cores', value: countText(worker.cpu_cores) },
        ]}
      />
      <p>
        <a href={`${worker.address}/console`}>Its own console</a>{' '}
        <span class="quiet">at {worker.address}: its settings, and pipelines that were deployed to it alone</span>
      </p>
      <Section title="What it runs">
        <DeploymentTable deployed={deployed} workers={workers} again={again} isGroupShown />
      </Section>
    </Page>
  );
}
