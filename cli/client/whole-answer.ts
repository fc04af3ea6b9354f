import type { GroupInjectAnswer } from './cluster-api.ts';

/** Alerts that it holds; of more it has the number. */
const OUTPUTS_MAX = 100_000;

/** The answers to all batches of a file, as one. */
export class WholeAnswer {
  readonly #counts = { accepted: 0, rejected: 0, processing_time_us: 0 };
  readonly #routedTo = new Set<string>();
  readonly #errors: GroupInjectAnswer['errors'][number][] = [];
  readonly #outputs: NonNullable<GroupInjectAnswer['output_events']>[number][] = [];
  #sent = 0;
  #omitted = 0;

  add(answer: GroupInjectAnswer, sent: number): void {
    const { routed_to: routedTo, errors, output_events: outputs = [], outputs_omitted: omitted = 0 } = answer;
    for (const name of routedTo) this.#routedTo.add(name);
    for (const error of errors) this.#errors.push({ ...error, index: this.#sent + error.index });
    const kept = outputs.slice(0, OUTPUTS_MAX - this.#outputs.length);
    for (const output of kept) this.#outputs.push(output);
    this.#omitted += outputs.length - kept.length + omitted;
    this.#counts.accepted += answer.accepted;
    this.#counts.rejected += answer.rejected;
    this.#counts.processing_time_us += answer.processing_time_us;
    this.#sent += sent;
  }

  get answer(): GroupInjectAnswer {
    return {
      routed_to: [...this.#routedTo],
      ...this.#counts,
      errors: this.#errors,
      output_events: this.#outputs,
      ...(this.#omitted > 0 && { outputs_omitted: this.#omitted }),
    };
  }
}
