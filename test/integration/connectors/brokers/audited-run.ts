import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { type Audit, audit } from '../audit.ts';
import type { ProgramRun } from './program-run.ts';

const ANSWER_MS_MAX = 2_000;

/** Somebody who gives a broker numbered events, each until the broker has taken it. */
export abstract class NumberedPublisher {
  /** Numbers that may stand with the broker twice: it was not heard to take them. */
  readonly unsure = new Set<number>();
  published = 0;
  /** So many may wait with the broker. @default as many as come together */
  readonly waitingMax: number = Number.POSITIVE_INFINITY;

  async publish(count: number): Promise<void> {
    for (const end = this.published + count; this.published < end; ) {
      try {
        await this.#inTime(this.give(this.published));
        this.published++;
      } catch {
        this.unsure.add(this.published);
        await this.leave();
        await sleep(50);
      }
    }
  }

  async #inTime(given: Promise<void>): Promise<void> {
    given.catch(() => undefined);
    await Promise.race([given, sleep(ANSWER_MS_MAX, undefined, { ref: false }).then(() => Promise.reject(new Error('no answer')))]);
  }

  /** Connects where it is not. */
  protected abstract give(number: number): Promise<void>;
  /** Forgets the connection. */
  abstract leave(): Promise<void>;

  /** What the broker says of itself, by name, for whoever looks into a loss. */
  async brokerSays(): Promise<Readonly<Record<string, string>>> {
    return {};
  }
}

/** Where to look for what was lost: with the broker, which had not given it, or with the program. */
interface Loss {
  readonly brokerSays: Readonly<Record<string, string>>;
  readonly cepSaid: string;
  /** How many came when cep was ended and started again with what it had kept. */
  readonly cameAfterRestart: number;
}

/** Waits until more has come. */
export type Some = () => Promise<void>;

/**
 * Publishes all the while that the trouble lasts to a program that writes what it reads to `out.jsonl`; gives what the auditor finds in
 * there. What the broker was not heard to take may be there twice.
 */
export async function auditedRun(
  run: ProgramRun,
  publisher: NumberedPublisher,
  trouble: (some: Some) => Promise<void>,
): Promise<Audit & { readonly loss?: Loss }> {
  await run.startReading();
  let isOn = true;
  const publishing = (async (): Promise<void> => {
    while (isOn) {
      if (publisher.published - run.delivered('out.jsonl').length < publisher.waitingMax) await publisher.publish(20);
      else await sleep(20);
    }
  })();
  const some = async (): Promise<void> => {
    const before = run.delivered('out.jsonl').length;
    await vi.waitFor(() => expect(run.delivered('out.jsonl').length).toBeGreaterThan(before + 100), { timeout: 120_000, interval: 20 });
  };
  await some();
  await trouble(some);
  isOn = false;
  await publishing;
  await run.untilDelivered('out.jsonl', publisher.published);
  const look = (): Audit => audit(run.delivered('out.jsonl'), publisher.published);
  const { lost } = look();
  const loss = lost.length === 0 ? undefined : await lossOf(run, publisher, () => lost.length - look().lost.length);
  expect((await run.end('SIGINT'))?.code).toBe(0);
  await publisher.leave();
  const found = look();
  const repeated = found.repeated.filter((number) => !publisher.unsure.has(number));
  return { ...found, repeated, ...(loss === undefined ? {} : { lost, loss }) };
}

async function lossOf(run: ProgramRun, publisher: NumberedPublisher, came: () => number): Promise<Loss> {
  const brokerSays = await publisher.brokerSays();
  const cepSaid = run.said;
  await run.end('SIGINT');
  await run.startReading();
  await run.untilDelivered('out.jsonl', publisher.published);
  return { brokerSays, cepSaid, cameAfterRestart: came() };
}
