import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from './create-engine.ts';
import type { Engine, EngineHost, RestoreReport } from './engine.ts';
import { ProgramEngine } from './program-engine.ts';

export interface Reloaded {
  readonly engine: Engine;
  readonly report: RestoreReport;
}

/**
 * Puts a changed program in the place of a running one: the new engine takes over the state of every operator whose meaning
 * did not change, and the report says by stream what was kept and what starts afresh. The old engine is only read, so it
 * can go on when this throws; after success the host pushes to the new one alone.
 * @throws CepError as `createEngine` does.
 */
export function reload(current: Engine, plan: Plan, host: EngineHost, options?: EngineOptions): Reloaded {
  const engine = createEngine(plan, host, options);
  return { engine, report: isProgram(engine) && isProgram(current) ? engine.takeOver(current) : engine.restore(current.snapshot()) };
}

function isProgram(engine: Engine): engine is ProgramEngine {
  return engine instanceof ProgramEngine;
}
