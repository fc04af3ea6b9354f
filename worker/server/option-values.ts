import { apiKeyCharsMin, presentableKey } from '../../shared/security/presentable-key.ts';
import type { StartServerOptions } from './start-server.ts';

/** What the value of an option is, for who gave another. No compiler may have checked it. */
export interface Expectation {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  /** It is told to nobody. */
  readonly isSecret?: boolean;
}

/** Timers take less than 2^31 ms. */
const INTERVAL_MS_MAX = 2 ** 31 - 1;

const flag: Expectation = { expected: 'true or false', fits: (value) => typeof value === 'boolean' };
const path: Expectation = { expected: 'a path', fits: isFilled };
const texts: Expectation = { expected: 'an array of texts', fits: isTexts };
const port: Expectation = {
  expected: 'an integer from 0 to 65535',
  fits: (value) => isWithin(value, 0, 65_535) && Number.isInteger(value),
};
const lines: Expectation = { expected: 'a function that takes a line', fits: (value) => typeof value === 'function' };

export const optionValues = {
  bind: { expected: 'an address such as 127.0.0.1', fits: isFilled },
  port,
  apiKey: {
    expected: `a key of at least ${apiKeyCharsMin} letters, digits and signs of ASCII`,
    fits: (value) => typeof value === 'string' && value.length >= apiKeyCharsMin && presentableKey.test(value),
    isSecret: true,
  },
  tls: { expected: '{ certPath, keyPath }, paths of PEM files', fits: isOf({ certPath: isFilled, keyPath: isFilled }) },
  rateLimit: { expected: 'a number of at least 0', fits: (value) => isWithin(value, 0, Number.MAX_VALUE) },
  corsOrigins: texts,
  allowedHosts: texts,
  trustedProxies: texts,
  tenantNetworks: texts,
  profiles: { expected: 'a Map', fits: (value) => value instanceof Map, isSecret: true },
  workDir: path,
  tenantWorkDir: path,
  privateFiles: texts,
  stateDir: path,
  checkpointIntervalMs: {
    expected: 'a number of milliseconds above 0, below 25 days',
    fits: (value) => isWithin(value, Number.MIN_VALUE, INTERVAL_MS_MAX),
  },
  keepBackups: { expected: 'an integer of at least 1', fits: isCount },
  strictEvents: flag,
  cluster: {
    expected: '{ coordinators, workerId, incarnation, address }, with one coordinator at least',
    fits: isOf({
      coordinators: (value) => isTexts(value) && value.length > 0,
      workerId: isFilled,
      incarnation: isFilled,
      address: isFilled,
    }),
  },
  isSmtpUnverified: flag,
  engineThreads: { expected: 'an integer of at least 1', fits: isCount },
  metricsPort: port,
  metricsNeedKey: flag,
  tracing: {
    expected: '{ endpoint, ratio }, a URL and a share from 0 to 1',
    fits: isOf({ endpoint: isFilled, ratio: (value) => isWithin(value, 0, 1) }),
  },
  settings: { expected: 'an object', fits: isOf({}) },
  logging: {
    expected: '{ level, format, timestamps }, such as "info", "text" and true',
    fits: isOf({ level: isOneOf('trace', 'debug', 'info', 'warn', 'error'), format: isOneOf('text', 'json'), timestamps: flag.fits }),
  },
  writeLog: lines,
  writeConsole: lines,
} as const satisfies Record<keyof StartServerOptions, Expectation>;

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isFilled);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && isWithin(value, 1, Number.MAX_SAFE_INTEGER);
}

function isOneOf(...names: readonly string[]): (value: unknown) => boolean {
  return (value) => names.some((name) => name === value);
}

function isOf(members: Readonly<Record<string, (value: unknown) => boolean>>): (value: unknown) => boolean {
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, fits]) => fits((value as Readonly<Record<string, unknown>>)[name]));
}
