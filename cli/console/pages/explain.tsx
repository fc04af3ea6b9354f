import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Fields } from '../parts/fields.tsx';
import { Empty, Problem, Waiting } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText, durationText, plural, timeText, valueText } from '../parts/text.ts';
import { Timeline } from '../parts/timeline.tsx';
import { href } from '../service/href.ts';
import { goTo } from '../service/location.ts';
import { usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { Pipeline, PipelineMetrics } from '../service/shapes.ts';
import {
  type Attempt,
  type Candidate,
  type EndedRun,
  type Explanation,
  eventText,
  heldEvents,
  type Run,
  type WaitingStep,
} from './explanation.ts';
import { noRunTexts, waitingText } from './explanation-texts.ts';

/** Why a stream gave what it gave, or nothing. */
export function ExplainView({ pipeline, query }: { readonly pipeline: Pipeline; readonly query: URLSearchParams }) {
  const { id } = pipeline;
  const path = `/api/v1/pipelines/${encodeURIComponent(id)}`;
  const metrics = usePoll(`streams ${id}`, (signal) => ask<PipelineMetrics>(`${path}/metrics`, { signal }), 10_000);
  const streams = metrics.data?.streams.map(({ name }) => name) ?? [];
  const stream = query.get('stream') ?? streams.at(-1) ?? '';
  const key = query.get('key') ?? '';
  const [typed, setTyped] = useState(key);
  useEffect(() => setTyped(key), [key]);
  const look = (change: Readonly<Record<string, string>>): void =>
    goTo(href(['pipelines', id, 'explain'], { stream, key: typed, ...change }));
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          look({});
        }}
      >
        <label>
          Stream
          <select value={stream} onChange={(event) => look({ stream: event.currentTarget.value, key: '' })}>
            {[...new Set([...streams, ...(stream === '' ? [] : [stream])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Key
          <input type="text" placeholder="all keys" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">
          Explain
        </button>
      </form>
      {metrics.data === undefined && <Problem error={metrics.error} />}
      {stream === '' ? (
        metrics.data === undefined ? (
          <Waiting />
        ) : (
          <Empty title="The program has no streams." />
        )
      ) : (
        <Answer key={`${stream} ${key}`} path={path} stream={stream} partition={key} />
      )}
    </>
  );
}

interface AnswerProps {
  readonly path: string;
  readonly stream: string;
  readonly partition: string;
}

function Answer({ path, stream, partition }: AnswerProps) {
  const query = new URLSearchParams({ stream, ...(partition === '' ? {} : { key: partition }) });
  const { data, error } = usePoll(`explain ${path} ${query}`, (signal) => ask<Explanation>(`${path}/explain?${query}`, { signal }), 5_000);
  if (data === undefined) return error === undefined ? <Waiting /> : <Problem error={error} />;
  const { pattern, join, windows, attempts, furthest } = data;
  return (
    <>
      <p class="under-title">
        <strong>{stream}</strong>
        {data.key !== null && (
          <>
            {' '}
            key <code>{data.key}</code>
          </>
        )}{' '}
        <span class="quiet">
          {plural(data.events_in, 'row')} in, {plural(data.events_out, 'result')} out; event time stands at{' '}
          {data.time === null ? 'no time yet' : timeText(data.time)}
        </span>
      </p>
      {data.recorded === false && (
        <p class="quiet">What is held now. What kept events back, and with which values, is remembered while the pipeline is watched.</p>
      )}
      {data.nothing !== null && <Empty title={data.nothing} />}
      {data.held_back != null && (
        <p>
          <strong>{countText(data.held_back.count)}</strong> of its events wait until time reaches {timeText(data.held_back.until)}, the
          last <code>{eventText(data.held_back.event)}</code>
        </p>
      )}
      {pattern !== null && <Pattern of={pattern} />}
      {join !== null && <Join of={join} />}
      {windows.length > 0 && <Windows of={windows} />}
      {furthest !== null && <AttemptPart title="The event that came furthest" of={furthest} />}
      {attempts.map((attempt) => (
        <AttemptPart key={attempt.kind} title={attempt.kind === 'event' ? 'The last event' : 'The last result'} of={attempt} />
      ))}
      <Input of={data.input} />
    </>
  );
}

function Pattern({
  of: { is_trend: isTrend = false, open_runs: open, furthest, begins, ended, ended_last: last = null },
}: {
  readonly of: NonNullable<Explanation['pattern']>;
}) {
  const none = noRunTexts(isTrend);
  return (
    <>
      {furthest === null ? (
        <Section title={none.title}>
          <p>{none.begins}</p>
          <Steps of={begins} />
        </Section>
      ) : (
        <Section title={open === 1 ? 'The open run' : `The furthest of ${countText(open)} open runs`}>
          <RunPart of={furthest} />
        </Section>
      )}
      {ended !== null && <Ended of={ended} title={last === null ? 'The run that ended last' : 'The furthest run that ended'} />}
      {last !== null && <Ended of={last} title="The run that ended last" />}
    </>
  );
}

function RunPart({ of: run }: { readonly of: Run }) {
  return (
    <>
      <p>
        {run.key !== null && (
          <>
            key <code>{run.key}</code>,{' '}
          </>
        )}
        {run.steps_taken} of {plural(run.steps, 'step')} taken
      </p>
      <Timeline label="What the run holds" points={heldEvents(run)} isNamed />
      {run.waits_for.length > 0 && (
        <>
          <h3>It waits for</h3>
          <Steps of={run.waits_for} />
        </>
      )}
    </>
  );
}

function Steps({ of: steps }: { readonly of: readonly WaitingStep[] }) {
  return (
    <ul class="steps">
      {steps.map(({ step, is_absence: isAbsence, closure, deadline, left_ms: left, candidates, forgotten = 0 }) => (
        <li key={step}>
          <code>{step}</code>{' '}
          {closure !== null && (
            <strong>
              has {countText(closure.taken)} of at least {countText(closure.least)}
            </strong>
          )}{' '}
          {deadline !== null && (
            <span class="quiet">
              {isAbsence ? 'matches when nothing came until' : 'until'} {timeText(deadline)}
              {left !== null && left > 0 && <>, {durationText(left)} of event time left</>}
            </span>
          )}
          <Candidates of={candidates} />
          {forgotten !== 0 && (
            <span class="quiet">and {forgotten === null ? 'perhaps others' : `${countText(forgotten)} more`} that are not remembered</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Candidates({ of: candidates }: { readonly of: readonly Candidate[] }) {
  if (candidates.length === 0) return null;
  return (
    <ul>
      {candidates.map(({ event, problem, values }, at) => (
        <li key={`${event.time} ${at}`}>
          <code>{eventText(event)}</code> at {timeText(event.time)} did not fit: <strong class="why">{problem}</strong>
          <Values of={values} />
        </li>
      ))}
    </ul>
  );
}

/** The values that a condition compared. */
function Values({ of: values }: { readonly of: Readonly<Record<string, unknown>> }) {
  const known = Object.entries(values);
  if (known.length === 0) return null;
  return <span class="quiet"> ({known.map(([name, value]) => `${name} = ${valueText(value)}`).join(', ')})</span>;
}

function Ended({ of: run, title }: { readonly of: EndedRun; readonly title: string }) {
  return (
    <Section title={run.end === 'matched' ? 'The last match' : title}>
      <p>
        <Status of={run.end === 'matched' ? 'ready' : 'stopped'}>{run.end}</Status> at {timeText(run.time)}: {run.reason}
        {run.event !== null && (
          <>
            , by <code>{eventText(run.event)}</code>
          </>
        )}
      </p>
      <RunPart of={run} />
    </Section>
  );
}

function Join({ of: { sides, problems } }: { readonly of: NonNullable<Explanation['join']> }) {
  return (
    <Section title="Join">
      {sides.map(({ name, held_back: heldBack = 0, waiting, last }) => (
        <div key={name}>
          <h3>
            {name}: {waitingText(waiting.length, heldBack)}
          </h3>
          <ul>
            {waiting.map(({ event, is_matched: isMatched, until }, at) => (
              <li key={`${event.time} ${at}`}>
                <code>{eventText(event)}</code>{' '}
                <span class="quiet">
                  {isMatched ? 'found one already' : 'found none'}
                  {until !== null && <>, until {timeText(until)}</>}
                </span>
              </li>
            ))}
          </ul>
          {last !== null && (
            <p class="quiet">
              last: <code>{eventText(last.event)}</code> of key <code>{last.key}</code>
            </p>
          )}
        </div>
      ))}
      <Candidates of={problems} />
    </Section>
  );
}

function Windows({ of: windows }: { readonly of: Explanation['windows'] }) {
  return (
    <Section title={plural(windows.length, 'open window')}>
      <ul class="steps">
        {windows.map(({ operator, key, count, start, closes_at: closes, missing, so_far: soFar }, at) => (
          <li key={`${operator} ${key} ${at}`}>
            <code>{operator}</code>
            {key !== null && (
              <>
                {' '}
                key <code>{key}</code>
              </>
            )}{' '}
            {count !== null && <>holds {plural(count, 'event')} </>}from {timeText(start)}
            {closes !== null && <>, closes when event time reaches {timeText(closes)}</>}
            {missing !== null && <>, needs {plural(missing, 'event')} more</>}
            {soFar !== null && (
              <>
                ; so far <Fields of={soFar} />
              </>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

const verdicts: Readonly<Record<string, string>> = { PASS: 'ready', HELD: 'starting', BLOCK: 'failed', LATE: 'failed', FAIL: 'failed' };

function AttemptPart({ title, of: { event, decisions } }: { readonly title: string; readonly of: Attempt }) {
  return (
    <Section title={title}>
      <p>
        <code>{eventText(event)}</code> at {timeText(event.time)}
      </p>
      <ol class="steps">
        {decisions.map(({ operator, verdict, why, values }, at) => (
          <li key={`${operator} ${at}`}>
            <Status of={verdicts[verdict] ?? 'stopped'}>{verdict}</Status> <code>{operator}</code>
            {why !== '' && <strong class="why"> {why}</strong>}
            <Values of={values} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Input({ of: input }: { readonly of: Explanation['input'] }) {
  const lines: ComponentChildren[] = [
    ...input.unread_types.map(({ event_type: type, events, did_you_mean: meant }) => (
      <>
        {plural(events, 'event')} of type <code>{type}</code>, which no stream reads
        {meant !== undefined && (
          <>
            {' '}
            (did you mean <code>{meant}</code>?)
          </>
        )}
      </>
    )),
    ...input.incomplete_fields.map(({ event_type: type, field, events }) => (
      <>
        <code>
          {type}.{field}
        </code>{' '}
        missing in {plural(events, 'event')}
      </>
    )),
    ...(input.events_late > 0 ? [<>{plural(input.events_late, 'event')} too late for some window, run or join</>] : []),
  ];
  if (lines.length === 0) return null;
  return (
    <Section title="Of the input of the pipeline, without effect">
      <ul>
        {lines.map((line, at) => (
          <li key={at}>{line}</li>
        ))}
      </ul>
    </Section>
  );
}
