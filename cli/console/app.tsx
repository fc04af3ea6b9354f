import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { clusterMenu, clusterPage } from './cluster/cluster-pages.tsx';
import { serverMenu, serverPage } from './pages/server-pages.tsx';
import { KeyForm } from './parts/key-form.tsx';
import { LinkBanner } from './parts/link-banner.tsx';
import { LiveRegion } from './parts/live-region.tsx';
import { Menu, type MenuEntry } from './parts/menu.tsx';
import { Empty, Problem, Waiting } from './parts/notice.tsx';
import { Page } from './parts/page.tsx';
import { focusTitle } from './service/focus.ts';
import { link } from './service/link.ts';
import { type Place, place } from './service/location.ts';
import { usePoll } from './service/poll.ts';
import { ask } from './service/requests.ts';
import type { Index } from './service/shapes.ts';
import { useStore } from './service/use-store.ts';

const indexEveryMs = 30_000;

/** What serves it decides what there is to see: a server with pipelines, or a coordinator with a cluster. */
export function App() {
  const here = useStore(place);
  const { state } = useStore(link);
  const { data: index, error } = usePoll('index', (signal) => ask<Index>('/', { signal }), indexEveryMs);
  const isCluster = index !== undefined && 'role' in index;
  const menu: readonly MenuEntry[] = index === undefined ? [] : isCluster ? clusterMenu : serverMenu;
  return (
    <>
      <button type="button" class="skip" onClick={toMain}>
        To the content
      </button>
      <Menu entries={menu} here={here} title={isCluster ? 'cep cluster' : 'cep'} version={index?.version} />
      <LinkBanner />
      <LiveRegion />
      <main id="main" tabIndex={-1}>
        {state === 'locked' ? (
          <KeyForm />
        ) : index === undefined ? (
          error === undefined ? (
            <Waiting />
          ) : (
            <Problem error={error} />
          )
        ) : (
          <Content here={here} isCluster={isCluster} />
        )}
      </main>
    </>
  );
}

function toMain(): void {
  document.getElementById('main')?.focus();
}

/** A new page begins at its top, and readers of screens hear its title. */
function Content({ here, isCluster }: { readonly here: Place; readonly isCluster: boolean }) {
  const path = here.parts.join('/');
  const [first] = useState(path);
  const before = useRef(first);
  const [broken, mend] = useErrorBoundary((error) => reportError(error));
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    mend();
    window.scrollTo(0, 0);
    focusTitle();
  }, [path]);
  if (broken !== undefined) {
    return (
      <Page title="Not shown">
        <Problem error={broken} />
      </Page>
    );
  }
  const page = isCluster ? clusterPage(here) : serverPage(here);
  if (page !== undefined) return page;
  return (
    <Page title="Not found">
      <Empty title="There is no such page.">
        <p>
          <a href="#/">To the overview</a>
        </p>
      </Empty>
    </Page>
  );
}
