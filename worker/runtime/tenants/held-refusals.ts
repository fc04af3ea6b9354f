import type { Waiting } from '../service.ts';

const HOLD_MS = 1_000;
const HELD_PER_TENANT_MAX = 100;
const HELD_BYTES_PER_TENANT_MAX = 16_777_216;

/** What stays in memory with a refusal, and who waits for it. */
interface Held {
  readonly bytes: number;
  readonly waiting?: Waiting;
}

/**
 * Refusals of what a tenant has asked for too often. Each takes a second: who asks again at once must not keep the server busy with
 * reading what it refuses. No more are held than a tenant has memory for; further ones are not kept back.
 */
export class HeldRefusals {
  readonly #held = new Map<string, { count: number; bytes: number }>();

  /** @throws the error, always: at once when nobody waits any more */
  async hold(tenantId: string, error: unknown, { bytes, waiting: { signal } = {} }: Held): Promise<never> {
    const held = this.#held.get(tenantId) ?? { count: 0, bytes: 0 };
    const hasRoom = held.count < HELD_PER_TENANT_MAX && (held.bytes === 0 || held.bytes + bytes <= HELD_BYTES_PER_TENANT_MAX);
    if (!hasRoom || signal?.aborted) throw error;
    this.#held.set(tenantId, held);
    held.count++;
    held.bytes += bytes;
    await aSecondUnless(signal);
    held.count--;
    held.bytes -= bytes;
    if (held.count === 0) this.#held.delete(tenantId);
    throw error;
  }
}

function aSecondUnless(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, HOLD_MS);
    signal?.addEventListener('abort', end);
  });
}
