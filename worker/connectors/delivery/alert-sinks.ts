import { CepError } from '../../../shared/errors/error.ts';
import { type ConnectorEnvironment, DeliveryFailure, type Sink } from '../connector.ts';
import { openWebhook } from '../http.ts';

/** Servers that the alerts of one pipeline are sent to at a time; beyond them one that has nothing to send is forgotten. */
export const ALERT_SERVERS_MAX = 100;

const prefix = 'alert ';
/** Names of what takes alerts whose address cannot be sent to: their letters say why. */
const NO_ADDRESS = 'alert';
const WITH_LOGIN = 'alert with a login';

/** The sink that takes an alert: one for each server, because an address may hold a secret and may be another for each event. */
export interface AlertTarget {
  /** As dead letters and metrics have it. */
  readonly name: string;
  /** Path and query at that server; null when the address is none. */
  readonly topic: string | null;
}

export function alertTarget(url: string | null): AlertTarget {
  const address = url !== null && URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) return { name: NO_ADDRESS, topic: null };
  if (address.username !== '' || address.password !== '') return { name: WITH_LOGIN, topic: null };
  return { name: `${prefix}${address.origin}`, topic: `${address.pathname}${address.search}` };
}

export function isAlert(name: string): boolean {
  return name.startsWith(prefix);
}

/** Addresses of alerts are known only when the first alert is made: one that is none, or may not be reached, refuses every alert. */
export function openAlertSink(name: string, environment: ConnectorEnvironment): Sink {
  if (name === WITH_LOGIN) return refusing(new DeliveryFailure('unfit_target', loginRefusal, { isPermanent: true }));
  try {
    return openWebhook(isAlert(name) ? name.slice(prefix.length) : '', environment);
  } catch (error) {
    if (!(error instanceof CepError)) throw error;
    return refusing(new DeliveryFailure(error.code, error.message, { isPermanent: true, cause: error }));
  }
}

const loginRefusal = 'the url of an alert holds a login, which alerts do not send: declare an http connector with it, and send to that';

function refusing(failure: DeliveryFailure): Sink {
  return { send: () => Promise.reject(failure), close: async () => undefined };
}
