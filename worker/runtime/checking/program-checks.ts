import { availableParallelism } from 'node:os';
import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import type { Waiting } from '../service.ts';
import { FairQueue } from '../tenants/fair-queue.ts';
import { HeldRefusals } from '../tenants/held-refusals.ts';
import type { TenantAccount } from '../tenants/tenant-registry.ts';
import type { CheckReply } from '../threads/messages.ts';
import type { CheckRequest } from './check-message.ts';
import { Checker, CheckerLost } from './checker.ts';

/** Programs under check at a time, each of another tenant: two at least, so that one that takes long holds up nobody else. */
const PLACES = Math.max(2, Math.min(4, availableParallelism()));
/** Of checks that take long so many need no place, so that it takes many tenants to hold up another. */
const SLOW_MAX = 3;
/** How often a check is begun again that its process did not outlive, through no fault of the program. */
const ATTEMPTS_MAX = 3;
/** Processes that are kept for the next program. */
const SPARE_MAX = 2;

/** For whom something is checked. */
type Account = Pick<TenantAccount, 'checkTime'> & { readonly tenant: Pick<TenantAccount['tenant'], 'id'> };

/**
 * Checks programs in processes of their own, for tenants in turn. A program that takes too much memory or time ends its process, and
 * nothing else notices.
 */
export class ProgramChecks {
  readonly #queue = new FairQueue({
    what: 'checking programs',
    places: PLACES,
    waitingMax: limits.checksWaitingPerTenantMax,
    waitMsMax: limits.checkWaitMsMax,
  });
  readonly #budgetMs: number;
  readonly #checkers = new Set<Checker>();
  #spare: Checker[] = [];
  /** Tenants whose programs are under check and take long. */
  readonly #slow = new Set<string>();
  /** Tenants whose last program has used its process up. */
  readonly #wasteful = new Set<string>();
  readonly #refusals = new HeldRefusals();
  #isClosed = false;

  /** @param budgetMs Processor time that one program may take. */
  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
  }

  /** Has a process at hand, so that the first program need not wait for its start. */
  prepare(): void {
    if (!this.#isClosed && this.#spare.length === 0) this.#spare.push(this.#start());
  }

  /**
   * @throws CepError what `checkProgram` throws; `validation_error` when the program takes more than a check may; `quota_exceeded`,
   *   `queue_full` and `not_ready`, with `retryAfterSeconds`, for what is not the program's fault
   */
  async check(account: Account, request: CheckRequest, waiting: Waiting = {}): Promise<CheckReply> {
    const { tenant, checkTime } = account;
    await this.requireTime(account, { bytes: sizeOf(request), waiting });
    const checked = async (leave: () => void): Promise<CheckReply> => {
      const began = performance.now();
      try {
        return await this.#check(tenant.id, request, () => {
          if (this.#slow.size >= SLOW_MAX) return;
          this.#slow.add(tenant.id);
          leave();
        });
      } finally {
        this.#slow.delete(tenant.id);
        checkTime.spend(performance.now() - began, performance.now());
      }
    };
    return this.#queue.run(tenant.id, checked, waiting);
  }

  /** @throws CepError `quota_exceeded`, after a while, when the tenant has used up its time */
  async requireTime({ tenant, checkTime }: Account, held: Parameters<HeldRefusals['hold']>[2]): Promise<void> {
    try {
      checkTime.require('checking programs', performance.now());
    } catch (error) {
      await this.#refusals.hold(tenant.id, error, held);
    }
  }

  async #check(tenantId: string, request: CheckRequest, onSlow: () => void): Promise<CheckReply> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX && !this.#isClosed; attempt++) {
      const checker = this.#take(tenantId);
      try {
        return await checker.check(request, onSlow);
      } catch (error) {
        if (!(error instanceof CheckerLost)) throw error;
      } finally {
        this.#giveBack(checker, tenantId);
      }
    }
    throw new CepError('not_ready', 'the server cannot check programs now: try again', { retryAfterSeconds: 5 });
  }

  /** Who has used one up waits for the start of the next; nobody else does, as long as one is there. */
  #take(tenantId: string): Checker {
    this.#spare = this.#spare.filter((checker) => checker.isUsable || this.#drop(checker));
    const isWasteful = this.#wasteful.has(tenantId);
    const checker = this.#spare.find(({ hasStarted }) => hasStarted !== isWasteful) ?? this.#spare[0] ?? this.#start();
    this.#spare = this.#spare.filter((one) => one !== checker);
    return checker;
  }

  #start(): Checker {
    const checker = new Checker(this.#budgetMs);
    this.#checkers.add(checker);
    return checker;
  }

  /** One that is used up has its successor started now, so that who comes next need not wait for it. */
  #giveBack(checker: Checker, tenantId: string): void {
    if (checker.isUsable) {
      this.#wasteful.delete(tenantId);
    } else {
      this.#wasteful.add(tenantId);
      this.#drop(checker);
    }
    if (this.#isClosed) return;
    if (this.#spare.length >= SPARE_MAX) this.#drop(checker);
    else this.#spare.push(checker.isUsable ? checker : this.#start());
  }

  #drop(checker: Checker): false {
    checker.close();
    this.#checkers.delete(checker);
    return false;
  }

  /** Refuses checks that have not begun, and ends the others. */
  close(): void {
    this.#isClosed = true;
    void this.#queue.close();
    for (const checker of this.#checkers) this.#drop(checker);
  }
}

/** Of the texts that a request holds, roughly. */
function sizeOf({ program: { source, files = {} } }: CheckRequest): number {
  return Object.values(files).reduce((sum, text) => sum + text.length, source.length);
}
