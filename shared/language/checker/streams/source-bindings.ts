import type { Value } from '../../../events/value.ts';
import type { SourceBinding } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { ConnectorSymbol } from '../symbols.ts';

/** What a `.from(..)` asks for. */
export interface Subscription {
  readonly connector: string;
  /** Null where the connector has but one thing to read, like the http source. */
  readonly topic: string | null;
  readonly parameters: ReadonlyMap<string, Value>;
  readonly eventType: string;
}

/** Collects the `.from(..)` of a program; equal ones are one subscription. */
export interface SourceRegistry {
  bind(subscription: Subscription): void;
  /** The default input first, then the bindings in order of first use. */
  bindings(): readonly SourceBinding[];
}

interface Entry {
  readonly binding: SourceBinding;
  readonly eventTypes: Set<string>;
}

export function sourceRegistry(context: CheckContext): SourceRegistry {
  const entries = new Map<string, Entry>();
  const ids = new Set<string>(['input']);
  return {
    bind: ({ connector, topic, parameters, eventType }) => {
      const key = context.fingerprint({ connector, topic, parameters });
      const entry = entries.get(key) ?? {
        binding: { id: freeId(topic === null ? connector : `${connector}/${topic}`, ids), connector, parameters, eventTypes: [] },
        eventTypes: new Set(),
      };
      entries.set(key, entry);
      entry.eventTypes.add(eventType);
    },
    bindings: () => [
      defaultInput(context.table.connectors.find((connector) => connector.isDefault)),
      ...[...entries.values()].map(({ binding, eventTypes }) => ({ ...binding, eventTypes: [...eventTypes] })),
    ],
  };
}

/** Bindings of one topic with different parameters are different subscriptions. */
function freeId(wanted: string, ids: Set<string>): string {
  let id = wanted;
  for (let number = 2; ids.has(id); number++) id = `${wanted}#${number}`;
  ids.add(id);
  return id;
}

/** `config mqtt` makes its connector the default input. */
function defaultInput(connector: ConnectorSymbol | undefined): SourceBinding {
  const topic = connector?.plan.parameters.get('input_topic');
  const parameters = new Map<string, Value>(topic === undefined ? [] : [['topic', topic]]);
  return { id: 'input', connector: topic === undefined ? null : (connector?.name ?? null), parameters, eventTypes: [] };
}
