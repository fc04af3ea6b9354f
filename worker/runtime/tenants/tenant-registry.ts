import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { CepError } from '../../../shared/errors/error.ts';
import { type Access, type Quota, type Tenant, type TenantPlan, tenantPlans } from '../service.ts';
import { type Admission, EventMeter } from './event-meter.ts';
import { checkMsPerMinute, quotas } from './quotas.ts';
import { TimeBudget } from './time-budget.ts';

/** The tenant of the server's own key, and of everybody when there is none. */
export const SERVER_TENANT = 'default';
/** The tenant of what a cluster has placed here. It has no key: what is its own is reached by the routes of the cluster alone. */
export const CLUSTER_TENANT = 'cluster';

/** A tenant as it is kept: of its key only the digest. */
export interface StoredTenant {
  readonly id: string;
  readonly name: string;
  readonly plan: TenantPlan;
  readonly quota: Quota;
  readonly createdAt: number;
  /** SHA-256 of the key, hex; null for the server's own tenant, whose key is a setting. */
  readonly keyDigest: string | null;
  /** What its pipelines did that are gone; absent in those of earlier versions. */
  readonly doneBefore?: TenantDone;
}

interface TenantDone {
  readonly eventsProcessed: number;
  readonly outputEventsEmitted: number;
}

export interface TenantStorage {
  saveTenant(tenant: StoredTenant): Promise<void>;
  deleteTenant(id: string): Promise<void>;
}

/** A tenant at work. */
export interface TenantAccount {
  tenant: StoredTenant;
  readonly meter: EventMeter;
  /** Time for checking its programs. */
  readonly checkTime: TimeBudget;
  eventsRejected: number;
  requestsRejected: number;
  /** By pipelines that are gone. */
  doneBefore: TenantDone;
}

const NOTHING_DONE: TenantDone = { eventsProcessed: 0, outputEventsEmitted: 0 };

/** Who there is, by id and by key. */
export class TenantRegistry {
  readonly #storage: TenantStorage | null;
  readonly #serverDigest: Buffer | null;
  readonly #accounts = new Map<string, TenantAccount>();
  readonly #byDigest = new Map<string, TenantAccount>();

  constructor(storage: TenantStorage | null, apiKey: string | undefined) {
    this.#storage = storage;
    this.#serverDigest = apiKey === undefined ? null : digestOf(apiKey);
    const common = { plan: 'enterprise', quota: quotas.enterprise, createdAt: Date.now(), keyDigest: null } as const;
    for (const id of [SERVER_TENANT, CLUSTER_TENANT]) this.#accounts.set(id, newAccount({ id, name: id, ...common }));
  }

  get isAuthenticationOn(): boolean {
    return this.#serverDigest !== null;
  }

  /** Takes in a tenant that was kept. Of the server's own that is when it came, and what it did; the rest is not to be kept. */
  load(tenant: StoredTenant): void {
    const own = this.#accounts.get(tenant.id);
    if (own === undefined) {
      this.#add(tenant);
      return;
    }
    own.tenant = { ...own.tenant, createdAt: tenant.createdAt };
    own.doneBefore = tenant.doneBefore ?? NOTHING_DONE;
  }

  /** Keeps what it has not kept before: since when there is a tenant of the server. After `load`. @throws CepError `storage_unavailable` */
  async keepOwn(kept: readonly StoredTenant[]): Promise<void> {
    if (!kept.some(({ id }) => id === SERVER_TENANT)) await this.#storage?.saveTenant(this.#stored(this.account(SERVER_TENANT)));
  }

  authenticate(key: string | undefined): Access {
    if (this.#serverDigest === null) return { tenantId: SERVER_TENANT, role: 'admin' };
    if (key === undefined || key === '') {
      throw new CepError('missing_api_key', 'the request has no API key', {
        hint: 'send it as `x-api-key: <key>` or `Authorization: Bearer <key>`',
      });
    }
    const digest = digestOf(key);
    if (timingSafeEqual(digest, this.#serverDigest)) return { tenantId: SERVER_TENANT, role: 'admin' };
    const account = this.#byDigest.get(digest.toString('hex'));
    if (account?.tenant.keyDigest && timingSafeEqual(digest, Buffer.from(account.tenant.keyDigest, 'hex'))) {
      return { tenantId: account.tenant.id, role: 'tenant' };
    }
    throw new CepError('invalid_api_key', 'the API key is not known', { hint: 'check the key; a deleted tenant has none any more' });
  }

  async create({
    name,
    plan = 'default',
    quota,
  }: {
    readonly name: string;
    readonly plan?: TenantPlan;
    readonly quota?: Partial<Quota>;
  }): Promise<Tenant & { readonly apiKey: string }> {
    const stored = this.#newTenant(name, plan, quota ?? {});
    const apiKey = `cep_${randomBytes(32).toString('base64url')}`;
    const tenant: StoredTenant = { ...stored, keyDigest: digestOf(apiKey).toString('hex') };
    this.#add(tenant);
    try {
      await this.#storage?.saveTenant(tenant);
    } catch (error) {
      this.#remove(tenant.id);
      throw error;
    }
    return { ...publicTenant(tenant), apiKey };
  }

  #newTenant(name: string, plan: TenantPlan, quota: Partial<Quota>): Omit<StoredTenant, 'keyDigest'> {
    if (name.trim() === '' || [...name].length > 128)
      throw new CepError('validation_error', 'a tenant needs a name of 1 to 128 characters');
    if (!tenantPlans.includes(plan))
      throw new CepError('validation_error', `found the plan '${plan}', expected one of ${tenantPlans.join(', ')}`);
    for (const [key, value] of Object.entries(quota)) {
      if (!Object.hasOwn(quotas.default, key)) throw new CepError('validation_error', `there is no quota '${key}'`);
      if (!Number.isSafeInteger(value) || value < 0)
        throw new CepError('validation_error', `found ${value} for ${key}, expected a whole number`);
    }
    if ([...this.#accounts.values()].some(({ tenant }) => tenant.name === name)) {
      throw new CepError('name_taken', `there is a tenant '${name}' already`, { hint: 'choose another name, or delete that tenant first' });
    }
    return { id: `t_${randomBytes(8).toString('hex')}`, name, plan, quota: { ...quotas[plan], ...quota }, createdAt: Date.now() };
  }

  list(): readonly Tenant[] {
    const listed = [...this.#accounts.values()].filter(({ tenant }) => tenant.id !== CLUSTER_TENANT);
    return listed.map(({ tenant }) => publicTenant(tenant));
  }

  get(id: string): Tenant {
    if (id === CLUSTER_TENANT) throw unknownTenant(id);
    return publicTenant(this.account(id).tenant);
  }

  /** @throws CepError `tenant_not_found` */
  account(id: string): TenantAccount {
    const account = this.#accounts.get(id);
    if (account === undefined) throw unknownTenant(id);
    return account;
  }

  /** Takes in events that a source has read. @throws CepError `quota_exceeded` when they have to wait */
  admit(id: string, events: number): Admission {
    const { meter } = this.account(id);
    if (!meter.borrow(events, performance.now()))
      throw new CepError('quota_exceeded', 'the tenant has taken in as many events as it may in this second', { retryAfterSeconds: 1 });
    return { events, correct: (difference) => meter.correct(difference, performance.now()) };
  }

  /** A pipeline of the tenant is deleted: what it did still counts, as long as there is the tenant. */
  async noteGone(id: string, { eventsProcessed, outputEventsEmitted }: TenantDone): Promise<void> {
    const account = this.#accounts.get(id);
    if (account === undefined || eventsProcessed + outputEventsEmitted === 0) return;
    const { doneBefore } = account;
    account.doneBefore = {
      eventsProcessed: doneBefore.eventsProcessed + eventsProcessed,
      outputEventsEmitted: doneBefore.outputEventsEmitted + outputEventsEmitted,
    };
    await this.#storage?.saveTenant(this.#stored(account));
  }

  #stored({ tenant, doneBefore }: TenantAccount): StoredTenant {
    return { ...tenant, doneBefore };
  }

  /** Its key is worth nothing from here on. */
  async delete(id: string): Promise<void> {
    if (id === SERVER_TENANT) throw new CepError('forbidden', `the tenant '${id}' belongs to the server and cannot be deleted`);
    this.account(id);
    await this.#storage?.deleteTenant(id);
    this.#remove(id);
  }

  #add(tenant: StoredTenant): void {
    const account = newAccount(tenant);
    this.#accounts.set(tenant.id, account);
    if (tenant.keyDigest !== null) this.#byDigest.set(tenant.keyDigest, account);
  }

  #remove(id: string): void {
    const digest = this.#accounts.get(id)?.tenant.keyDigest;
    this.#accounts.delete(id);
    if (digest) this.#byDigest.delete(digest);
  }
}

function unknownTenant(id: string): CepError {
  return new CepError('tenant_not_found', `there is no tenant '${id}'`);
}

function newAccount(tenant: StoredTenant): TenantAccount {
  return {
    tenant,
    meter: new EventMeter(tenant.quota.maxEventsPerSecond),
    checkTime: new TimeBudget(checkMsPerMinute[tenant.plan]),
    eventsRejected: 0,
    requestsRejected: 0,
    doneBefore: tenant.doneBefore ?? NOTHING_DONE,
  };
}

function publicTenant({ keyDigest, doneBefore: _, ...tenant }: StoredTenant): Tenant {
  return { ...tenant, keyPrefix: keyDigest === null ? null : keyDigest.slice(0, 8) };
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
