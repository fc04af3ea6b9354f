/** Output events as JSON text. Fields come from the engine's thread as text already, so nothing is written twice. */
import type { InjectResult, Output, Pipeline } from '../runtime/service.ts';

const names = new Map<string, string>();
const namesMax = 10_000;

/** A name in quotes; the few names there are, are quoted once. */
function quoted(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size >= namesMax) names.clear();
  const made = JSON.stringify(name);
  names.set(name, made);
  return made;
}

/** `{event_type, timestamp, fields}`, as answers to an injection show it. */
export function outputInAnswer({ eventType, timestamp, fieldsJson }: Output): string {
  return `{"event_type":${quoted(eventType)},"timestamp":${timestamp},"fields":${fieldsJson}}`;
}

/** How many outputs were too much for the answer to an injection, as a member of it behind a comma; nothing when it has all. */
export function omittedInAnswer({ outputs, outputCount }: InjectResult): string {
  const omitted = outputCount - outputs.length;
  return omitted === 0 ? '' : `,"outputs_omitted":${omitted}`;
}

/** The same of the events that were not taken. */
export function errorsOmittedInAnswer({ rejected, errors }: InjectResult): string {
  const omitted = rejected - errors.length;
  return omitted === 0 ? '' : `,"errors_omitted":${omitted}`;
}

/** `{event_type, timestamp, data}`, as the stream of a pipeline's outputs shows it. */
export function outputInStream({ eventType, timestamp, fieldsJson }: Output): string {
  return `{"event_type":${quoted(eventType)},"timestamp":${timestamp},"data":${fieldsJson}}`;
}

/** A WebSocket message; `pipelineId` of an attached pipeline. */
export function outputMessage({ stream, eventType, timestamp, fieldsJson }: Output, pipelineId?: string): string {
  const whose = pipelineId === undefined ? '' : `,"pipeline_id":${quoted(pipelineId)}`;
  return `{"type":"output_event","stream":${quoted(stream)},"event_type":${quoted(eventType)},"timestamp":${timestamp},"data":${fieldsJson}${whose}}`;
}

interface Alert {
  readonly pipeline: Pick<Pipeline, 'id' | 'name'>;
  readonly output: Output;
}

/** One of the newest outputs of a pipeline, as lists of alerts show it. */
export function alertText({ pipeline, output }: Alert): string {
  const whose = `"pipeline_id":${quoted(pipeline.id)},"pipeline":${quoted(pipeline.name)}`;
  const which = `"sequence":${output.sequence},"id":${JSON.stringify(output.id)},"stream":${quoted(output.stream)}`;
  return `{${whose},${which},${outputInStream(output).slice(1)}`;
}

/** The same with the events behind it, as one alert is shown. */
export function alertWithCausesText(alert: Alert): string {
  return `${alertText(alert).slice(0, -1)},"causes":${alert.output.causesJson ?? 'null'}}`;
}
