import { createRuntime } from '../../../worker/runtime/runtime.ts';
import type { InjectFormat, InjectRequest, InjectResult, Runtime, RuntimeOptions, RuntimeReport } from '../../../worker/runtime/service.ts';

/** A started runtime with what it reported, and short ways to use it as the server's own tenant. */
export interface RuntimeUnderTest {
  readonly runtime: Runtime;
  readonly reports: RuntimeReport[];
  deploy(source: string, name?: string): Promise<string>;
  inject(id: string, body: unknown, options?: Partial<InjectRequest> & { readonly format?: InjectFormat }): Promise<InjectResult>;
}

export const TENANT = 'default';

export async function startRuntime(options: Partial<RuntimeOptions> = {}): Promise<RuntimeUnderTest> {
  const reports: RuntimeReport[] = [];
  const runtime = await createRuntime({ engineThreads: 1, report: (report) => reports.push(report), ...options });
  await runtime.start();
  let names = 0;
  return {
    runtime,
    reports,
    deploy: async (source, name = `pipeline ${++names}`) => (await runtime.pipelines.deploy(TENANT, { name, source })).pipeline.id,
    inject: (id, body, injectOptions = {}) =>
      runtime.pipelines.inject(TENANT, id, { body: bytesOf(body), format: Array.isArray(body) ? 'batch' : 'event', ...injectOptions }),
  };
}

/** One event `[type, fields]` or `{event_type, ..}`; an array of these is a batch; text goes as it is. */
export function bytesOf(body: unknown): Uint8Array {
  const text = typeof body === 'string' ? body : JSON.stringify(Array.isArray(body) ? { events: body } : body);
  return new TextEncoder().encode(text);
}

export function event(event_type: string, fields: Record<string, unknown> = {}, timestamp?: number | string): object {
  return { event_type, fields, ...(timestamp === undefined ? {} : { timestamp }) };
}

/** What came out, as `Type {fields}`. */
export function outputTexts({ outputs }: InjectResult): string[] {
  return outputs.map(({ eventType, fieldsJson }) => `${eventType} ${fieldsJson}`);
}
