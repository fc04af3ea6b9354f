import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { CepError } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { Plan, ScorePlan } from '../../../shared/language/plan/plan.ts';
import { scoresOf } from '../../engine/analytics/models.ts';
import type { ScoreRequest } from '../../engine/engine.ts';
import { outputsOf, tensorsOf } from './tensors.ts';

type Runtime = typeof import('onnxruntime-node');

/** The models of a program, ready to run. */
export interface Models {
  /** One array per row, with one value per output. Rejects when the model cannot take the inputs. */
  score(request: ScoreRequest): Promise<Value>;
  close(): Promise<void>;
}

/**
 * Loads every model that a program names; undefined when it names none. Paths are relative to the program's file.
 * @throws CepError `model_error` when onnxruntime-node is not installed, a model is missing or cannot be read, or it has
 *   not as many inputs or outputs as the program says
 */
export async function loadModels(plan: Plan): Promise<Models | undefined> {
  const scores = scoresOf(plan);
  if (scores.length === 0) return undefined;
  const runtime = await loadRuntime(scores[0] as ScorePlan);
  const sessions = new Map<string, InferenceSession>();
  for (const score of scores) {
    const session = sessions.get(score.model) ?? (await openModel(runtime, score));
    requireFit(session, score);
    sessions.set(score.model, session);
  }
  return {
    score: async (request) => {
      const session = sessions.get(request.model) as InferenceSession;
      const outputs = await session.run(tensorsOf(runtime, session, request));
      return outputsOf(
        session.outputNames.map((name) => outputs[name] as Tensor),
        request,
      );
    },
    close: async () => {
      for (const session of sessions.values()) await session.release();
    },
  };
}

/** Whether models can run here at all. */
export async function canRunModels(): Promise<boolean> {
  try {
    await import('onnxruntime-node');
    return true;
  } catch {
    return false;
  }
}

async function loadRuntime({ model }: ScorePlan): Promise<Runtime> {
  try {
    return await import('onnxruntime-node');
  } catch (cause) {
    throw new CepError('model_error', `the model '${model}' needs the package onnxruntime-node, which is not installed`, {
      hint: 'npm install onnxruntime-node',
      cause,
    });
  }
}

async function openModel(runtime: Runtime, { model, origin, parameters }: ScorePlan): Promise<InferenceSession> {
  const path = resolve(dirname(origin.source.name), model);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new CepError('model_error', `the model '${model}' is missing`, { hint: 'its path is relative to the file of the program' });
  }
  // A pipe would keep whoever opens it waiting.
  if (!found.isFile()) throw new CepError('model_error', `the model '${model}' is no regular file`);
  const options = { logSeverityLevel: 3 } as const;
  try {
    if (parameters.get('gpu') === true) return await onGpu(runtime, path, parameters.get('device_id'));
    return await runtime.InferenceSession.create(path, options);
  } catch (cause) {
    // What the runtime says names the file by its whole path, which is nobody's business but the host's.
    const reason = (cause instanceof Error ? cause.message : String(cause)).replaceAll(path, model);
    throw new CepError('model_error', `the model '${model}' cannot be loaded: ${reason}`, { cause });
  }
}

/** A hint: where there is no such device the model runs on the processor. */
async function onGpu(runtime: Runtime, path: string, device: Value | undefined): Promise<InferenceSession> {
  const deviceId = typeof device === 'number' ? device : 0;
  try {
    return await runtime.InferenceSession.create(path, { logSeverityLevel: 3, executionProviders: [{ name: 'cuda', deviceId }, 'cpu'] });
  } catch {
    return runtime.InferenceSession.create(path, { logSeverityLevel: 3 });
  }
}

/** One input takes all values as a row; several take one each. The same holds for outputs. */
function requireFit({ inputNames, outputNames }: InferenceSession, { model, inputs, outputs }: ScorePlan): void {
  const problem = misfit('inputs', inputNames, inputs.length) ?? misfit('outputs', outputNames, outputs.length);
  if (problem !== undefined) throw new CepError('model_error', `the model '${model}' ${problem}`);
}

function misfit(what: string, names: readonly string[], given: number): string | undefined {
  if (names.length === 1 || names.length === given) return undefined;
  return `has ${names.length} ${what} (${names.join(', ')}), and the program names ${given}`;
}
