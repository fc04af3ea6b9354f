import { relative } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import type { EventDeclaration } from '../../shared/events/schema.ts';
import { canConnect } from '../../shared/language/connectors/table.ts';
import { limits } from '../../shared/limits.ts';
import type { ServerApi } from '../client/server-api.ts';
import type { Colors } from '../colors.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counts.ts';
import { visible } from '../event-text.ts';
import { type CheckedProgram, checkProgram } from '../program/checked-program.ts';
import { diagnosticsText } from '../program/diagnostics.ts';
import { programsIn } from '../program/program-paths.ts';
import { type SentProgram, toSend } from '../program/program-to-send.ts';
import { changesText } from '../session/changes-text.ts';
import { outcomeText } from '../testing/report.ts';
import { runTest } from '../testing/test-run.ts';

interface Deployed {
  readonly id: string;
  /** What was sent, as text, to see whether it has changed. */
  readonly text: string;
  readonly events: readonly EventDeclaration[];
}

export interface DeployedProgramsOptions {
  readonly api: ServerApi;
  readonly folder: string;
  readonly context: CliContext;
  readonly colors: Colors;
  readonly line: (text: string) => void;
  readonly onDeploy: (id: string) => void;
  /** It is about to be removed. */
  readonly onRemove: (id: string) => void;
}

/** The programs of a folder on a server, each a pipeline; what was saved is put in its place. */
export class DeployedPrograms {
  readonly #options: DeployedProgramsOptions;
  readonly #deployed = new Map<string, Deployed>();
  /** Texts that were refused, by path: they are told of once. */
  readonly #refused = new Map<string, string>();

  constructor(options: DeployedProgramsOptions) {
    this.#options = options;
  }

  get ids(): readonly string[] {
    return Array.from(this.#deployed.values(), ({ id }) => id);
  }

  /** The event types that the programs declare. */
  get events(): readonly EventDeclaration[] {
    return Array.from(this.#deployed.values(), ({ events }) => events).flat();
  }

  /** Brings the server to what the folder holds. What is wrong with a program is told, and the one before goes on. */
  async update(): Promise<void> {
    const paths = this.#paths();
    for (const path of paths) await this.#guarded(path, () => this.#updateOne(path));
    for (const [path, { id }] of this.#deployed) if (!paths.includes(path)) await this.#guarded(path, () => this.#remove(path, id));
  }

  /** A folder whose last program is taken away, or that is away itself, holds none; at the start that is a mistake. */
  #paths(): readonly string[] {
    try {
      return programsIn(this.#options.folder);
    } catch (error) {
      if (this.#deployed.size > 0 && error instanceof CepError && error.code === 'file_not_found') return [];
      throw error;
    }
  }

  async #guarded(path: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof CepError)) throw error;
      this.#options.line(`${this.#nameOf(path)}: ${error.message}`);
    }
  }

  async #updateOne(path: string): Promise<void> {
    const checked = checkProgram(path, { canConnect });
    const { program } = toSend(checked);
    const text = JSON.stringify(program);
    const known = this.#deployed.get(path);
    if (known?.text === text || this.#refused.get(path) === text) return;
    this.#showDiagnostics(checked);
    if (checked.plan === null) {
      this.#refused.set(path, text);
      if (known !== undefined) this.#options.line(`${this.#nameOf(path)}: the program before goes on`);
      return;
    }
    this.#refused.delete(path);
    const id = known === undefined ? await this.#deploy(path, program) : await this.#reload(path, known.id, program);
    this.#deployed.set(path, { id, text, events: checked.plan.events });
    this.#runTests(path, checked);
    if (known === undefined) this.#options.onDeploy(id);
  }

  async #deploy(path: string, program: SentProgram): Promise<string> {
    const name = this.#nameOf(path).replace(/\.vpl$/, '');
    const isWatched = this.#deployed.size < limits.watchedPipelinesPerTenantMax;
    const { id } = await this.#options.api.deploy({ name, program, labels: {}, isWatched });
    this.#options.line(`${this.#nameOf(path)}: runs`);
    return id;
  }

  async #reload(path: string, id: string, program: SentProgram): Promise<string> {
    const report = await this.#options.api.reload(id, { program, isDryRun: false, acceptsReset: true });
    this.#options.line(
      `${this.#nameOf(path)}: ${changesText({ ...report, lostState: report.lost_state }, this.#options.colors) ?? 'reloaded'}`,
    );
    return id;
  }

  async #remove(path: string, id: string): Promise<void> {
    this.#options.onRemove(id);
    await this.#options.api.remove(id);
    this.#deployed.delete(path);
    this.#options.line(`${this.#nameOf(path)}: gone`);
  }

  #showDiagnostics({ diagnostics }: CheckedProgram): void {
    const { context, line } = this.#options;
    const text = diagnosticsText(diagnostics, context.stdout, context.env);
    if (text !== '') line(text.trimEnd());
  }

  /** One line when all is well; those that fail are shown whole. */
  #runTests(path: string, { plan, tests }: CheckedProgram): void {
    if (plan === null || tests.length === 0) return;
    const outcomes = tests.map((test) => runTest(plan, test));
    const failed = outcomes.filter(({ failures }) => failures.length > 0);
    const { line, colors } = this.#options;
    for (const outcome of failed) line(outcomeText(outcome, colors).trimEnd());
    const told =
      failed.length > 0
        ? colors.red(`${failed.length} of ${counted(tests.length, 'test')} failed`)
        : colors.green(`${counted(tests.length, 'test')} passed`);
    line(`${this.#nameOf(path)}: ${told}`);
  }

  #nameOf(path: string): string {
    return visible(relative(this.#options.folder, path) || path);
  }
}
