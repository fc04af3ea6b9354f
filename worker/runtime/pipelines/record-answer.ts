import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import type { InjectProblem, InjectResult, Output } from '../service.ts';
import type { RecordResult } from '../threads/messages.ts';

/** Outputs of one request that an answer may hold. */
export const ANSWER_OUTPUTS_MAX = 100_000;

export interface OutputNaming {
  readonly pipelineId: string;
  /** By index in the program. */
  readonly streams: readonly string[];
  /** The sequence of the output before the first of these. */
  readonly last: number;
  /** Of outputs whose ids are made of what they say. @default they are made of pipeline, record and program */
  readonly idOf?:
    | ((output: { readonly stream: string; readonly type: string; readonly time: number; readonly fieldsJson: string }) => string)
    | undefined;
}

/** The outputs of a record, those skipped not included. Their ids are stable: whoever makes the same again gives it the same. */
export function outputsOf({ sequence, outputs }: RecordResult, { pipelineId, streams, last, idOf }: OutputNaming): Output[] {
  const record = `${pipelineId}-${sequence.toString(36)}`;
  const first = last + outputs.skipped + 1;
  return outputs.time.map((timestamp, at): Output => {
    const index = outputs.stream[at] as number;
    const stream = streams[index] ?? '';
    const [eventType, fieldsJson] = [outputs.type[at] as string, outputs.fields[at] as string];
    return {
      sequence: first + at,
      id: idOf?.({ stream, type: eventType, time: timestamp, fieldsJson }) ?? `${record}-${index}-${outputs.ordinal[at]}`,
      stream,
      eventType,
      timestamp,
      fieldsJson,
      eventIndex: outputs.event[at] as number,
      ...(outputs.causes && { causesJson: outputs.causes[at] as string }),
    };
  });
}

export function resultOf(result: RecordResult, outputs: readonly Output[], { wanted }: { readonly wanted: boolean }): InjectResult {
  return {
    accepted: result.processed,
    rejected: result.problems.length + result.problemsOmitted,
    errors: result.problems.map((problem): InjectProblem => ({ ...problem, message: problemText(problem) })),
    outputs: wanted ? forAnswer(outputs) : [],
    outputCount: result.outputs.skipped + result.outputs.time.length,
    processingTimeUs: result.durationUs,
    notes: result.notes,
    repeated: false,
  };
}

/** Of those that are too many, or too much text, the newest. */
function forAnswer(outputs: readonly Output[]): readonly Output[] {
  const first = Math.max(0, outputs.length - ANSWER_OUTPUTS_MAX);
  let from = outputs.length;
  for (let chars = 0; from > first; from--) {
    chars += (outputs[from - 1] as Output).fieldsJson.length;
    if (chars > limits.requestOutputCharsMax) break;
  }
  return from === 0 ? outputs : outputs.slice(from);
}

/** Why a single event was not taken. */
export function eventRefusal({ code, field, message }: InjectProblem): CepError {
  return new CepError(code, message, { details: { field } });
}

export function unreadableBody({ code, message }: NonNullable<RecordResult['unreadable']>): CepError {
  return new CepError(code, `the body cannot be read ${message}`);
}

function problemText({ field, message }: { readonly field: string; readonly message: string }): string {
  return field === '' || message.startsWith('field `') ? message : `field \`${field}\`: ${message}`;
}
