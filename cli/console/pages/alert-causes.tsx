import { Action } from '../parts/action.tsx';
import { Problem } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { countText, plural } from '../parts/text.ts';
import { Timeline } from '../parts/timeline.tsx';
import { href } from '../service/href.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { AlertCauses, AlertWithCauses, Pipeline } from '../service/shapes.ts';
import { eventText } from './explanation.ts';

/** The events that made an alert, on a line of time; of a pipeline that was not watched, how they are kept from now on. */
export function AlertCausesView({ alert }: { readonly alert: AlertWithCauses }) {
  const { stream, causes, pipeline_id: id } = alert;
  return (
    <Section title="How it came about">
      {causes === null ? <Unwatched pipelineId={id} /> : <Events causes={causes} />}
      <p>
        <a href={href(['pipelines', id, 'explain'], { stream })}>Explain {stream}</a>: what the stream holds now and what it waits for.{' '}
        <a href={href(['pipelines', id, 'program'])}>The program</a> says what it looks for.
      </p>
    </Section>
  );
}

function Events({ causes }: { readonly causes: AlertCauses }) {
  return (
    <>
      <p>{headText(causes)}</p>
      <Timeline
        label="The events that made the alert"
        isNamed
        points={causes.events.map(({ step, event_type: type, timestamp, data }, at) => ({
          key: String(at),
          timeMs: timestamp,
          text: `${step === null ? '' : `${step}: `}${eventText({ type, time: timestamp, fields: data })}`,
        }))}
      />
    </>
  );
}

const kinds: Readonly<Record<string, string>> = {
  match: 'Matched by',
  join: 'Joined from',
  window: 'Gathered from',
  events: 'Made by',
};

function headText({ kind, count, events }: AlertCauses): string {
  const made = kinds[kind] ?? 'Made by';
  if (count === null) return `${made} more events than the server remembers. Of these it still has:`;
  const left = count - events.length;
  return `${made} ${plural(count, 'event')}${left === 0 ? '' : `, of which ${countText(left)} are not shown`}:`;
}

function Unwatched({ pipelineId }: { readonly pipelineId: string }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipelineId)}`;
  const { data: pipeline, error, again } = usePoll(`pipeline ${pipelineId}`, (signal) => ask<Pipeline>(path, { signal }), 15_000);
  const watch = async (): Promise<void> => {
    await ask(`${path}/watch`, { method: 'POST', body: { enabled: true } });
    again();
  };
  return (
    <>
      <Problem error={error} />
      <p class="quiet">The pipeline was not watched when this alert came, so the events that made it are not known.</p>
      {pipeline?.watched === true ? (
        <p role="status">It is watched now: the next alerts show theirs.</p>
      ) : (
        <Action label="Watch the pipeline from now on" act={watch} />
      )}
    </>
  );
}
