import { CepError } from '../../shared/errors/error.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { refusalError } from '../cluster/refusal-error.ts';
import { bounds } from '../state/bounds.ts';
import type { IngressBatch } from '../state/cluster-state.ts';
import { answersIn, type IngressPlace, placesIn } from '../state/commands/ingress-answer.ts';
import { type Command, commandTable, type RequestId } from '../state/commands.ts';

export interface Append {
  readonly groupId: string;
  /** By which the batches were divided. */
  readonly groupVersion: number;
  readonly batches: readonly Omit<IngressBatch, 'sequence'>[];
  /** Without one it cannot be sent again. */
  readonly request: RequestId | undefined;
}

interface Waiting extends Append {
  readonly bytes: number;
  readonly resolve: (places: readonly IngressPlace[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Of one command, in UTF-8: the events of one append may have as much, and it is then alone. */
const COMMAND_BYTES_MAX = bounds.ingressCommandCharsMax / 2;
/** What a batch takes in a command besides its events and the id of its placement. */
const BATCH_BYTES = 128;
/** Of all that waits for its turn, in UTF-8. */
const WAITING_BYTES_MAX = 33_554_432;
/** One is written while the next one is gathered and on its way. */
const UNDER_WAY_MAX = 2;
/** With less than that, what waits is left to wait for more: the next command, and the delivery behind it, cost as much for one event as for many. */
const WORTH_BYTES_MIN = 16_384;

/**
 * Puts events into the log. What comes while a command is under way goes into the next one together: a command costs the members nearly
 * the same whatever is in it. What waits for the same group of pipelines keeps its order; groups take turns, so that none waits for all
 * that another one brings.
 */
export class IngressCommits {
  readonly #group: Pick<GroupMember, 'propose' | 'state'>;
  /** By group, none empty. */
  readonly #waiting = new Map<string, Waiting[]>();
  #waitingBytes = 0;
  #underWay = 0;

  constructor(group: Pick<GroupMember, 'propose' | 'state'>) {
    this.#group = group;
  }

  /** Where the batches stand, in their order. @throws RaftRefusal; CepError `overloaded`, and what the state refuses them with */
  append(append: Append): Promise<readonly IngressPlace[]> {
    const { groupId, groupVersion, batches, request } = append;
    const bytes = batches.reduce((sum, batch) => sum + bytesOf(batch), 0);
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX) return Promise.reject(tooMuch(this.#waitingBytes));
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(groupId) ?? [];
      this.#waiting.set(groupId, queue);
      queue.push({ groupId, groupVersion, batches, request, bytes, resolve, reject });
      if (!this.#isWorthOneMore(this.#underWay)) return;
      this.#underWay++;
      // Whatever comes in the same turn of the loop goes with it.
      setImmediate(() => void this.#commitAll());
    });
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.size > 0 && this.#isWorthOneMore(this.#underWay - 1)) await this.#commit(this.#take());
    this.#underWay--;
  }

  /** Whether what waits is to go while so many commands are under way. */
  #isWorthOneMore(underWay: number): boolean {
    return underWay === 0 || (underWay < UNDER_WAY_MAX && this.#waitingBytes >= WORTH_BYTES_MIN);
  }

  async #commit(together: readonly Waiting[]): Promise<void> {
    // Members of the version before take each request as a command of its own, in one write of the log all the same.
    if (this.#group.state.format < commandTable.AppendIngressOfMany.since) {
      await Promise.all(together.map((one) => this.#commitAlone(one)));
      return;
    }
    try {
      const { value } = await this.#group.propose(commandOf(together, this.#group.state.format), undefined);
      for (const [at, answer] of answersIn(value).entries()) {
        const { resolve, reject } = together[at] as Waiting;
        if ('places' in answer) resolve(answer.places);
        else reject(refusalError(answer.refusal));
      }
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  async #commitAlone({ batches, request, resolve, reject }: Waiting): Promise<void> {
    try {
      const { value } = await this.#group.propose({ type: 'AppendIngress', payload: { batches: [...batches] } }, request);
      resolve(placesIn(value));
    } catch (error) {
      reject(error);
    }
  }

  /** What goes into one command: of each group in its turn, and of each what was divided by one version of it. */
  #take(): readonly Waiting[] {
    const taken: Waiting[] = [];
    const versions = new Map<string, number>();
    let bytes = 0;
    for (;;) {
      const [entry] = this.#waiting;
      if (entry === undefined) return taken;
      const [groupId, queue] = entry;
      const next = queue[0] as Waiting;
      const hasRoom = bytes + next.bytes <= COMMAND_BYTES_MAX && taken.length < bounds.ingressRequestsPerCommandMax;
      const version = versions.get(groupId) ?? next.groupVersion;
      if (taken.length > 0 && (!hasRoom || version !== next.groupVersion)) return taken;
      versions.set(groupId, version);
      queue.shift();
      taken.push(next);
      bytes += next.bytes;
      this.#waitingBytes -= next.bytes;
      this.#waiting.delete(groupId);
      if (queue.length > 0) this.#waiting.set(groupId, queue);
    }
  }
}

function bytesOf({ placementId, events }: Append['batches'][0]): number {
  return Buffer.byteLength(events) + Buffer.byteLength(placementId) + BATCH_BYTES;
}

function tooMuch(bytes: number): CepError {
  const found = `events of ${bytes} bytes wait for the log already, of ${WAITING_BYTES_MAX} at most; nothing of these was taken`;
  return new CepError('overloaded', found, { hint: 'send them again, less at a time', retryAfterSeconds: 1 });
}

function commandOf(together: readonly Waiting[], format: number): Command {
  const requests = together.map(({ request, batches }) => ({
    ...(request !== undefined && { request }),
    batches: batches.map(({ placementId, receivedAtMs, eventCount }) => ({ placementId, receivedAtMs, eventCount })),
  }));
  const texts = together.flatMap(({ batches }) => batches.map(({ events }) => events));
  if (format < commandTable.AppendDividedIngress.since) return { type: 'AppendIngressOfMany', payload: { requests, texts } };
  const versions = new Map(together.map(({ groupId, groupVersion }) => [groupId, groupVersion]));
  const groups = Array.from(versions, ([id, version]) => ({ id, version }));
  return { type: 'AppendDividedIngress', payload: { groups, requests, texts } };
}
