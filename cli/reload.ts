import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ProgramCommand } from './client/program-command.ts';
import type { ReloadPlan, ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';
import type { SentProgram } from './program/program-to-send.ts';

export class ReloadCommand extends ProgramCommand {
  static override paths = [['reload']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Replace the program of a pipeline that runs or has failed',
    details:
      'Operators that mean the same keep their state. The plan names the streams that are preserved, changed, reset (nothing of the state ' +
      'that they may have had is left), added and removed, and says which lose state. What the program imports is sent along. When the server ' +
      'refuses it, the old one goes on. A pipeline that has failed starts with it, and can show no plan before. Ends with 1 when the program has errors, 4 when --keep-state holds the reload back. PIPELINE is an id or a name.',
    examples: [
      ['See first what would happen', '$0 reload rules rules.vpl --dry-run'],
      ['Only if no state is lost', '$0 reload rules rules.vpl --keep-state'],
    ],
  });

  dryRun = Option.Boolean('--dry-run', false, { description: 'Show the plan and change nothing' });
  keepState = Option.Boolean('--keep-state', false, { description: 'Change nothing if a stream that stays would lose state' });
  pipeline = Option.String({ name: 'PIPELINE', required: true });
  file = Option.String({ name: 'FILE', required: true });

  protected override async ask(api: ServerApi): Promise<number | undefined> {
    const { id, name } = await api.pipeline(this.pipeline);
    const plan = await this.handOver(this.file, (program) => this.#reload(api, id, program));
    if (plan === undefined) return 1;
    if (this.json) this.printJson(plan);
    else this.print(`${plan.reloaded ? `Reloaded ${visible(name)}` : `Plan for ${visible(name)}, nothing was changed`}\n${planText(plan)}`);
    return 0;
  }

  async #reload(api: ServerApi, id: string, program: SentProgram): Promise<ReloadPlan> {
    try {
      return await api.reload(id, { program, isDryRun: this.dryRun, acceptsReset: !this.keepState });
    } catch (error) {
      if (error instanceof CepError && isPlan(error.details)) this.context.stderr.write(planText(error.details));
      throw error;
    }
  }
}

const kinds = ['preserved', 'changed', 'reset', 'added', 'removed'] as const;

/** Servers of a build before do not say which streams lose state. */
type Plan = Omit<ReloadPlan, 'lost_state'> & Partial<Pick<ReloadPlan, 'lost_state'>>;

/** A line for each kind of streams that there is. */
function planText(plan: Plan): string {
  const named = (name: string): string => `${visible(name)}${plan.lost_state?.includes(name) ? ' (loses state)' : ''}`;
  const lines = kinds.flatMap((kind) =>
    plan[kind].length === 0 ? [] : [`  ${`${kind}:`.padEnd(11)}${plan[kind].map(named).join(', ')}\n`],
  );
  return lines.length === 0 ? '  no streams\n' : lines.join('');
}

function isPlan(details: unknown): details is Plan {
  return typeof details === 'object' && details !== null && kinds.every((kind) => kind in details);
}
