/** What all bundles of the product have in common. */

/** Packages of the command line, each of many small files: read from one file, a command starts in a quarter less time. */
const inside = new Set(['chokidar', 'cli-progress', 'clipanion', 'picocolors', 're2js', 'smol-toml', 'typanion', 'yaml']);

/** All other packages stay outside: among them are native ones, and such that look for files of their own. */
const packagesOutside = {
  name: 'packages outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      const isInside = kind === 'entry-point' || inside.has(packageOf(path)) || importer.includes('/node_modules/');
      return isInside ? undefined : { path, external: true };
    });
  },
};

function packageOf(path) {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

/** `minifySyntax` puts constants where they are used: a bundle holds them in variables, which compiled code would have to look up. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  plugins: [packagesOutside],
  minifySyntax: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
  sourcemap: true,
  logLevel: 'warning',
};
