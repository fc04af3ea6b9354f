import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { ClusterEvent, Group } from '../service/shapes.ts';
import { useClusterEvents, useGroups } from './cluster-feed.ts';

const EVENTS_MAX = 500;

/** What has happened, as this coordinator saw it since it started. */
export function ClusterEventsPage() {
  const { data, error } = useClusterEvents(EVENTS_MAX);
  const groups = useGroups().data ?? [];
  return (
    <Page title="Events">
      <p class="quiet">What has happened in the cluster, as this coordinator saw it since it started; the newest first.</p>
      {data === undefined ? error === undefined ? <Waiting /> : <Problem error={error} /> : <EventList events={data} groups={groups} />}
    </Page>
  );
}

export function EventList({ events, groups }: { readonly events: readonly ClusterEvent[]; readonly groups: readonly Group[] }) {
  if (events.length === 0) return <Empty title="Nothing has happened since this coordinator started." />;
  return (
    <ol class="rows">
      {events.map(({ index, type, id, timestamp }) => (
        <li key={`${index} ${type} ${id}`}>
          <span class="quiet">{timeText(timestamp)}</span> <strong>{words(type)}</strong> <Subject type={type} id={id} groups={groups} />
        </li>
      ))}
    </ol>
  );
}

/** What it happened to, by its name as long as it is there. */
function Subject({ type, id, groups }: { readonly type: string; readonly id: string; readonly groups: readonly Group[] }) {
  if (type.startsWith('Worker')) return <a href={href(['workers', id])}>{id}</a>;
  const [groupId = '', pipeline, replica] = id.split(':');
  const group = groups.find((one) => one.id === groupId);
  if (group === undefined) return <span>{id}</span>;
  const told = pipeline === undefined ? '' : ` / ${pipeline}${replica === '0' ? '' : ` replica ${replica}`}`;
  return (
    <a href={href(['groups', groupId])}>
      {group.name}
      {told}
    </a>
  );
}

/** `WorkerStatusChanged` as words. */
function words(type: string): string {
  const text = type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
