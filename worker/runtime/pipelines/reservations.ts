import { CepError } from '../../../shared/errors/error.ts';
import type { DeployRequest, Tenant } from '../service.ts';
import type { HostedPipeline } from './hosted-pipeline.ts';

const NAME_CHARS_MAX = 128;
/** When the program of a connection may have gone, seconds. */
const CONNECTION_RETRY_SECONDS = 10;

type Owner = Pick<Tenant, 'id' | 'quota'>;

interface Reservation {
  readonly tenantId: string;
  /** Null: the program of a connection. */
  readonly name: string | null;
  readonly replaces: string | undefined;
}

/** Places for programs that are being deployed, within the quota of their tenant. Programs of connections are counted apart from pipelines. */
export class Reservations {
  readonly #hosted: () => readonly HostedPipeline[];
  readonly #underWay = new Set<Reservation>();
  /** Programs of connections in whose place another has come: they are on their way out. */
  readonly #replaced = new Set<string>();

  constructor(hosted: () => readonly HostedPipeline[]) {
    this.#hosted = hosted;
  }

  /** @throws CepError `name_taken`, `quota_exceeded`, `validation_error` */
  reserve(tenant: Owner, request: DeployRequest): Reservation {
    const { name, ephemeral: isOfConnection = false, replaces } = request;
    if (isOfConnection) this.#requireConnection(tenant, replaces);
    else this.#requirePipeline(tenant, name);
    const reservation = { tenantId: tenant.id, name: isOfConnection ? null : name, replaces };
    this.#underWay.add(reservation);
    return reservation;
  }

  /** The program is there; or, with `isThere: false`, it could not be deployed. */
  release(reservation: Reservation, isThere: boolean): void {
    this.#underWay.delete(reservation);
    if (isThere && reservation.replaces !== undefined) this.#replaced.add(reservation.replaces);
  }

  #requirePipeline({ id: tenantId, quota }: Owner, name: string): void {
    if (name.trim() === '' || [...name].length > NAME_CHARS_MAX) {
      throw new CepError('validation_error', `a pipeline needs a name of 1 to ${NAME_CHARS_MAX} characters`);
    }
    const own = this.#hosted().filter((pipeline) => pipeline.tenantId === tenantId && !pipeline.isEphemeral);
    const underWay = [...this.#underWay].filter((one) => one.tenantId === tenantId && one.name !== null);
    if ([...own, ...underWay].some((one) => one.name === name)) {
      throw new CepError('name_taken', `there is a pipeline '${name}' already`, {
        hint: 'choose another name, reload that pipeline, or delete it first',
      });
    }
    if (own.length + underWay.length >= quota.maxPipelines) {
      throw new CepError('quota_exceeded', `the tenant has ${own.length} pipelines, and its quota is ${quota.maxPipelines}`, {
        hint: 'delete one first',
      });
    }
  }

  /** @param replaces The program that goes when this one has come. */
  #requireConnection({ id: tenantId, quota }: Owner, replaces: string | undefined): void {
    const hosted = this.#hosted().filter(({ isEphemeral }) => isEphemeral);
    const ids = new Set(hosted.map(({ id }) => id));
    for (const id of this.#replaced) if (!ids.has(id)) this.#replaced.delete(id);
    const underWay = [...this.#underWay].filter((one) => one.tenantId === tenantId && one.name === null);
    const leaving = new Set([...this.#replaced, replaces, ...underWay.map((one) => one.replaces)]);
    const open = hosted.filter((pipeline) => pipeline.tenantId === tenantId && !leaving.has(pipeline.id)).length;
    if (open + underWay.length < quota.maxPipelines) return;
    throw new CepError('quota_exceeded', `connections of the tenant have ${open} programs, and its quota is ${quota.maxPipelines}`, {
      hint: 'close a connection first, or deploy the program as a pipeline and attach to it',
      retryAfterSeconds: CONNECTION_RETRY_SECONDS,
    });
  }
}
