import { Facts } from '../parts/facts.tsx';
import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText, plural, rateText } from '../parts/text.ts';
import { useAnnounced } from '../service/announcement.ts';
import { href } from '../service/href.ts';
import {
  useClusterEvents,
  useClusterHealth,
  useClusterMetrics,
  useGroups,
  useMigrations,
  useRaft,
  useScaling,
  useWorkers,
} from './cluster-feed.ts';
import { type ClusterProblem, clusterProblems } from './cluster-problems.ts';
import { EventList } from './events.tsx';
import { scalingText } from './scaling.tsx';

const EVENTS_SHOWN = 10;

/** What is wrong, how much goes through, and what happened last. */
export function ClusterOverviewPage() {
  const { data: health, error } = useClusterHealth();
  const raft = useRaft().data;
  const workers = useWorkers().data;
  const groups = useGroups().data;
  const migrations = useMigrations().data ?? [];
  const events = useClusterEvents(EVENTS_SHOWN).data;
  if (health === undefined || workers === undefined || groups === undefined)
    return <Page title="Overview">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  return (
    <Page title="Overview">
      <Problems found={clusterProblems({ health, raft, workers, groups, migrations })} />
      <Totals />
      {workers.length === 0 && (
        <Empty title="No worker has registered yet.">
          <p>
            Start one: <code>cep server --port 9001 --coordinator {location.origin}</code>
          </p>
        </Empty>
      )}
      <Section title="What happened last" aside={<a href={href(['events'])}>All events</a>}>
        {events === undefined ? <Waiting /> : <EventList events={events} groups={groups} />}
      </Section>
    </Page>
  );
}

function Totals() {
  const health = useClusterHealth().data;
  const metrics = useClusterMetrics().data;
  const scaling = useScaling().data;
  if (health === undefined) return null;
  const { workers, pipeline_groups: groups, active_migrations: moving } = health;
  const rate = metrics?.workers.reduce((sum, { events_per_second: perSecond }) => sum + perSecond, 0);
  return (
    <Facts
      facts={[
        {
          name: 'Workers ready',
          value: countText(workers.ready),
          note: `of ${countText(workers.total)}`,
          tone: workers.ready === 0 ? 'bad' : undefined,
        },
        { name: 'Groups', value: countText(groups), note: metrics && plural(metrics.totals.deployments, 'deployment') },
        { name: 'Events', value: rateText(rate), note: metrics && `${countText(metrics.totals.events_processed)} in all` },
        { name: 'Moving', value: countText(moving), note: plural(moving, 'migration') },
        scaling && { name: 'Recommended', value: scalingText(scaling), note: scaling.reason },
      ]}
    />
  );
}

function Problems({ found }: { readonly found: readonly ClusterProblem[] }) {
  useAnnounced(plural(found.length, 'problem'));
  if (found.length === 0)
    return (
      <p class="all-good">
        <Status of="healthy">No problems</Status>
        <span class="quiet"> All coordinators and workers are there, and everything that is to run does.</span>
      </p>
    );
  return (
    <Section title={plural(found.length, 'problem')}>
      <ul class="problems">
        {found.map(({ tone, subject, text, link }) => (
          <li key={`${subject} ${text}`} class={tone}>
            <a href={link}>
              <Status of={tone === 'bad' ? 'failed' : 'degraded'}>{subject}</Status>
              <span>{text}</span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
