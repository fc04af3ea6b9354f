import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** This checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERE = dirname(fileURLToPath(import.meta.url));

/** A bundled checkout: its command line, and the processes that measure it from within. */
export interface Build {
  readonly root: string;
  readonly cli: string;
  /** Path of a process of `test/bench/processes`. */
  readonly process: (name: ProcessName) => string;
}

const PROCESSES = ['bound', 'engine', 'micro', 'pause', 'preload'] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** Those of which the loading of a program is timed: they begin with what V8 compiled before, as the product does. */
const COMPILED: ReadonlySet<ProcessName> = new Set(['engine']);

/** A folder for what the harness makes, kept between runs and out of the repository. */
export function cacheFolder(name: string, root = ROOT): string {
  const folder = join(root, 'node_modules/.cache/bench', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Bundles the sources of a checkout as the product is bundled. The measuring processes are those of this checkout, run on
 * the sources of that one, so both sides of a comparison are measured in the same way.
 * `names`: only these processes, where an older checkout has not all that the others need.
 * @throws Error when the folder is no checkout with its packages installed
 */
export async function buildCheckout(folder: string, names: readonly ProcessName[] = PROCESSES): Promise<Build> {
  const root = resolve(folder);
  if (!existsSync(join(root, 'cli/main.ts')) || !existsSync(join(root, 'node_modules'))) {
    throw new Error(`${folder} is no checkout with its packages installed`);
  }
  const outdir = cacheFolder(`build-${createHash('sha256').update(root).digest('hex').slice(0, 12)}`, root);
  const { bundleOptions, bundleProcesses } = await bundlesOf(ROOT);
  const { bundleProduct } = await bundlesOf(root);
  const main = { main: join(root, 'cli/main.ts') };
  await build({
    absWorkingDir: ROOT,
    entryPoints: { ...(bundleProduct === undefined && main), ...entriesOf(names.filter((name) => !COMPILED.has(name))) },
    outdir,
    ...bundleOptions,
    plugins: [...(bundleOptions.plugins ?? []), sourcesOf(root)],
  });
  const entries = { ...main, ...entriesOf(names.filter((name) => COMPILED.has(name))) };
  await bundleProcesses({ root, outdir, name: 'bench', entries, plugins: [sourcesOf(root)] });
  await bundleProduct?.({ root, outdir });
  return { root, cli: join(outdir, 'main.js'), process: (name) => join(outdir, `bench-${name}.js`) };
}

function entriesOf(names: readonly ProcessName[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`bench-${name}`, join(HERE, 'processes', `${name}.ts`)]));
}

interface Bundles {
  readonly bundleOptions: BuildOptions;
  readonly bundleProcesses: (given: {
    readonly root: string;
    readonly outdir: string;
    readonly name: string;
    readonly entries: Readonly<Record<string, string>>;
    readonly plugins: readonly Plugin[];
  }) => Promise<void>;
  /** Missing in checkouts of which the command line is a module like the others. */
  readonly bundleProduct?: (folders: { readonly root: string; readonly outdir: string }) => Promise<void>;
}

async function bundlesOf(root: string): Promise<Bundles> {
  return (await import(join(root, 'scripts/bundle.mjs'))) as Bundles;
}

/** What the measuring processes import from the product comes from that checkout. */
function sourcesOf(root: string): Plugin {
  return {
    name: 'sources of a checkout',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        if (!isWithin(HERE, resolveDir)) return undefined;
        const target = join(resolveDir, path);
        return isWithin(HERE, target) ? undefined : { path: realpathSync(join(root, relative(ROOT, target))) };
      });
    },
  };
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}
