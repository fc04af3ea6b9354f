import { describe, expect, it } from 'vitest';
import { countedText } from '../../../worker/runtime/programs/checkpoint-document.ts';
import { RequestReader } from '../../../worker/runtime/requests/request-reader.ts';
import { busyMsMax } from '../../../worker/runtime/threads/engine-pool.ts';
import { Heartbeat } from '../../../worker/runtime/threads/heartbeat.ts';
import type { LoadCall, SaveReply } from '../../../worker/runtime/threads/messages.ts';
import { Slot } from '../../../worker/runtime/threads/slot.ts';

const load: LoadCall = {
  kind: 'load',
  id: 1,
  slot: 0,
  program: { source: 'event E:\n    k: str\nstream S = E.partition_by(k).window(1h).aggregate(n: count()).emit()\n', files: {} },
  folder: { path: '.', refused: [] },
  strictEvents: false,
  isWatched: false,
  state: null,
};

/** Keeps of how many bytes of state it was told, for each piece of work. */
class ToldHeartbeat extends Heartbeat {
  readonly told: number[] = [];

  override begin(...work: Parameters<Heartbeat['begin']>): void {
    super.begin(...work);
    this.told.push(this.read()?.stateBytes ?? -1);
  }
}

function slotOf(): { readonly slot: Slot; readonly heartbeat: ToldHeartbeat } {
  const heartbeat = new ToldHeartbeat();
  const lookup = (): Promise<never> => Promise.reject(new Error('this program looks nothing up'));
  return { slot: new Slot(0, { reader: new RequestReader(), heartbeat, result: () => undefined, lookup }), heartbeat };
}

async function filled(keys: number): Promise<Uint8Array> {
  const { slot } = slotOf();
  await slot.answer(load);
  const events = Array.from({ length: keys }, (_, at) => ({ event_type: 'E', fields: { k: `k${at}` }, timestamp: 1_700_000_000_000 }));
  const body = Buffer.from(JSON.stringify({ events }));
  await slot.work({ slot: 0, sequence: 1, length: body.length, format: 'batch', timeField: null, time: 0, outputsMax: 1, skip: [] }, body);
  return (slot.answer({ kind: 'save', id: 2, slot: 0 }) as SaveReply).state;
}

describe('how long a thread may be busy with one piece of work', () => {
  it('is the budget of an event, and twice that for what is none', () => {
    expect(busyMsMax({ record: 7, stateBytes: 0 }, 5_000)).toBe(5_000);
    expect(busyMsMax({ record: 0, stateBytes: 0 }, 5_000)).toBe(10_000);
    expect(busyMsMax({ record: 0, stateBytes: 0 }, 100)).toBe(2_000);
  });

  it('is longer with a large state, but not for an event', () => {
    expect(busyMsMax({ record: 0, stateBytes: 20_000_000 }, 5_000)).toBe(50_000);
    expect(busyMsMax({ record: 7, stateBytes: 20_000_000 }, 5_000)).toBe(5_000);
  });
});

describe('the watchdog is told how large a state is', () => {
  it('that is loaded, and saved again', async () => {
    const state = await filled(200);
    const { slot, heartbeat } = slotOf();
    await slot.answer({ ...load, state });
    expect(heartbeat.told.at(-1)).toBe(state.byteLength);
    slot.answer({ kind: 'save', id: 2, slot: 0 });
    expect(heartbeat.told.at(-1)).toBe(state.byteLength);
  });

  it('that a changed program takes over, or that comes in a checkpoint document', async () => {
    const state = await filled(200);
    const { slot, heartbeat } = slotOf();
    await slot.answer({ ...load, state });
    await slot.answer({ kind: 'reload', id: 3, slot: 0, program: load.program, isWatched: false });
    expect(heartbeat.told.at(-1)).toBe(state.byteLength);
    const counters = { events_processed: 200, events_invalid: 0, events_refused: 0, output_events_emitted: 0 };
    const asked = { kind: 'document', id: 4, slot: 0, pipelineId: 'p', sourceHash: '0'.repeat(64), createdAt: 0, sources: {} } as const;
    const document = Buffer.from(countedText(slot.answer(asked) as string, counters));
    expect(heartbeat.told.at(-1)).toBe(state.byteLength);
    await slot.answer({ kind: 'restore', id: 5, slot: 0, document });
    expect(heartbeat.told.at(-1)).toBe(document.byteLength);
  });

  it('which it is no more when an event comes', async () => {
    const { slot, heartbeat } = slotOf();
    await slot.answer({ ...load, state: await filled(200) });
    await slot.work({ slot: 0, sequence: 1, length: -1, format: null, timeField: null, time: 0, outputsMax: 1, skip: [] }, null);
    expect(heartbeat.told.at(-1)).toBe(0);
  });
});
