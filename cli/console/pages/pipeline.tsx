import type { ComponentChildren } from 'preact';
import { Action } from '../parts/action.tsx';
import { Empty, Notice, Problem, Waiting } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { agoText, timeText } from '../parts/text.ts';
import { href } from '../service/href.ts';
import { goTo } from '../service/location.ts';
import { type Polled, usePoll } from '../service/poll.ts';
import { ask, ServerError } from '../service/requests.ts';
import type { Pipeline } from '../service/shapes.ts';
import { DeadLettersView } from './dead-letters.tsx';
import { ExplainView } from './explain.tsx';
import { FlowView } from './flow.tsx';
import { MessagesView } from './messages.tsx';
import { ProgramView } from './program.tsx';
import { TapView } from './tap.tsx';

interface ViewProps {
  readonly pipeline: Pipeline;
  readonly query: URLSearchParams;
}

interface View {
  readonly name: string | undefined;
  readonly title: string;
  readonly show: (props: ViewProps) => ComponentChildren;
}

const views: readonly View[] = [
  { name: undefined, title: 'Flow', show: ({ pipeline }) => <FlowView pipeline={pipeline} /> },
  { name: 'alerts', title: 'Live alerts', show: ({ pipeline, query }) => <TapView pipeline={pipeline} query={query} /> },
  { name: 'explain', title: 'Explain', show: ({ pipeline, query }) => <ExplainView pipeline={pipeline} query={query} /> },
  { name: 'letters', title: 'Dead letters', show: ({ pipeline }) => <DeadLettersView pipelineId={pipeline.id} /> },
  { name: 'messages', title: 'Messages', show: ({ pipeline }) => <MessagesView pipelineId={pipeline.id} /> },
  { name: 'program', title: 'Program', show: ({ pipeline }) => <ProgramView pipeline={pipeline} /> },
];

interface PipelinePagesProps {
  readonly id: string;
  readonly view: string | undefined;
  readonly query: URLSearchParams;
}

/** One pipeline: what it is and what can be done with it, above one of its views. */
export function PipelinePages({ id, view: name, query }: PipelinePagesProps) {
  const polled = usePoll(`pipeline ${id}`, (signal) => ask<Pipeline>(`/api/v1/pipelines/${encodeURIComponent(id)}`, { signal }), 4_000);
  const { data: pipeline, error } = polled;
  const view = views.find((one) => one.name === name) ?? (views[0] as View);
  if (pipeline === undefined) return <Page title="Pipeline">{error === undefined ? <Waiting /> : <NoPipeline error={error} />}</Page>;
  return (
    <Page title={pipeline.name} aside={<Actions pipeline={pipeline} polled={polled} />}>
      <p class="under-title">
        <Status of={pipeline.status} /> <span>version {pipeline.version}</span>{' '}
        <span class="quiet">
          {pipeline.version === 1 ? 'deployed' : 'reloaded last'} {agoText(pipeline.updated_at)}, at {timeText(pipeline.updated_at)}
          {pipeline.version > 1 && <>; deployed {agoText(pipeline.created_at)}</>}
        </span>
        {pipeline.watched && <span class="label">watched</span>}
        {Object.entries(pipeline.labels ?? {}).map(([label, value]) => (
          <span key={label} class="label">
            {label}={value}
          </span>
        ))}
      </p>
      {pipeline.error !== undefined && <Notice tone={pipeline.status === 'failed' ? 'bad' : 'warn'}>{pipeline.error}</Notice>}
      {error !== undefined && <Problem error={error} />}
      <nav class="tabs" aria-label="Views of the pipeline">
        {views.map((one) => (
          <a
            key={one.title}
            href={href(['pipelines', id, ...(one.name === undefined ? [] : [one.name])])}
            aria-current={one === view ? 'page' : undefined}
            ref={one === view ? toSight : null}
          >
            {one.title}
          </a>
        ))}
      </nav>
      {view.show({ pipeline, query })}
    </Page>
  );
}

/** Where the views are wider than the screen, the one that is shown is seen all the same. */
function toSight(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function NoPipeline({ error }: { readonly error: Error }) {
  if (!(error instanceof ServerError && error.status === 404)) return <Problem error={error} />;
  return (
    <Empty title="There is no such pipeline. It was deleted, or is somebody else's.">
      <p>
        <a href={href(['pipelines'])}>All pipelines</a>
      </p>
    </Empty>
  );
}

function Actions({ pipeline, polled }: { readonly pipeline: Pipeline; readonly polled: Polled<Pipeline> }) {
  const path = `/api/v1/pipelines/${encodeURIComponent(pipeline.id)}`;
  const post = async (verb: string): Promise<void> => {
    await ask(`${path}/${verb}`, { method: 'POST' });
    polled.again();
  };
  const watch = async (enabled: boolean): Promise<void> => {
    await ask(`${path}/watch`, { method: 'POST', body: { enabled } });
    polled.again();
  };
  const canStart = pipeline.status === 'stopped' || pipeline.status === 'failed';
  return (
    <div class="buttons">
      <a class="button" href={href(['pipelines', pipeline.id, 'edit'])}>
        Edit
      </a>
      {!canStart && (
        <Action
          label={pipeline.watched ? 'Unwatch' : 'Watch'}
          question={
            pipeline.watched ? (
              <p>Alerts are no longer kept with the events that made them. Nothing else changes.</p>
            ) : (
              <p>
                Alerts are kept with the events that made them, from now on. State and alerts stay as they are; the pipeline takes fewer
                events a second while it is watched.
              </p>
            )
          }
          act={() => watch(!pipeline.watched)}
        />
      )}
      {canStart ? (
        <Action label="Start" act={() => post('start')} />
      ) : (
        <Action
          label="Stop"
          question={<p>It finishes what it has accepted, keeps its state and takes no more events until it is started.</p>}
          act={() => post('stop')}
        />
      )}
      <Action
        label="Delete"
        isDangerous
        question={
          <p>
            <strong>{pipeline.name}</strong> is removed with its state, its dead letters and its alerts. This cannot be undone.
          </p>
        }
        act={async () => {
          await ask(path, { method: 'DELETE' });
          goTo(href(['pipelines']));
        }}
      />
    </div>
  );
}
