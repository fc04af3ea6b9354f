import { useEffect, useState } from 'preact/hooks';
import { Notice, Problem } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { plural } from '../parts/text.ts';
import { ask, ServerError } from '../service/requests.ts';
import type { Pipeline, ReloadReport } from '../service/shapes.ts';
import { changedWithState } from '../service/streams-of-reload.ts';
import type { Base } from './draft.ts';

interface ReloadProps {
  readonly pipeline: Pipeline;
  readonly base: Base;
  readonly source: string;
  readonly isChanged: boolean;
  readonly onDone: (version: number) => void;
  /** Somebody else was faster. */
  readonly onConflict: () => void;
}

/** A changed program takes the place of the one that runs: first what becomes of its state, then the deed. */
export function Reload({ pipeline, base, source, isChanged, onDone, onConflict }: ReloadProps) {
  const [report, setReport] = useState<ReloadReport>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  // A report is of one text.
  useEffect(() => {
    setReport((before) => (before?.reloaded ? before : undefined));
    setError(undefined);
  }, [source, base.version]);
  const send = async (isTrial: boolean): Promise<void> => {
    setBusy(true);
    setError(undefined);
    const { id, files, path } = pipeline;
    try {
      const given = await ask<ReloadReport>(`/api/v1/pipelines/${encodeURIComponent(id)}/reload`, {
        method: 'POST',
        headers: { 'if-match': `"${base.version}"` },
        body: { source, ...(files ? { files } : {}), ...(path === undefined ? {} : { path }), dry_run: isTrial },
      });
      setReport(given);
      if (!isTrial) onDone(base.version + 1);
    } catch (problem) {
      setError(problem as Error);
      if (problem instanceof ServerError && problem.code === 'version_conflict') onConflict();
    }
    setBusy(false);
  };
  const loses = report !== undefined && report.lost_state.length + report.removed.length > 0;
  return (
    <Section title="Deploy">
      <div class="buttons">
        <button type="button" class={report === undefined ? 'primary' : ''} disabled={isBusy || !isChanged} onClick={() => void send(true)}>
          What would it change?
        </button>
        {report !== undefined && !report.reloaded && (
          <button type="button" class={`primary ${loses ? 'danger' : ''}`} disabled={isBusy} onClick={() => void send(false)}>
            {loses ? 'Reload, and lose that state' : 'Reload'}
          </button>
        )}
        {!isChanged && report?.reloaded !== true && <p class="quiet">The text is the one that runs, version {base.version}.</p>}
      </div>
      <Problem error={error} />
      {report !== undefined && <Report of={report} version={base.version} />}
    </Section>
  );
}

const parts = [
  { of: ({ preserved }: ReloadReport) => preserved, status: 'ready', text: 'keep their state' },
  { of: ({ added }: ReloadReport) => added, status: 'starting', text: 'are new, and start empty' },
  { of: changedWithState, status: 'ready', text: 'mean something else, and lose no state' },
  { of: (report: ReloadReport) => report.lost_state, status: 'degraded', text: 'lose state, because what kept it means something else' },
  { of: ({ removed }: ReloadReport) => removed, status: 'failed', text: 'go, with their state' },
] as const;

function Report({ of: report, version }: { readonly of: ReloadReport; readonly version: number }) {
  return (
    <div role="status">
      {report.reloaded ? <Notice tone="good">Version {version} runs.</Notice> : <p>Nothing is changed yet. Of the streams</p>}
      <ul class="report">
        {parts.map(({ of, status, text }) => {
          const streams = of(report);
          if (streams.length === 0) return null;
          return (
            <li key={text}>
              <Status of={status}>{plural(streams.length, 'stream')}</Status> {text}: <span>{streams.join(', ')}</span>
            </li>
          );
        })}
      </ul>
      {report.warnings.length > 0 && <p class="quiet">{plural(report.warnings.length, 'warning')}, shown above.</p>}
    </div>
  );
}
