import { CepError } from '../../shared/errors/error.ts';
import { EvaluationError } from '../../shared/language/functions/descriptor.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { requireModels } from './analytics/models.ts';
import type { Engine, EngineHost } from './engine.ts';
import type { BackendFactory, ExpressionBackend } from './evaluate/backend.ts';
import { ReferenceBackend } from './evaluate/reference-backend.ts';
import type { FusedProgram } from './fusion/fuse.ts';
import { ProgramEngine } from './program-engine.ts';

export interface EngineOptions {
  /** Incomplete events are invalid. @default false */
  readonly strictEvents?: boolean;
  /** What evaluates expressions. @default the reference evaluator */
  readonly backend?: BackendFactory;
  /**
   * Makes one piece of generated code of the streams, as far as they have a form there; the results are the same. Left out
   * while the host traces and with `explain`. @default nothing is fused
   */
  readonly fuse?: (plan: Plan) => FusedProgram | null;
  /**
   * Streams remember what came last, so that `Engine.explain` can say what kept it back: for each of the last 1,000 keys the
   * last event, the last 8 events for each step, and the last run that ended. @default false
   */
  readonly explain?: boolean;
}

/**
 * An engine for a checked program, with its globals evaluated and nothing pushed yet.
 * @throws CepError when a global cannot be evaluated, or the program scores and the host runs no models.
 */
export function createEngine(plan: Plan, host: EngineHost, options: EngineOptions = {}): Engine {
  requireModels(plan, host);
  const backend = load(plan, options.backend ?? ((program) => new ReferenceBackend(program)));
  const { strictEvents = false, explain = false, fuse } = options;
  const fused = fuse === undefined || explain || host.trace !== undefined ? null : fuse(plan);
  return new ProgramEngine(plan, host, { backend, strictEvents, explain, fused });
}

function load(plan: Plan, factory: BackendFactory): ExpressionBackend {
  try {
    return factory(plan);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    throw new CepError('validation_error', `a value of the program cannot be evaluated: ${error.message}`, { cause: error });
  }
}
