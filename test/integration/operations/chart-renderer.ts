import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Errors } from 'typebox/schema';
import { parse } from 'yaml';

/** Values over those of the chart: files of them, then single ones by their paths. */
export interface ChartValues {
  readonly files?: readonly string[];
  readonly sets?: Readonly<Record<string, string | number | boolean>>;
}

export interface ChartRenderer {
  readonly name: string;
  /** The resources as text. @throws Error for values that the chart refuses */
  render(values: ChartValues): string;
  /** Where it has made something. */
  close?(): void;
}

const hasProgram = (program: string, ...args: string[]): boolean => spawnSync(program, args).error === undefined;

/** Helm where there is one, otherwise what Go knows of its templates; undefined without either. */
export function chartRenderer(chart: string): ChartRenderer | undefined {
  if (hasProgram('helm', 'version')) return new HelmRenderer(chart);
  return hasProgram('go', 'version') ? new TemplateRenderer(chart) : undefined;
}

const run = (program: string, args: readonly string[], input = ''): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', input });

class HelmRenderer implements ChartRenderer {
  readonly name = 'by Helm';
  readonly #chart: string;

  constructor(chart: string) {
    this.#chart = chart;
  }

  render({ files = [], sets = {} }: ChartValues): string {
    const args = ['--kube-version', '1.30.0', ...files.flatMap((file) => ['-f', file])];
    for (const [path, value] of Object.entries(sets)) args.push('--set', `${path}=${value}`);
    run('helm', ['lint', this.#chart, '--strict', ...args]);
    return run('helm', ['template', 'x', this.#chart, ...args]);
  }
}

/** Templates and values as Helm reads them, and the values' schema; nothing else of what Helm knows. */
class TemplateRenderer implements ChartRenderer {
  readonly name = 'by its templates alone, without Helm';
  readonly #chart: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'cep-chart-'));
  readonly #program = join(this.#folder, 'render-chart');

  constructor(chart: string) {
    this.#chart = chart;
    run('go', ['build', '-o', this.#program, join(import.meta.dirname, 'render-chart.go')]);
  }

  render({ files = [], sets = {} }: ChartValues): string {
    const given = [...files.map(yamlOf), ...Object.entries(sets).map(([path, value]) => nested(path.split('.'), value))];
    const values = given.reduce<Tree>(merged, yamlOf(join(this.#chart, 'values.yaml')));
    const schema = JSON.parse(readFileSync(join(this.#chart, 'values.schema.json'), 'utf8'));
    const [, problems] = Errors(schema, values);
    if (problems.length > 0)
      throw new Error(problems.map(({ instancePath, message }) => `values do not fit: ${instancePath} ${message}`).join('\n'));
    const { name, version, appVersion } = yamlOf(join(this.#chart, 'Chart.yaml'));
    const read = {
      Values: values,
      Release: { Name: 'x', Service: 'Helm' },
      Chart: { Name: name, Version: version, AppVersion: appVersion },
    };
    const templates = join(this.#chart, 'templates');
    return run(
      this.#program,
      readdirSync(templates).map((file) => join(templates, file)),
      JSON.stringify(read),
    );
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

interface Tree {
  readonly [name: string]: unknown;
}

const yamlOf = (file: string): Tree => parse(readFileSync(file, 'utf8'));

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** As Helm does it: maps are merged, everything else is replaced. */
function merged(under: Tree, over: Tree): Tree {
  const both = Object.entries(over).map(([name, value]) => {
    const before = under[name];
    return [name, isTree(value) && isTree(before) ? merged(before, value) : value];
  });
  return { ...under, ...Object.fromEntries(both) };
}

function nested([name = '', ...more]: readonly string[], value: unknown): Tree {
  return { [name]: more.length === 0 ? value : nested(more, value) };
}
