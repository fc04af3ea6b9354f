import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../coordinator/raft/core/messages.ts';
import { DamagedRecord } from '../../../coordinator/raft/storage/record.ts';
import { FrameReader, frameBytesMax, frameOf } from '../../../coordinator/raft/transport/frames.ts';
import { decodePacket, encodePacket, type Packet } from '../../../coordinator/raft/transport/packet.ts';

const number = fc.oneof(fc.nat(300), fc.maxSafeNat());
const flag = fc.boolean();
const data = fc.uint8Array({ maxLength: 60 });
const envelope = { from: number, to: number, term: number };
const previousIndex = fc.nat(1_000_000);

const entries = fc.array(fc.record({ term: number, kind: fc.constantFrom('noop', 'command', 'configuration'), data }), { maxLength: 5 });
const message = fc.oneof(
  fc.record({ ...envelope, type: fc.constant('voteRequest'), pre: flag, transfer: flag, lastIndex: number, lastTerm: number }),
  fc.record({ ...envelope, type: fc.constant('voteResponse'), pre: flag, granted: flag }),
  fc
    .record({ ...envelope, type: fc.constant('appendRequest'), previousIndex, previousTerm: number, commit: number, entries })
    .map((found) => ({
      ...found,
      entries: found.entries.map((entry, at) => ({ ...entry, index: found.previousIndex + 1 + at }) as Entry),
    })),
  fc.record({
    ...envelope,
    type: fc.constant('appendResponse'),
    accepted: flag,
    isRecovering: flag,
    index: number,
    hintIndex: number,
    hintTerm: number,
  }),
  fc.record({ ...envelope, type: fc.constant('heartbeat'), commit: number, round: number }),
  fc.record({ ...envelope, type: fc.constant('heartbeatResponse'), round: number }),
  fc.record({ ...envelope, type: fc.constant('timeoutNow') }),
);
const members = fc.array(number, { maxLength: 5 });
const manifest = fc.record({
  index: number,
  term: number,
  chain: fc.nat(),
  size: number,
  chunkCount: fc.nat(),
  checksum: fc.nat(),
  configuration: fc.record({ voters: members, outgoing: members, learners: members, learnersNext: members }),
});
const packet = fc.oneof(
  message.map((found) => ({ kind: 'message', message: found })),
  fc.record({ from: number, term: number, manifest, offset: number, bytes: data }).map((chunk) => ({ kind: 'chunk', chunk })),
  fc.record({ from: number, term: number, index: number, offset: number }).map((answer) => ({ kind: 'chunkAnswer', answer })),
) as fc.Arbitrary<Packet>;

describe('packets between nodes', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(packet, (found) => {
        expect(decodePacket(encodePacket(found))).toEqual(found);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are refused when a byte is another, or there are more or fewer', () => {
    fc.assert(
      fc.property(packet, fc.nat(), fc.integer({ min: 1, max: 255 }), (found, at, change) => {
        const bytes = encodePacket(found);
        const changed = bytes.slice();
        changed[at % bytes.length] = (changed[at % bytes.length] as number) ^ change;
        expect(() => decodePacket(changed)).toThrow(DamagedRecord);
        expect(() => decodePacket(bytes.subarray(0, at % bytes.length))).toThrow(DamagedRecord);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never throw anything else, whatever comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => decodePacket(bytes)).toThrow(DamagedRecord);
      }),
    );
  });
});

describe('frames', () => {
  it('give back the packets, however the connection cuts them', () => {
    fc.assert(
      fc.property(fc.array(data, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), (packets, cuts) => {
        const stream = Buffer.concat(packets.map(frameOf));
        const reader = new FrameReader();
        const found: Uint8Array[] = [];
        let at = 0;
        for (const cut of [...cuts, stream.length]) {
          found.push(...reader.push(stream.subarray(at, at + cut)));
          at += cut;
        }
        expect(found.map((bytes) => [...bytes])).toEqual(packets.map((bytes) => [...bytes]));
      }),
    );
  });

  it('are refused when they are longer than a packet can be, before anything is kept of them', () => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, frameBytesMax + 1);
    expect(() => new FrameReader().push(length)).toThrow(/a packet of 4194305 bytes comes/);
  });
});
