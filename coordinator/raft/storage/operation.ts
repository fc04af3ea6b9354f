import type { RecordReader, RecordWriter } from './record.ts';

/** Done to an ordered key-value database. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly key: string };

/** Keys have one byte for each character. */
export function bytesOf(operations: readonly Operation[]): number {
  return operations.reduce(
    (sum, operation) => sum + 5 + operation.key.length + (operation.type === 'put' ? 4 + operation.value.length : 0),
    4,
  );
}

export function writeOperations(writer: RecordWriter, operations: readonly Operation[]): void {
  writer.u32(operations.length);
  for (const operation of operations) {
    writer.flag(operation.type === 'put').ascii(operation.key);
    if (operation.type === 'put') writer.bytes(operation.value);
  }
}

/** Throws `DamagedRecord` where there is something else. */
export function readOperations(reader: RecordReader): Operation[] {
  const decoder = new TextDecoder();
  const count = reader.u32();
  const operations: Operation[] = [];
  for (let at = 0; at < count; at++) {
    const isPut = reader.flag();
    const key = decoder.decode(reader.bytes());
    operations.push(isPut ? { type: 'put', key, value: reader.bytes() } : { type: 'delete', key });
  }
  return operations;
}

/** What the database has when they are done. */
export function withOperations(records: ReadonlyMap<string, Uint8Array>, operations: readonly Operation[]): Map<string, Uint8Array> {
  const done = new Map(records);
  for (const operation of operations) {
    if (operation.type === 'put') done.set(operation.key, operation.value);
    else done.delete(operation.key);
  }
  return done;
}
