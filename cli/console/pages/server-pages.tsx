import type { ComponentChildren } from 'preact';
import type { MenuEntry } from '../parts/menu.tsx';
import type { Place } from '../service/location.ts';
import { AlertPage } from './alert.tsx';
import { AlertsPage } from './alerts.tsx';
import { ConnectorsPage } from './connectors.tsx';
import { EditorPage } from './editor.tsx';
import { OverviewPage } from './overview.tsx';
import { PipelinePages } from './pipeline.tsx';
import { PipelinesPage } from './pipelines.tsx';
import { SettingsPage } from './settings.tsx';
import { TenantsPage } from './tenants.tsx';

export const serverMenu: readonly MenuEntry[] = [
  { label: 'Overview', parts: [] },
  { label: 'Pipelines', parts: ['pipelines'] },
  { label: 'Alerts', parts: ['alerts'] },
  { label: 'Connectors', parts: ['connectors'] },
  { label: 'Editor', parts: ['editor'] },
  { label: 'Usage', parts: ['tenants'] },
  { label: 'Settings', parts: ['settings'] },
];

/** The page of a place on a server; undefined where there is none. */
export function serverPage({ parts, query }: Place): ComponentChildren | undefined {
  const [page, id, view, more] = parts;
  switch (page) {
    case undefined:
      return <OverviewPage />;
    case 'pipelines':
      if (id === undefined) return <PipelinesPage query={query} />;
      if (view === 'edit') return <EditorPage key={id} pipelineId={id} />;
      if (view === 'alerts' && more !== undefined) return <AlertPage pipelineId={id} sequence={more} />;
      return <PipelinePages key={id} id={id} view={view} query={query} />;
    case 'alerts':
      return <AlertsPage query={query} />;
    case 'connectors':
      return <ConnectorsPage />;
    case 'editor':
      return <EditorPage key="new" />;
    case 'tenants':
      return <TenantsPage />;
    case 'settings':
      return <SettingsPage />;
    default:
      return undefined;
  }
}
