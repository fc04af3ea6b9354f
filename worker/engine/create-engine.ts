import { CepError } from '../../shared/errors/error.ts';
import { EvaluationError } from '../../shared/language/functions/descriptor.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { requireModels } from './analytics/models.ts';
import { compiledBackend } from './compile/compiled-backend.ts';
import type { Engine, EngineHost } from './engine.ts';
import type { BackendFactory, ExpressionBackend } from './evaluate/backend.ts';
import { fuse } from './fusion/fuse.ts';
import { ProgramEngine } from './program-engine.ts';
import type { EventShare } from './sharing/event-share.ts';

export interface EngineOptions {
  /** Incomplete events are invalid. @default false */
  readonly strictEvents?: boolean;
  /** What evaluates expressions. @default generated code */
  readonly backend?: BackendFactory;
  /**
   * Streams become one piece of generated code, as far as they have a form there; false: all rows go from operator to
   * operator, with the same results. Where a host traces, and with `explain`, only kernels are generated. @default true
   */
  readonly isFused?: boolean;
  /**
   * Streams remember what came last, so that `Engine.explain` can say what kept it back: for each of the last 1,000 keys the
   * last event, up to 32 events for each step, of more those that came nearest, and the last run that ended. @default false
   */
  readonly explain?: boolean;
  /** Values that may be remembered for that in all streams together, characters of texts by sixteens; the key that was seen longest ago goes first. @default any number */
  readonly explainedValuesMax?: number;
  /** With `explain`, the key that will be asked for: however many keys come after it, it is remembered. */
  readonly explainKey?: string | undefined;
  /**
   * `EngineHost.output` is told the events behind each output. Rows go from operator to operator then. What a restored state holds of
   * events of before may lack fields that no condition reads. @default false
   */
  readonly causes?: boolean;
  /** The engine is one of several that share the events of a program: it works on its own, and lets time move to the others. @default all are its own */
  readonly share?: EventShare;
}

/**
 * An engine for a checked program, with its globals evaluated and nothing pushed yet.
 * @throws CepError when a global cannot be evaluated, or the program scores and the host runs no models.
 */
export function createEngine(plan: Plan, host: EngineHost, options: EngineOptions = {}): Engine {
  requireModels(plan, host);
  const {
    strictEvents = false,
    explain = false,
    explainKey = null,
    causes = false,
    isFused = true,
    explainedValuesMax = Infinity,
    share = null,
  } = options;
  const backend = load(plan, options.backend ?? compiledBackend);
  const watched = explain || causes ? 'explained' : host.trace !== undefined ? 'traced' : null;
  const fused = isFused ? fuse(plan, { watched, keys: share?.keys }) : null;
  return new ProgramEngine(plan, host, { backend, strictEvents, explain, explainKey, causes, explainedValuesMax, share, fused });
}

function load(plan: Plan, factory: BackendFactory): ExpressionBackend {
  try {
    return factory(plan);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    throw new CepError('validation_error', error.message, { cause: error });
  }
}
