import { durationText, timestampText } from '../../../shared/events/time-text.ts';
import { Duration, isArray, isMap, Timestamp, type Value } from '../../../shared/events/value.ts';
import { findConnector, findConnectorParameter } from '../../../shared/language/connectors/table.ts';
import type { ConnectorPlan, InputPlan, OperatorPlan, Plan, StreamPlan, ToPlan } from '../../../shared/language/plan/plan.ts';
import { shownHosts, withShownUrls } from '../../../shared/security/shown-url.ts';
import type { KnownSend } from '../../connectors/registry.ts';
import { inputsOf } from '../../engine/streams/plan-inputs.ts';
import type { Topology, TopologyNode } from '../service.ts';

/** What flows where in a program: event types and connectors into streams, streams into streams and sinks. */
export function topologyOf(plan: Plan): Topology {
  const draft = new TopologyDraft(plan);
  for (const stream of plan.streams) draft.addStream(stream);
  for (const { connector, eventTypes } of plan.sources) if (connector !== null) draft.addSource(connector, eventTypes);
  return draft.finish();
}

/** The connectors that a program sends to. */
export function sinksOf(plan: Plan): readonly string[] {
  return [...new Set(plan.streams.flatMap(({ operators }) => operators.flatMap(sinksOfOperator)))];
}

/** What streams send to a topic that is the same for every event. */
export function sendsOf(plan: Plan): readonly KnownSend[] {
  return plan.streams.flatMap(({ name: stream, operators }) =>
    operators.flatMap(sendsOfOperator).flatMap(({ connector, topic, parameters }) => {
      const value = topic?.kind === 'constant' ? topic.value : null;
      return typeof value === 'string' ? [{ stream, connector, topic: value, parameters: [...parameters.keys()] }] : [];
    }),
  );
}

class TopologyDraft {
  readonly #plan: Plan;
  readonly #nodes = new Map<string, TopologyNode>();
  readonly #edges = new Set<string>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  addStream(stream: StreamPlan): void {
    const id = `stream:${stream.name}`;
    const isTimer = stream.source.kind === 'timer';
    const config = { source: stream.source.kind, operators: stream.operators.map(({ text }) => withShownUrls(text)) };
    this.#add({ id, label: stream.name, nodeType: isTimer ? 'timer' : 'stream', config });
    for (const input of inputsOf(stream.source)) this.#connect(this.#inputNode(input), id);
    for (const sink of stream.operators.flatMap(sinksOfOperator)) this.#connect(id, this.#sinkNode(sink));
  }

  addSource(connector: string, eventTypes: readonly string[]): void {
    const id = `source:${connector}`;
    this.#add({ id, label: connector, nodeType: 'source', config: this.#configOf(connector) });
    for (const type of eventTypes) this.#connect(id, this.#eventNode(type));
  }

  finish(): Topology {
    const edges = Array.from(this.#edges, (text) => {
      const [source, target] = JSON.parse(text) as [string, string];
      return { id: `${source}->${target}`, source, target };
    });
    return { nodes: [...this.#nodes.values()], edges };
  }

  #add(node: TopologyNode): string {
    if (!this.#nodes.has(node.id)) this.#nodes.set(node.id, node);
    return node.id;
  }

  #connect(source: string, target: string): void {
    this.#edges.add(JSON.stringify([source, target]));
  }

  #inputNode({ from }: InputPlan): string {
    return from.kind === 'event' ? this.#eventNode(from.type) : `stream:${this.#plan.streams[from.stream]?.name}`;
  }

  #eventNode(type: string): string {
    return this.#add({ id: `event:${type}`, label: type, nodeType: 'event', config: {} });
  }

  #sinkNode(connector: string): string {
    return this.#add({ id: `sink:${connector}`, label: connector, nodeType: 'sink', config: this.#configOf(connector) });
  }

  #configOf(name: string): TopologyNode['config'] {
    const connector = this.#plan.connectors.find((one) => one.name === name);
    return connector === undefined ? {} : publicConfig(connector);
  }
}

function sinksOfOperator(operator: OperatorPlan): string[] {
  return sendsOfOperator(operator).map(({ connector }) => connector);
}

function sendsOfOperator(operator: OperatorPlan): ToPlan[] {
  if (operator.kind === 'to') return [operator];
  if (operator.kind === 'fork') return operator.branches.flatMap(({ operators }) => operators.flatMap(sendsOfOperator));
  return [];
}

/** The parameters of a connector that are no secrets. */
function publicConfig({ type, parameters }: ConnectorPlan): Record<string, unknown> {
  const descriptor = findConnector(type);
  const shown = [...parameters].flatMap(([name, value]): [string, unknown][] => {
    const parameter = descriptor && findConnectorParameter(descriptor, name);
    if (parameter === undefined || parameter.secret === true) return [];
    return [[name, plainValue(value, parameter.entries === 'hosts' ? shownHosts : withShownUrls)]];
  });
  return { type, ...Object.fromEntries(shown) };
}

function plainValue(value: Value, shownText: (text: string) => string): unknown {
  if (isArray(value)) return value.map((item) => plainValue(item, shownText));
  if (isMap(value)) return Object.fromEntries(Array.from(value, ([name, item]) => [name, plainValue(item, shownText)]));
  if (value instanceof Duration) return durationText(value.ms);
  if (value instanceof Timestamp) return timestampText(value.ms);
  return typeof value === 'string' ? shownText(value) : value;
}

/** The connectors that a program asks. */
export function lookupsOf(plan: Plan): readonly string[] {
  return [...new Set(plan.streams.flatMap(({ operators }) => operators.flatMap(lookupsOfOperator)))];
}

function lookupsOfOperator(operator: OperatorPlan): string[] {
  if (operator.kind === 'enrich') return [operator.connector];
  if (operator.kind === 'fork') return operator.branches.flatMap(({ operators }) => operators.flatMap(lookupsOfOperator));
  return [];
}
