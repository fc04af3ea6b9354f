/** What a process under measurement is asked. */
export interface Asked {
  readonly clients: number;
  readonly seconds: number;
  readonly bytes: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  readonly failed: number;
}

/** Clients that each do one thing after another. What comes in the first tenth of the time is not counted. */
export async function closedLoop(
  { clients, seconds }: Pick<Asked, 'clients' | 'seconds'>,
  work: () => Promise<unknown>,
): Promise<LoadResult> {
  const begin = performance.now() + seconds * 100;
  const end = begin + seconds * 1_000;
  const took: number[] = [];
  let failed = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const since = performance.now();
      if (since >= end) return;
      try {
        await work();
        if (since >= begin) took.push(performance.now() - since);
      } catch {
        failed++;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const sorted = took.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(1_000 * (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0));
  return { perSecond: Math.round(took.length / seconds), p50Us: at(0.5), p99Us: at(0.99), maxUs: at(1), failed };
}

/** Answers what the parent asks. */
export function serve(handlers: Readonly<Record<string, (asked: Asked) => Promise<unknown>>>): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ id, what, asked }: { id: number; what: string; asked: Asked }) => {
    void handlers[what]?.(asked).then((answer) => process.send?.({ id, answer }));
  });
  process.send?.({ event: 'ready' });
}
