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
  const pieceWorker = join(root, 'cli/simulation/threads/piece-worker.ts');
  const processes = names.map((name) => [`bench-${name}`, join(HERE, 'processes', `${name}.ts`)] as const);
  const { bundleOptions } = (await import(join(ROOT, 'scripts/bundle.mjs'))) as { readonly bundleOptions: BuildOptions };
  await build({
    absWorkingDir: ROOT,
    entryPoints: {
      main: join(root, 'cli/main.ts'),
      ...(existsSync(pieceWorker) && { 'piece-worker': pieceWorker }),
      ...Object.fromEntries(processes),
    },
    outdir,
    ...bundleOptions,
    plugins: [...(bundleOptions.plugins ?? []), sourcesOf(root)],
  });
  return { root, cli: join(outdir, 'main.js'), process: (name) => join(outdir, `bench-${name}.js`) };
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
