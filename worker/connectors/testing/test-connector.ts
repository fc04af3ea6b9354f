import { CepError } from '../../../shared/errors/error.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, ConnectorUse } from '../connector.ts';
import { redactorOf } from '../parameters.ts';
import { connectorTypes } from '../registry.ts';
import { StepFailure, type StepName, type TestStep } from './test-step.ts';

/** What came of one step; secrets of the connector are taken out. */
export interface StepReport {
  readonly step: StepName;
  readonly outcome: 'ok' | 'untested' | 'failed';
  /** What was found; where it failed, also what was expected. */
  readonly text: string;
  /** Where it failed: what to do. */
  readonly hint?: string;
}

/**
 * Tests one use of a connector step by step, up to the first that fails. Nothing outside is changed. Never throws.
 * @param stepMs Time for each step.
 */
export async function* testConnector(
  use: ConnectorUse,
  environment: ConnectorEnvironment,
  stepMs: number,
): AsyncGenerator<StepReport, void, undefined> {
  const redact = redactorOf({ secrets: [...use.secrets, ...loginsIn(use)] });
  let step: StepName = 'settings';
  try {
    for await (const next of stepsOf(use, environment)) {
      step = next.name;
      if ('untested' in next) yield { step, outcome: 'untested', text: redact(next.untested) };
      else yield { step, outcome: 'ok', text: redact(await withinTime(next.run, stepMs)) };
    }
  } catch (error) {
    const { message, hint } = asFailure(error);
    yield { step, outcome: 'failed', text: redact(message), hint: redact(hint) };
  }
}

async function* stepsOf(use: ConnectorUse, environment: ConnectorEnvironment): AsyncGenerator<TestStep> {
  const test = connectorTypes.get(use.type)?.test;
  if (test === undefined) yield { name: 'login', untested: `login and topic are not tested for ${use.type} yet` };
  else yield* test(use, environment);
}

async function withinTime(run: (signal: AbortSignal) => Promise<string>, ms: number): Promise<string> {
  const end = new AbortController();
  const late = new StepFailure({
    found: `no answer within ${ms / 1000} s`,
    expected: 'one',
    hint: 'look at the server and the network between, or give more time with --step-timeout',
  });
  const timer = setTimeout(() => end.abort(late), ms);
  const passed = new Promise<never>((_, reject) => end.signal.addEventListener('abort', () => reject(late), { once: true }));
  try {
    return await Promise.race([run(end.signal), passed]);
  } finally {
    clearTimeout(timer);
  }
}

function asFailure(error: unknown): { readonly message: string; readonly hint: string } {
  if (error instanceof StepFailure) return error;
  if (error instanceof CepError) return { message: error.message, hint: error.hint ?? 'correct the settings of the connector' };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ForbiddenAddress) return { message, hint: 'whoever runs the server can allow a network with --tenant-networks' };
  return { message: `found ${message}, expected an answer`, hint: 'look at the settings of the connector and the log of the server' };
}

/** Names and passwords that stand in addresses. */
function loginsIn({ parameters }: ConnectorUse): readonly string[] {
  return [...parameters.values()].flatMap((value) => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || url.password === '') return [];
    return [url.password, decoded(url.password)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // It is no encoding of anything: it stands for itself.
  }
}
