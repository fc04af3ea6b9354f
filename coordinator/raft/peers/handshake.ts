import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TlsPair } from '../../../shared/security/tls-files.ts';
import type { NodeId } from '../core/messages.ts';
import { DamagedRecord, RecordReader, RecordWriter } from '../storage/record.ts';

/**
 * How two members make sure of each other, before anything else is said. Who dials says `hello`, the other answers with a `challenge`,
 * then comes a `proof`, then the `verdict`. Each side has drawn a number that the other's authentication code covers, so what was heard
 * before is of no use; and the listener says nothing of the group before it has seen the proof.
 *
 * It guards the beginning of a connection. Who can change bytes on their way is kept out by TLS.
 */
const handshakeVersion = 1;
/** Of each message of a handshake. */
export const handshakeBytesMax = 512;

const MAGIC = 0x63657072;
const nonceBytes = 32;
const codeBytes = 32;
const formatBytes = 4;

/** What a member shows and checks when it meets another. */
export interface PeerSecrets {
  readonly clusterId: string;
  /** `formatMax`: the latest format of commands that it takes. */
  readonly self: { readonly id: NodeId; readonly incarnation: number; readonly formatMax: number };
  readonly key: string;
  readonly tls: PeerTls | undefined;
}

/** The certificate of a member, and what those of the others are signed with. */
export type PeerTls = TlsPair & { readonly ca: string };

/**
 * So often the listener says that it is there, with an empty packet; a dialer that has missed it for as many times in a row connects anew,
 * since TCP alone takes minutes to notice that nothing arrives any more, or that it does again.
 */
export const aliveMs = 1_000;
export const aliveMissedMax = 5;

/** What a connection carries: snapshots have one of their own, so that they hold up nothing. */
export type Purpose = 'messages' | 'snapshots';
const purposes: readonly Purpose[] = ['messages', 'snapshots'];

export interface Hello {
  readonly clusterId: string;
  readonly purpose: Purpose;
  readonly from: NodeId;
  readonly to: NodeId;
  /** Of the data of who dials. */
  readonly incarnation: number;
}

export interface Challenge {
  readonly from: NodeId;
  readonly incarnation: number;
  /** The latest format of commands that the listener takes. */
  readonly formatMax: number;
}

/** `removed`: it is no member any more. Versions before it take that for a wrong code. `identityLost`: the data of who dials are other data than those of the member that had its id before. */
export type Verdict = 'accepted' | 'otherCluster' | 'otherNode' | 'identityLost' | 'notAMember' | 'removed';
const verdicts: readonly Verdict[] = ['accepted', 'otherCluster', 'otherNode', 'identityLost', 'notAMember', 'removed'];

export function encodeHello(hello: Hello): Uint8Array {
  const { clusterId, purpose, from, to, incarnation } = hello;
  const writer = new RecordWriter(128).u32(MAGIC).u8(handshakeVersion).u8(purposes.indexOf(purpose));
  return writer.u64(from).u64(to).u64(incarnation).raw(randomBytes(nonceBytes)).raw(new TextEncoder().encode(clusterId)).sealed();
}

/** Throws `DamagedRecord` for what is none. */
export function decodeHello(bytes: Uint8Array): Hello {
  const reader = new RecordReader(bytes);
  if (reader.u32() !== MAGIC) throw new DamagedRecord('it is no greeting of a member');
  const version = reader.u8();
  if (version !== handshakeVersion) throw new DamagedRecord(`it speaks version ${version}, and this member version ${handshakeVersion}`);
  const purpose = purposes[reader.u8()];
  if (purpose === undefined) throw new DamagedRecord('it is for an unknown purpose');
  const [from, to, incarnation] = [reader.u64(), reader.u64(), reader.u64()];
  const clusterId = new TextDecoder().decode(reader.rest().subarray(nonceBytes));
  return { clusterId, purpose, from, to, incarnation };
}

/** The authentication codes of one handshake, from the key of the group and what was said so far. */
export class Authenticator {
  readonly #key: string;
  readonly #hello: Uint8Array;

  constructor(key: string, hello: Uint8Array) {
    this.#key = key;
    this.#hello = hello;
  }

  #code(role: 'listener' | 'dialer' | 'verdict', ...parts: readonly Uint8Array[]): Buffer {
    const hmac = createHmac('sha256', this.#key).update(`cep raft ${role}\0`);
    for (const part of [this.#hello, ...parts]) hmac.update(`${part.length}\0`).update(part);
    return hmac.digest();
  }

  challenge({ from, incarnation, formatMax }: Challenge): Uint8Array {
    const body = new RecordWriter(96).u64(from).u64(incarnation).raw(randomBytes(nonceBytes)).u32(formatMax).sealed();
    return joined(body, this.#code('listener', body));
  }

  /** Undefined when it does not come from somebody who knows the key. */
  readChallenge(bytes: Uint8Array): Challenge | undefined {
    const body = this.#opened('listener', bytes);
    if (body === undefined) return undefined;
    const reader = new RecordReader(body);
    const [from, incarnation] = [reader.u64(), reader.u64()];
    const said = reader.rest().subarray(nonceBytes);
    // Versions that read only the first format say nothing of it.
    const formatMax = said.length < formatBytes ? 1 : new DataView(said.buffer, said.byteOffset).getUint32(0);
    return { from, incarnation, formatMax };
  }

  proof(challenge: Uint8Array): Uint8Array {
    return this.#code('dialer', challenge);
  }

  isProof(challenge: Uint8Array, proof: Uint8Array): boolean {
    return isSame(proof, this.#code('dialer', challenge));
  }

  verdict(challenge: Uint8Array, verdict: Verdict): Uint8Array {
    const body = new RecordWriter(16).u8(verdicts.indexOf(verdict)).sealed();
    return joined(body, this.#code('verdict', challenge, body));
  }

  readVerdict(challenge: Uint8Array, bytes: Uint8Array): Verdict | undefined {
    const body = this.#opened('verdict', bytes, challenge);
    return body === undefined ? undefined : verdicts[new RecordReader(body).u8()];
  }

  #opened(role: 'listener' | 'verdict', bytes: Uint8Array, ...before: readonly Uint8Array[]): Uint8Array | undefined {
    const end = bytes.length - codeBytes;
    if (end < 0) return undefined;
    const body = bytes.subarray(0, end);
    return isSame(bytes.subarray(end), this.#code(role, ...before, body)) ? body : undefined;
  }
}

function isSame(found: Uint8Array, expected: Uint8Array): boolean {
  return found.length === expected.length && timingSafeEqual(found, expected);
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  return Buffer.concat([one, other]);
}
