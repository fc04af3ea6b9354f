import { type WebAnswer, WebDoor } from '../../../shared/outbound/web-door.ts';
import type { ConnectorEnvironment } from '../connector.ts';
import { reachSteps } from './reach.ts';
import { StepFailure, type TestStep } from './test-step.ts';

export interface HttpTestOptions {
  readonly door: ConnectorEnvironment['door'];
  /** Without a login. */
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the requests that the program makes. */
  readonly method: string;
  /** For one request, ms. */
  readonly timeoutMs: number;
}

/** Asks with HEAD, and where that is not known with OPTIONS: neither changes anything. */
export async function* httpSteps(options: HttpTestOptions): AsyncGenerator<TestStep> {
  const { door, target } = options;
  const isSecure = target.protocol === 'https:';
  yield* reachSteps({ door, host: target.hostname, port: Number(target.port) || (isSecure ? 443 : 80), tls: isSecure });
  yield { name: 'address', run: (signal) => asked(options, signal) };
}

async function asked({ door, target, headers, method, timeoutMs }: HttpTestOptions, signal: AbortSignal): Promise<string> {
  const web = new WebDoor(door, { connectMs: timeoutMs, silenceMs: 0 });
  const ask = async (verb: 'HEAD' | 'OPTIONS'): Promise<WebAnswer> => {
    const answer = await web.request(target, { method: verb, headers, body: null, deadlineMs: timeoutMs, signal });
    web.leave(answer);
    return answer;
  };
  try {
    const head = await ask('HEAD');
    if (![404, 405, 501].includes(head.statusCode)) return found('HEAD', head, method);
    const options = await ask('OPTIONS');
    return isSuccess(options.statusCode) ? found('OPTIONS', options, method) : found('HEAD', head, method);
  } catch (cause) {
    if (cause instanceof StepFailure || signal.aborted) throw cause;
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    const hint = 'look whether a web server listens there, and whether it expects https';
    throw new StepFailure({ found: `no answer (${reason})`, expected: 'an answer of a web server', hint, cause });
  } finally {
    await web.close();
  }
}

/** What a status says of the address. @throws StepFailure where nothing would be delivered */
function found(verb: string, { statusCode, headers }: WebAnswer, method: string): string {
  const hint = hintOf(statusCode);
  if (hint === undefined) {
    const rest = isSuccess(statusCode) ? '' : `, which says nothing of ${method}`;
    return `the server answers ${verb} with ${statusCode}${rest}`;
  }
  const to = headers['location'] === undefined ? '' : ` to ${String(headers['location'])}`;
  throw new StepFailure({ found: `the status ${statusCode}${to} for ${verb}`, expected: 'an address that takes requests', hint });
}

/** What to do about a status with which nothing would be delivered. */
function hintOf(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'write the address that it leads to: redirects are not followed';
  if (status === 401 || status === 403) return 'correct the login in the url or in `headers`, or what the server grants it';
  if (status === 407) return 'reach the server without this proxy';
  if (status === 404 || status === 410) return 'correct the path of the address';
  if (status === 429) return 'try again later, or less often: the server has had too many requests';
  return status >= 500 && status !== 501 ? 'look at the log of the server' : undefined;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
