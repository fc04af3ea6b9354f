import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { WorkbenchProps } from '../editor/workbench.tsx';
import { Problem, Waiting } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { Pipeline } from '../service/shapes.ts';

const versionEveryMs = 4_000;

/** The editor comes when it is first needed: it is most of the console's code. */
export function EditorPage({ pipelineId }: { readonly pipelineId?: string }) {
  const [Workbench, setWorkbench] = useState<FunctionComponent<WorkbenchProps>>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    import('../editor/workbench.tsx').then(
      (loaded) => setWorkbench(() => loaded.Workbench),
      () => setError(new Error('the editor could not be loaded: reload the page')),
    );
  }, []);
  if (Workbench === undefined) return <Page title="Editor">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  return pipelineId === undefined ? <Workbench pipeline={undefined} /> : <Deployed pipelineId={pipelineId} Workbench={Workbench} />;
}

/** Looks on while a program is changed, so that it is seen when somebody else changes it too. */
function Deployed({ pipelineId, Workbench }: { readonly pipelineId: string; readonly Workbench: FunctionComponent<WorkbenchProps> }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipelineId)}`;
  const { data, error, again } = usePoll(`edited ${pipelineId}`, (signal) => ask<Pipeline>(path, { signal }), versionEveryMs);
  if (data === undefined) return <Page title="Editor">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  return <Workbench pipeline={data} onChanged={again} />;
}
