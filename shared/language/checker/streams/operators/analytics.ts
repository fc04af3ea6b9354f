import type { Value } from '../../../../events/value.ts';
import type { AttributeName, ForecastPlan, PlanExpression } from '../../../plan/plan.ts';
import { ANY, type FieldType } from '../../../plan/types.ts';
import { expressionOf, impliedName, lowerExpression } from '../../lower.ts';
import { connectorFor } from '../connector-uses.ts';
import {
  type BoundCall,
  constantFor,
  countFor,
  durationFor,
  expressionFor,
  flagFor,
  itemsFor,
  namesFor,
  ratioFor,
  textFor,
  timerFor,
  wordFor,
} from '../operator-arguments.ts';
import { scopeOf, withAdded } from '../stage.ts';
import { keyedPlan, type LowerOperator, type Position, planOf } from './position.ts';

const FORECAST_ATTRIBUTES: readonly AttributeName[] = [
  'is_forecast',
  'forecast_probability',
  'forecast_time',
  'forecast_state',
  'forecast_context_depth',
  'forecast_lower',
  'forecast_upper',
  'forecast_confidence',
];

const presets = {
  fast: { warmup: 50, maxDepth: 3 },
  balanced: { warmup: 100, maxDepth: 3 },
  accurate: { warmup: 200, maxDepth: 5 },
} as const;

const addedFields = (names: readonly string[]): readonly FieldType[] => names.map((name) => ({ name, type: ANY, optional: true }));

/** `.forecast(..)`, right behind a pattern. `horizonMs` is what holds when none is given. */
export function lowerForecast(at: Position, horizonMs: number): ReturnType<LowerOperator> {
  const stage = withAdded(at.stage, { attributes: FORECAST_ATTRIBUTES });
  return { plans: [keyedPlan(at, 'forecast', readForecast(at.call, horizonMs))], stage };
}

function readForecast(
  call: BoundCall,
  horizonMs: number,
): Pick<ForecastPlan, 'confidence' | 'horizonMs' | 'warmup' | 'maxDepth' | 'hawkes' | 'conformal'> {
  const mode = wordFor(call, 'mode') as keyof typeof presets | undefined;
  const preset = mode ? presets[mode] : { warmup: 100, maxDepth: 5 };
  return {
    confidence: ratioFor(call, 'confidence') ?? 0.5,
    horizonMs: durationFor(call, 'horizon') ?? horizonMs,
    warmup: countFor(call, 'warmup') ?? preset.warmup,
    maxDepth: countFor(call, 'max_depth') ?? preset.maxDepth,
    hawkes: flagFor(call, 'hawkes') ?? false,
    conformal: flagFor(call, 'conformal') ?? false,
  };
}

/** `.enrich(Conn, key: e, fields: [..])`. */
export const lowerEnrich: LowerOperator = (at) => {
  const { call, context } = at;
  const connector = connectorFor(call, 'enrich');
  const key = lowerGiven(at, 'key');
  const fields = namesFor(call, 'fields');
  if (!fields) {
    context.report(
      'W032',
      call.node.span,
      'without `fields:` every field of the answer is added, of type any',
      'name them: `fields: [a, b]`',
    );
  }
  const fallback = lowerGiven(at, 'fallback');
  const cacheTtlMs = durationFor(call, 'cache_ttl') ?? null;
  const timeoutMs = timerFor(call, 'timeout') ?? 5000;
  const attributes: readonly AttributeName[] = ['enrich_status', 'enrich_latency_ms'];
  const stage = withAdded(at.stage, { fields: addedFields(fields ?? []), attributes, open: fields === undefined });
  if (!connector || !key) return { plans: [], stage };
  return {
    plans: [planOf(at, 'enrich', { connector: connector.name, key, fields: fields ?? [], cacheTtlMs, timeoutMs, fallback })],
    stage,
  };
};

function lowerGiven(at: Position, name: string): PlanExpression | null {
  const node = expressionFor(at.call, name);
  return node ? lowerExpression(node, scopeOf(at.stage), at.context) : null;
}

/** `.score(model: "m.onnx", inputs: [..], outputs: [..])`. */
export const lowerScore: LowerOperator = (at) => {
  const { call, context } = at;
  const model = textFor(call, 'model');
  const outputs = namesFor(call, 'outputs') ?? [];
  const inputs = itemsFor(call, 'inputs').flatMap((argument) => {
    const node = expressionOf(argument, context);
    if (!node) return [];
    return [
      {
        name: argument.name?.text ?? impliedName(node) ?? context.text(node.span),
        value: lowerExpression(node, scopeOf(at.stage), context),
      },
    ];
  });
  if (model !== undefined && context.options.canScore?.(model) === false) {
    context.report(
      'W047',
      call.node.span,
      `this build cannot run the model "${model}"`,
      'the program is checked all the same; loading it needs the runtime and the model',
    );
  }
  const stage = withAdded(at.stage, { fields: addedFields(outputs) });
  if (model === undefined) return { plans: [], stage };
  const parts = {
    model,
    inputs: inputs.map(({ value }) => value),
    inputNames: inputs.map(({ name }) => name),
    outputs,
    parameters: hints(call),
  };
  return { plans: [planOf(at, 'score', parts)], stage };
};

function hints(call: BoundCall): ReadonlyMap<string, Value> {
  const batch = countFor(call, 'batch_size');
  const gpu = flagFor(call, 'gpu');
  const device = constantFor<number>(call, 'device_id', { what: 'a whole number', is: (value) => Number.isInteger(value) });
  const given = { batch_size: batch, gpu, device_id: device };
  return new Map(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}
