import { CepError } from '../../../shared/errors/error.ts';
import type { ConnectorEnvironment, Sink } from '../connector.ts';
import { openWebhook } from '../http.ts';

/** Servers that the alerts of one pipeline are sent to at a time; beyond them one that has nothing to send is forgotten. */
export const ALERT_SERVERS_MAX = 100;

const prefix = 'alert ';

/** The sink that takes an alert: one for each server, because an address may hold a secret and may be another for each event. */
export interface AlertTarget {
  /** As dead letters and metrics have it. */
  readonly name: string;
  /** Path and query at that server; null when the address is none. */
  readonly topic: string | null;
}

export function alertTarget(url: string | null): AlertTarget {
  const address = url !== null && URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) return { name: 'alert', topic: null };
  return { name: `${prefix}${address.origin}`, topic: `${address.pathname}${address.search}` };
}

export function isAlert(name: string): boolean {
  return name.startsWith(prefix);
}

/** Addresses of alerts are known only when the first alert is made: one that is none, or may not be reached, refuses every alert. */
export function openAlertSink(name: string, environment: ConnectorEnvironment): Sink {
  try {
    return openWebhook(isAlert(name) ? name.slice(prefix.length) : '', environment);
  } catch (error) {
    if (!(error instanceof CepError)) throw error;
    return { send: () => Promise.reject(error), close: async () => undefined };
  }
}
