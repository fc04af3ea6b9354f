import { CepError } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { ConnectorEnvironment, ConnectorSettings, Lookup } from '../connector.ts';
import { inTime } from '../in-time.ts';
import { redactorOf, settingsText } from '../parameters.ts';
import { withProfile } from '../profiles.ts';
import { openLookup } from '../registry.ts';

/** How long one may take to close, ms: one that is about to connect hears of nothing before its server answers, or does not. */
const CLOSE_MS_MAX = 1_000;

interface OpenLookup {
  readonly lookup: Lookup;
  readonly settings: ConnectorSettings;
  readonly redact: (text: string) => string;
}

/** Of one connector, what somebody waits for. */
export interface LookupsUnderWay {
  readonly connector: string;
  readonly count: number;
  readonly oldestSeconds: number;
}

/** What the streams of one pipeline look up with `.enrich`. */
export class PipelineLookups {
  readonly #environment: ConnectorEnvironment;
  #lookups = new Map<string, OpenLookup>();
  readonly #counts = new Map<string, { ok: number; error: number }>();
  /** Look-ups that somebody waits for, oldest first, and since when, as `performance.now`. */
  readonly #underWay = new Map<symbol, { readonly connector: string; readonly since: number }>();

  constructor(environment: ConnectorEnvironment) {
    this.#environment = environment;
  }

  /** @throws CepError `connector_error` when `configure` would */
  check(connectors: readonly ConnectorSettings[], used: readonly string[]): void {
    for (const settings of this.#usedOf(connectors, used)) void openLookup(settings, this.#environment).close();
  }

  /** The connectors of the program, of which those named in `used` are asked. One whose settings did not change stays. @throws CepError `connector_error`; nothing has changed then */
  configure(connectors: readonly ConnectorSettings[], used: readonly string[]): void {
    const before = this.#lookups;
    const next = new Map<string, OpenLookup>();
    for (const settings of this.#usedOf(connectors, used)) {
      const known = before.get(settings.name);
      const isAsBefore = known !== undefined && settingsText(known.settings) === settingsText(settings);
      next.set(
        settings.name,
        isAsBefore ? known : { lookup: openLookup(settings, this.#environment), settings, redact: redactorOf(settings) },
      );
    }
    this.#lookups = next;
    for (const [name, { lookup }] of before) if (next.get(name)?.lookup !== lookup) void lookup.close().catch(() => undefined);
  }

  #usedOf(connectors: readonly ConnectorSettings[], used: readonly string[]): readonly ConnectorSettings[] {
    const declared = new Map(connectors.map((settings) => [settings.name, settings]));
    return used.map((name) => {
      const settings = declared.get(name);
      if (settings === undefined) throw new CepError('connector_error', `connector '${name}' is not declared by the program`);
      return withProfile(settings, this.#environment);
    });
  }

  /** What a connector knows of a key. @throws Error whose message says why it knows nothing, without secrets */
  async find(connector: string, key: Value, signal: AbortSignal): Promise<Value> {
    const open = this.#lookups.get(connector);
    if (open === undefined) throw new Error(`connector '${connector}' is closed`);
    const counts = this.#countsOf(connector);
    const one = Symbol(connector);
    const leave = (): void => void this.#underWay.delete(one);
    this.#underWay.set(one, { connector, since: performance.now() });
    signal.addEventListener('abort', leave, { once: true });
    try {
      const found = await open.lookup.find(key, signal);
      counts.ok++;
      return found;
    } catch (cause) {
      counts.error++;
      throw new Error(open.redact(cause instanceof Error ? cause.message : String(cause)), { cause });
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  /** By connector, also of those that nothing is asked now. */
  get underWay(): readonly LookupsUnderWay[] {
    const now = performance.now();
    const found = new Map([...this.#counts.keys()].map((connector) => [connector, { connector, count: 0, oldestSeconds: 0 }]));
    for (const { connector, since } of this.#underWay.values()) {
      const known = found.get(connector);
      if (known === undefined) continue;
      if (known.count++ === 0) known.oldestSeconds = (now - since) / 1_000;
    }
    return [...found.values()];
  }

  #countsOf(connector: string): { ok: number; error: number } {
    const counts = this.#counts.get(connector) ?? { ok: 0, error: 0 };
    this.#counts.set(connector, counts);
    return counts;
  }

  /** How many look-ups have ended how, by connector. */
  get counts(): readonly { readonly connector: string; readonly result: 'ok' | 'error'; readonly count: number }[] {
    return Array.from(this.#counts, ([connector, { ok, error }]) => [
      { connector, result: 'ok' as const, count: ok },
      { connector, result: 'error' as const, count: error },
    ]).flat();
  }

  /** `configure` opens them again. */
  async close(): Promise<void> {
    const lookups = [...this.#lookups.values()];
    this.#lookups = new Map();
    await Promise.allSettled(lookups.map(({ lookup }) => inTime(lookup.close(), CLOSE_MS_MAX)));
  }
}
