import type { Fields } from '../../shared/events/event.ts';
import { fromJson } from '../../shared/events/text.ts';
import type { Colors } from '../colors.ts';
import { clockText, fieldsText, visible } from '../event-text.ts';

/** An output event as a server tells it. */
export interface ToldOutput {
  readonly event_type: string;
  /** Epoch ms. */
  readonly timestamp: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `[12:00:05.000] Breach { user: "ann" }` and a line end. */
export function outputText({ event_type: type, timestamp, fields }: ToldOutput, colors: Colors): string {
  const shown = fieldsText(fromJson(fields) as Fields, colors);
  return `${colors.dim(`[${clockText(timestamp)}]`)} ${colors.yellow(visible(type))} ${shown}\n`;
}

/** The same as data, and as `simulate --json` gives it. */
export function outputData({ event_type, timestamp, fields }: ToldOutput): object {
  return { type: 'output', event_type, timestamp, data: fields };
}
