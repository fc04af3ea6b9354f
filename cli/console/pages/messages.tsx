import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Section, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { timeText, valueText } from '../parts/text.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { Messages } from '../service/shapes.ts';

const shownMax = 200;
const tones: Readonly<Record<string, string>> = { error: 'failed', warn: 'degraded', info: 'stopped', debug: 'stopped' };

/** What the program printed and logged, and where it could not evaluate something. */
export function MessagesView({ pipelineId }: { readonly pipelineId: string }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipelineId)}/messages?limit=${shownMax}`;
  const { data, error } = usePoll(`messages ${pipelineId}`, (signal) => ask<Messages>(path, { signal }), 3_000);
  if (data === undefined) return error === undefined ? <Waiting /> : <Problem error={error} />;
  const newest = data.messages.toReversed();
  return (
    <Section title="Messages of the program">
      {newest.length === 0 ? (
        <Empty title="The program has said nothing.">
          <p>
            What <code>.print</code>, <code>.log</code> and <code>.tap</code> say stands here, and every failure of an expression.
          </p>
        </Empty>
      ) : (
        <Wide label="Messages">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Level</th>
                <th scope="col">Stream</th>
                <th scope="col">Message</th>
              </tr>
            </thead>
            <tbody>
              {newest.map(({ sequence, time, level, kind, stream, message, data: more }) => (
                <tr key={sequence}>
                  <td>{timeText(time)}</td>
                  <td>
                    <Status of={tones[level] ?? 'stopped'}>{kind === 'failure' ? 'failure' : level}</Status>
                  </td>
                  <td>{stream}</td>
                  <td class="said">
                    {message} {more !== null && more !== undefined && <code>{valueText(more)}</code>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </Section>
  );
}
