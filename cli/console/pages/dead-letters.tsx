import { useState } from 'preact/hooks';
import { Action } from '../parts/action.tsx';
import { Fields } from '../parts/fields.tsx';
import { Empty, Notice, Problem, Waiting } from '../parts/notice.tsx';
import { Section, Wide } from '../parts/page.tsx';
import { countText, plural, timeText, valueText } from '../parts/text.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { DeadLetters, Replayed } from '../service/shapes.ts';

const perPage = 50;

/** What the sinks of a pipeline did not take, and sending it again. */
export function DeadLettersView({ pipelineId }: { readonly pipelineId: string }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipelineId)}/dlq`;
  const [page, setPage] = useState(0);
  const [said, setSaid] = useState<string>();
  const query = `?limit=${perPage}&offset=${page * perPage}`;
  const { data, error, again } = usePoll(
    `letters ${pipelineId} ${page}`,
    (signal) => ask<DeadLetters>(`${path}${query}`, { signal }),
    5_000,
  );
  if (data === undefined) return error === undefined ? <Waiting /> : <Problem error={error} />;
  const replay = async (): Promise<void> => {
    const { replayed, failed, unsent } = await ask<Replayed>(`${path}/replay`, { method: 'POST' });
    const open = unsent === undefined ? '' : ` ${countText(unsent)} of them were not sent: the circuit breaker is open.`;
    setSaid(`${plural(replayed, 'letter')} delivered, ${countText(failed)} failed again.${open}`);
    again();
  };
  const clear = async (): Promise<void> => {
    const { cleared } = await ask<{ cleared: number }>(path, { method: 'DELETE' });
    setSaid(`${plural(cleared, 'letter')} removed.`);
    again();
  };
  return (
    <Section
      title={plural(data.total, 'dead letter')}
      aside={
        data.total > 0 && (
          <div class="buttons">
            <Action
              label="Send again"
              question={<p>Each letter goes to the sink that did not take it, and to no other. What fails again stays here.</p>}
              act={replay}
            />
            <Action
              label="Remove all"
              isDangerous
              question={<p>{plural(data.total, 'event')} that no sink has taken will be lost. This cannot be undone.</p>}
              act={clear}
            />
          </div>
        )
      }
    >
      {said !== undefined && <Notice tone="good">{said}</Notice>}
      {data.total === 0 ? (
        <Empty title="Every sink has taken everything.">
          <p>What a sink refuses, or does not take while its circuit breaker is open, is kept here with the reason.</p>
        </Empty>
      ) : (
        <Wide label="Dead letters">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Sink</th>
                <th scope="col">Why</th>
                <th scope="col" class="number">
                  Tries
                </th>
                <th scope="col">Event</th>
              </tr>
            </thead>
            <tbody>
              {data.entries.map((letter) => (
                <Letter key={valueText(letter['id'])} letter={letter} />
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      {data.total > perPage && (
        <p class="pager">
          <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Earlier
          </button>
          <span>
            page {page + 1} of {Math.ceil(data.total / perPage)}
          </span>
          <button type="button" disabled={!data.pagination.has_more} onClick={() => setPage(page + 1)}>
            Later
          </button>
        </p>
      )}
    </Section>
  );
}

function Letter({ letter }: { readonly letter: Readonly<Record<string, unknown>> }) {
  const event = letter['event'];
  const { event_type: type = '', data = {} } =
    typeof event === 'object' && event !== null ? (event as { event_type?: string; data?: Record<string, unknown> }) : {};
  return (
    <tr>
      <td>{timeText(Date.parse(valueText(letter['timestamp'])))}</td>
      <td>{valueText(letter['connector'])}</td>
      <td>
        {valueText(letter['error'])} <span class="quiet">{valueText(letter['code'])}</span>
      </td>
      <td class="number">{valueText(letter['attempts'])}</td>
      <td class="event">
        <strong>{type}</strong> <Fields of={data} />
      </td>
    </tr>
  );
}
