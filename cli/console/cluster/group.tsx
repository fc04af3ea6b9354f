import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText, timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { goTo } from '../service/location.ts';
import type { Group } from '../service/shapes.ts';
import { clusterActions, useGroup, useWorkers } from './cluster-feed.ts';
import { DeploymentTable } from './deployments.tsx';

/** One group: what runs where, what goes from where to where, and the programs. */
export function GroupPage({ id }: { readonly id: string }) {
  const { data: group, error, again } = useGroup(id);
  const workers = useWorkers().data ?? [];
  if (group === undefined) return <Page title="Group">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  const remove = async (): Promise<void> => {
    await clusterActions.removeGroup(id);
    goTo(href(['groups']));
  };
  const question = (
    <p>
      All pipelines of <strong>{group.name}</strong> are stopped on their workers, and their state is gone.
    </p>
  );
  return (
    <Page title={group.name} aside={<Action label="Remove" isDangerous question={question} act={remove} />}>
      <Problem error={error} />
      <Facts
        facts={[
          { name: 'Status', value: <Status of={group.status} /> },
          { name: 'Pipelines', value: countText(group.pipelines.length) },
          { name: 'Version', value: countText(group.version), note: `changed ${timeText(group.updated_at)}` },
        ]}
      />
      <Section title="What runs where">
        <DeploymentTable deployed={group.deployments.map((deployment) => ({ group, deployment }))} workers={workers} again={again} />
      </Section>
      <Routes of={group} />
      <Section title="Programs">
        {group.pipelines.map(({ name, source, replicas, partition_key: key }) => (
          <details key={name} open={group.pipelines.length === 1}>
            <summary>
              {name}
              {replicas > 1 && (
                <span class="quiet">
                  {' '}
                  {replicas} replicas, divided by {key}
                </span>
              )}
            </summary>
            <Wide label={`Program of ${name}`}>
              <pre class="program">{source}</pre>
            </Wide>
          </details>
        ))}
      </Section>
    </Page>
  );
}

function Routes({ of: { routes } }: { readonly of: Group }) {
  if (routes.length === 0) return null;
  return (
    <Section title="What goes from where to where">
      <Wide label="Routes">
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">Event types</th>
            </tr>
          </thead>
          <tbody>
            {routes.map(({ from_pipeline: from, to_pipeline: to, event_types: types }) => (
              <tr key={`${from} ${to} ${types.join()}`}>
                <td>{from === '_external' ? 'outside' : from}</td>
                <td>{to}</td>
                <td>{types.join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
