import type { ComponentChildren } from 'preact';
import type { MenuEntry } from '../parts/menu.tsx';
import type { Place } from '../service/location.ts';
import { ClusterEventsPage } from './events.tsx';
import { GroupPage } from './group.tsx';
import { GroupsPage } from './groups.tsx';
import { MigrationsPage } from './migrations.tsx';
import { ClusterOverviewPage } from './overview.tsx';
import { RaftPage } from './raft.tsx';
import { WorkerPage } from './worker.tsx';
import { WorkersPage } from './workers.tsx';

export const clusterMenu: readonly MenuEntry[] = [
  { label: 'Overview', parts: [] },
  { label: 'Workers', parts: ['workers'] },
  { label: 'Groups', parts: ['groups'] },
  { label: 'Migrations', parts: ['migrations'] },
  { label: 'Raft group', parts: ['raft'] },
  { label: 'Events', parts: ['events'] },
];

/** The page of a place on a coordinator; undefined where there is none. */
export function clusterPage({ parts: [page, id] }: Place): ComponentChildren | undefined {
  switch (page) {
    case undefined:
      return <ClusterOverviewPage />;
    case 'workers':
      return id === undefined ? <WorkersPage /> : <WorkerPage key={id} id={id} />;
    case 'groups':
      return id === undefined ? <GroupsPage /> : <GroupPage key={id} id={id} />;
    case 'migrations':
      return <MigrationsPage />;
    case 'raft':
      return <RaftPage />;
    case 'events':
      return <ClusterEventsPage />;
    default:
      return undefined;
  }
}
