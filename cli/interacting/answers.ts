import type { CepError } from '../../shared/errors/error.ts';
import type { OutputEvent } from '../../shared/events/event.ts';
import { fieldsToJson } from '../../shared/events/text.ts';
import { diagnosticToJson } from '../../shared/language/diagnostics/render.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { inputsOf } from '../../worker/engine/streams/plan-inputs.ts';
import type { LoadReport, ProgramSession } from '../session/program-session.ts';

/** What a session writes to standard output: each is one line of JSON, told apart by `type`. Texts are without line ends. */

export function loadedAnswer({ streams, added, removed, preserved, reset, changed, lostState, warnings }: LoadReport): string {
  const report = { added, removed, preserved, reset, changed, lost_state: lostState };
  return JSON.stringify({ type: 'loaded', streams, ...report, warnings: warnings.map(diagnosticToJson) });
}

/** `event` is as alerts are everywhere: type, time and fields. */
export function outputAnswer({ stream, type, time, fields }: OutputEvent): string {
  const event = `{"event_type":${JSON.stringify(type)},"timestamp":${time},"data":${fieldsToJson(fields)}}`;
  return `{"type":"output","stream":${JSON.stringify(stream)},"event":${event},"timestamp":${time}}`;
}

export function streamsAnswer({ streams }: Plan): string {
  const list = streams.map(({ name, source, operators }) => ({
    name,
    source:
      inputsOf(source)
        .map((input) => inputName(input.from, streams))
        .join(', ') || source.kind,
    ops: operators.map(({ text }) => text),
  }));
  return JSON.stringify({ type: 'streams', streams: list });
}

function inputName(from: ReturnType<typeof inputsOf>[number]['from'], streams: Plan['streams']): string {
  return from.kind === 'event' ? from.type : (streams[from.stream]?.name ?? '');
}

/** `unread`: events that were refused before the program was asked. */
export function metricsAnswer(
  session: ProgramSession,
  { unread, ...more }: Readonly<Record<string, number>> & { readonly unread: number },
): string {
  const { eventsProcessed, eventsInvalid, eventsIncomplete, eventsLate, eventsUnread, streams } = session.counters;
  const byStream = Array.from(streams, ([name, { eventsIn, eventsOut, late, failures, runsActive }]) => {
    return { name, events_in: eventsIn, events_out: eventsOut, late, failures, active_runs: runsActive };
  });
  return JSON.stringify({
    type: 'metrics',
    events_processed: eventsProcessed,
    output_events: session.outputs,
    streams_count: session.plan.streams.length,
    events_invalid: eventsInvalid + unread,
    events_incomplete: eventsIncomplete,
    events_late: eventsLate,
    events_unread: eventsUnread,
    ...more,
    streams: byStream,
  });
}

export function errorAnswer({ message, code, hint, details }: CepError): string {
  return JSON.stringify({ type: 'error', message, code, hint, details });
}
