import { basename, join } from 'node:path';
import type { DeadLetterFileOptions } from '../../../worker/connectors/delivery/dead-letter-file.ts';
import type { DeadLetter } from '../../../worker/connectors/delivery/dead-letters.ts';
import type { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';

export function letterOf(id: number): DeadLetter {
  return {
    timestamp: '2026-01-01T00:00:00.000Z',
    connector: 'Hook',
    error: 'no answer',
    event: { event_type: 'S', timestamp: 0, data: { n: id } },
    id: String(id),
    pipeline_id: 'p',
    stream: 'S',
    attempts: 4,
    code: 'timeout',
  };
}

/** Files of one letter each, of which the list of a state directory knows. */
export function lettersIn(folder: string, { letterList }: DurableStorage): DeadLetterFileOptions {
  const within = (name: string): string => join(basename(folder), name);
  return {
    path: join(folder, 'dlq.jsonl'),
    fileBytes: 300,
    onDropped: () => undefined,
    list: {
      get listed() {
        return Object.fromEntries(Object.entries(letterList.listed).map(([path, extent]) => [basename(path), extent]));
      },
      add: (name, extent) => letterList.add(within(name), extent),
      remove: (names) => letterList.remove(names.map(within)),
    },
  };
}
