import { useEffect, useRef, useState } from 'preact/hooks';
import { Fields } from '../parts/fields.tsx';
import { Empty, Notice, Problem } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { plural, timeText } from '../parts/text.ts';
import { followEvents } from '../service/event-stream.ts';
import { href } from '../service/href.ts';
import { goTo } from '../service/location.ts';
import type { Pipeline } from '../service/shapes.ts';

const shownMax = 200;
/** Begins with what the server still has. */
const fromTheFirst = '0';

interface Seen {
  readonly sequence: string;
  readonly event_type: string;
  readonly timestamp: number;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Tapped {
  readonly alerts: readonly Seen[];
  /** Alerts that came too fast, or before the server remembers. */
  readonly skipped: number;
}

const nothing: Tapped = { alerts: [], skipped: 0 };

/** The alerts of a pipeline as they come. */
export function TapView({ pipeline, query }: { readonly pipeline: Pipeline; readonly query: URLSearchParams }) {
  const { id } = pipeline;
  const [{ alerts, skipped }, setTapped] = useState(nothing);
  const [state, setState] = useState<'connecting' | 'open' | 'lost'>('connecting');
  const [error, setError] = useState<Error>();
  const [isPaused, setPaused] = useState(false);
  const buffer = useRef(nothing);
  const type = query.get('type') ?? '';
  useEffect(() => {
    const ending = new AbortController();
    let isDrawn = true;
    const show = (): void => {
      if (!isDrawn) return;
      isDrawn = false;
      // As often as the screen is drawn, however many come.
      requestAnimationFrame(() => {
        isDrawn = true;
        setTapped(buffer.current);
      });
    };
    followEvents(`/api/v1/pipelines/${encodeURIComponent(id)}/logs`, {
      lastEventId: fromTheFirst,
      signal: ending.signal,
      onState: (now, problem) => {
        setState(now);
        if (now !== 'connecting') setError(problem);
      },
      onEvent: ({ id: sequence, event, data }) => {
        const before = buffer.current;
        const parsed = JSON.parse(data);
        if (event === 'gap') buffer.current = { ...before, skipped: before.skipped + Number(parsed.skipped) };
        else buffer.current = { ...before, alerts: [{ ...parsed, sequence }, ...before.alerts].slice(0, shownMax) };
        show();
      },
    }).catch((problem: Error) => setError(problem));
    return () => ending.abort();
  }, [id]);
  const held = useRef(alerts);
  if (!isPaused) held.current = alerts;
  const shown = held.current.filter((alert) => type === '' || alert.event_type === type);
  const types = [...new Set([...alerts.map(({ event_type: one }) => one), ...(type === '' ? [] : [type])])].sort();
  const waiting = isPaused ? alerts.filter((alert) => !held.current.includes(alert)).length : 0;
  return (
    <Section
      title="Live alerts"
      aside={
        <Status of={state === 'open' ? 'connected' : state === 'lost' ? 'disconnected' : 'starting'}>
          {state === 'open' ? 'live' : state}
        </Status>
      }
    >
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Type
          <select value={type} onChange={(event) => goTo(href(['pipelines', id, 'alerts'], { type: event.currentTarget.value }))}>
            <option value="">all</option>
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? `Go on${waiting > 0 ? ` (${waiting} new)` : ''}` : 'Pause'}
        </button>
        <p role="status">{plural(shown.length, 'alert')} shown</p>
      </form>
      <Problem error={error} />
      {skipped > 0 && (
        <Notice tone="warn">{plural(skipped, 'alert')} came too fast, or are older than the newest 1,000, and are not shown.</Notice>
      )}
      {shown.length === 0 ? (
        <Empty title="No alert yet: they appear here as they come.">
          <p>
            <a href={href(['pipelines', id, 'explain'])}>Explain</a> says how far each stream has come.
          </p>
        </Empty>
      ) : (
        <ul class="rows">
          {shown.map((alert) => (
            <li key={alert.sequence}>
              <a href={href(['pipelines', id, 'alerts', alert.sequence])}>
                <span class="quiet">{timeText(alert.timestamp)}</span> <strong>{alert.event_type}</strong> <Fields of={alert.data} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
