import type { Static } from 'typebox';
import { limits } from '../../shared/limits.ts';
import type { validateRequestSchema, validationSchema } from '../../shared/protocol/program.ts';
import { ProgramChecks } from '../runtime/checking/program-checks.ts';
import { normalProgram } from '../runtime/programs/sent-program.ts';
import type { Waiting } from '../runtime/service.ts';
import { checkMsPerMinute, quotas } from '../runtime/tenants/quotas.ts';
import { overQuotaDiagnostics } from '../runtime/tenants/streams-quota.ts';
import { TimeBudget } from '../runtime/tenants/time-budget.ts';
import type { CheckReply } from '../runtime/threads/messages.ts';
import { diagnosticWire } from './wire.ts';

type ProgramJudgement = Static<typeof validationSchema> & Pick<CheckReply, 'declarations'>;

/** Checks programs as a server does before it takes them, in processes apart, for somebody who runs none. */
export class ProgramValidation {
  readonly #checks = new ProgramChecks(limits.checkCpuMsDefault);
  readonly #account = { tenant: { id: 'cluster' }, checkTime: new TimeBudget(checkMsPerMinute.enterprise) };

  /** Programs may import what is sent with them, read no file, and have as many streams as workers take. @throws CepError as a deployment that is refused before it is checked */
  readonly validate = async (sent: Static<typeof validateRequestSchema>, waiting: Waiting): Promise<ProgramJudgement> => {
    const request = {
      program: normalProgram(sent),
      folder: { path: null, refused: [] },
      streamsMax: quotas.enterprise.maxStreamsPerPipeline,
    };
    const { statements, diagnostics: found, declarations, program } = await this.#checks.check(this.#account, request, waiting);
    const diagnostics = program === null ? found : [...overQuotaDiagnostics(program.summary, quotas.enterprise), ...found];
    const valid = diagnostics.every(({ severity }) => severity !== 'error');
    return { valid, statements, diagnostics: diagnostics.map(diagnosticWire), declarations };
  };

  /** Refuses what has not begun, and ends the rest. */
  close(): void {
    this.#checks.close();
  }
}
