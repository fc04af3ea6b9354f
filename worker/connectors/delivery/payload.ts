import { timestampText } from '../../../shared/events/time-text.ts';

/** What is sent of an event. */
export interface PayloadParts {
  readonly id: string;
  readonly type: string;
  /** Event time, epoch ms. */
  readonly time: number;
  /** The JSON text of the object of its fields. */
  readonly fieldsJson: string;
  /** The text of `.alert`. */
  readonly message: string | null;
}

export interface PayloadOptions {
  /** `flat`: the fields stand beside `event_type`, not under `data`. */
  readonly format: 'envelope' | 'flat';
  readonly omitNull: boolean;
}

/** The JSON text that a sink gets. Where a field has the name of a member of the envelope, the field's value goes with `flat`. */
export function payloadOf({ id, type, time, fieldsJson, message }: PayloadParts, { format, omitNull }: PayloadOptions): string {
  const data = omitNull ? withoutNull(fieldsJson) : fieldsJson;
  const head = `"event_type":${JSON.stringify(type)},"timestamp":"${timestampText(time)}","id":${JSON.stringify(id)}`;
  const text = message === null ? '' : `,"message":${JSON.stringify(message)}`;
  if (format === 'envelope') return `{${head}${text},"data":${data}}`;
  return data === '{}' ? `{${head}${text}}` : `{${head}${text},${data.slice(1)}`;
}

function withoutNull(fieldsJson: string): string {
  const fields = JSON.parse(fieldsJson) as Record<string, unknown>;
  return JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
}
