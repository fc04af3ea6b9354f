import { Section, Wide } from '../parts/page.tsx';
import { timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { PastReloads, Pipeline } from '../service/shapes.ts';
import { changedWithState } from '../service/streams-of-reload.ts';

/** The text that runs, with what it imports. */
export function ProgramView({ pipeline }: { readonly pipeline: Pipeline }) {
  const { id, source, files = {}, path = 'program.vpl', version } = pipeline;
  const all = [[path, source], ...Object.entries(files)] as const;
  return (
    <>
      {all.map(([name, text]) => (
        <Section key={name} title={name} aside={name === path && <a href={href(['pipelines', id, 'edit'])}>Edit version {version}</a>}>
          <Wide label={name}>
            <pre class="program">
              <code>{text}</code>
            </pre>
          </Wide>
        </Section>
      ))}
      <Reloads pipelineId={id} version={version} />
    </>
  );
}

/** What became of the streams with each change of the program; nothing where there was none. */
function Reloads({ pipelineId, version }: { readonly pipelineId: string; readonly version: number }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipelineId)}/reloads`;
  const reloads = usePoll(`reloads ${pipelineId} ${version}`, (signal) => ask<PastReloads>(path, { signal }), 10_000).data?.reloads ?? [];
  if (reloads.length === 0) return null;
  return (
    <Section title="Changes since the server started">
      <Wide label="Changes">
        <table>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">When</th>
              <th scope="col">Added</th>
              <th scope="col">Kept their state</th>
              <th scope="col">Changed</th>
              <th scope="col">Lost state</th>
              <th scope="col">Removed</th>
            </tr>
          </thead>
          <tbody>
            {reloads.map((reload) => (
              <tr key={reload.version}>
                <th scope="row">{reload.version}</th>
                <td>{timeText(reload.time)}</td>
                <td>{reload.added.join(', ')}</td>
                <td>{reload.preserved.join(', ')}</td>
                <td>{changedWithState(reload).join(', ')}</td>
                <td>{reload.lost_state.join(', ')}</td>
                <td>{reload.removed.join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}
