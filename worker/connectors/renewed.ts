/** Connectors whose profile may change while they are open. Sources follow it by themselves, whenever they connect. */
import type { Batching, ConnectorSettings, Lookup, Outcome, Sink, SinkMessage } from './connector.ts';
import { together } from './delivery/together.ts';
import { latestOf } from './profiles.ts';

type Open<T> = (settings: ConnectorSettings) => T;

/** A sink that is another one after its profile has changed: from the next request on, as one is under way at a time. @throws CepError */
export function renewedSink(settings: ConnectorSettings, open: Open<Sink>): Sink {
  const current = renewed(settings, open);
  const { batching, awaitsCheckpoint } = current();
  const batchingNow: Batching | undefined = batching && {
    messages: batching.messages,
    send: async (messages, signal) => await sendAll(current(), messages, signal),
  };
  return {
    send: async (message, signal) => await current().send(message, signal),
    ...(batchingNow === undefined ? {} : { batching: batchingNow }),
    ...(awaitsCheckpoint === undefined ? {} : { awaitsCheckpoint }),
    close: () => current().close(),
  };
}

/** Whether a sink takes many at once may stand in its profile, too: one that no longer does is given them one after the other. */
async function sendAll(sink: Sink, messages: readonly SinkMessage[], signal: AbortSignal | undefined): Promise<readonly Outcome[]> {
  if (sink.batching !== undefined) return await sink.batching.send(messages, signal);
  const alone = together(1, (message, end) => sink.send(message, end));
  const outcomes: Outcome[] = [];
  for (const message of messages) outcomes.push(...(await alone.send([message], signal)));
  return outcomes;
}

/** A look-up that is another one after its profile has changed; what is being asked by then is answered. @throws CepError */
export function renewedLookup(settings: ConnectorSettings, open: Open<Lookup>): Lookup {
  const asking = new Map<Lookup, Set<Promise<unknown>>>();
  const current = renewed(settings, open, async (old) => {
    await Promise.allSettled(asking.get(old) ?? []);
    asking.delete(old);
  });
  return {
    find: async (key, signal) => {
      const lookup = current();
      const under = asking.get(lookup) ?? new Set();
      asking.set(lookup, under);
      const finding = lookup.find(key, signal);
      under.add(finding);
      try {
        return await finding;
      } finally {
        under.delete(finding);
      }
    },
    close: () => current().close(),
  };
}

/** What is open for the settings as they are now. One that cannot be opened with new ones stays as it is. */
function renewed<T extends { close(): Promise<void> }>(
  settings: ConnectorSettings,
  open: Open<T>,
  left: (old: T) => Promise<void> = async () => undefined,
): () => T {
  let [from, current] = [latestOf(settings), open(settings)];
  return () => {
    const now = latestOf(settings);
    if (now === from) return current;
    from = now;
    const old = current;
    try {
      current = open(now);
    } catch (cause) {
      settings.notTaken?.(cause);
      return current;
    }
    void left(old)
      .then(() => old.close())
      .catch(() => undefined);
    return current;
  };
}
