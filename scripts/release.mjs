/**
 * Makes `release/` of the commit that is checked out: the npm package with the versions of all it needs, a list of these, and checksums.
 * Two runs over one commit give the same bytes, in whatever folder, with the same Node and npm.
 *   node scripts/release.mjs [--out FOLDER] [--image NAME] [--allow-changes]
 * `--image` builds the image from it too; `--allow-changes` is for trying: files need not be committed.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleProduct } from './bundle.mjs';
import { root } from './generated.mjs';

const { values } = parseArgs({
  options: { out: { type: 'string' }, image: { type: 'string' }, 'allow-changes': { type: 'boolean', default: false } },
});
const out = resolve(values.out ?? join(root, 'release'));
const stage = join(root, 'artifacts/release');
const run = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }).trim();

if (!values['allow-changes'] && run('git', 'status', '--porcelain') !== '') {
  console.error('There are changes that no commit has: a release is made of a commit. Commit or stash them.');
  process.exit(1);
}
const committedAt = Number(run('git', 'log', '-1', '--format=%ct'));

rmSync(stage, { recursive: true, force: true });
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await makePackage();
writeFileSync(join(out, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(), null, 1)}\n`);
writeFileSync(join(out, 'SHA256SUMS'), readdirSync(out).sort().map(sumLine).join(''));
process.stdout.write(readFileSync(join(out, 'SHA256SUMS'), 'utf8'));
rmSync(stage, { recursive: true });
if (values.image !== undefined) makeImage(values.image);

/** In a folder of its own, with `npm-shrinkwrap.json`, so that an install gets what was tested. */
async function makePackage() {
  await bundleProduct({ root, outdir: join(stage, 'dist') });
  run(join(root, 'node_modules/.bin/tsc'), '-p', 'tsconfig.types.json', '--outDir', join(stage, 'dist/types'));
  // What V8 compiled is another each time, and of use to the same V8 only.
  for (const name of readdirSync(join(stage, 'dist'))) if (name.endsWith('.compiled')) rmSync(join(stage, 'dist', name));
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'cli/bin.mjs']) {
    mkdirSync(dirname(join(stage, name)), { recursive: true });
    copyFileSync(join(root, name), join(stage, name));
  }
  cpSync(join(root, 'package-lock.json'), join(stage, 'npm-shrinkwrap.json'));
  // Without the list of its files, which would hide what is said of the release.
  run('npm', 'pack', stage, '--ignore-scripts', '--loglevel=warn', '--pack-destination', out);
}

/** CycloneDX, of what runs; without what npm makes anew each time. */
function billOfMaterials() {
  const bill = JSON.parse(run('npm', 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'));
  const needed = new Set(neededPackages());
  bill.components = bill.components.filter((component) => needed.has(component['bom-ref']));
  bill.dependencies = bill.dependencies.filter(({ ref }) => ref === bill.metadata.component['bom-ref'] || needed.has(ref));
  for (const dependency of bill.dependencies) dependency.dependsOn = dependency.dependsOn.filter((ref) => needed.has(ref));
  // npm names it after the folder of the checkout.
  bill.metadata.component.name = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name;
  bill.metadata.timestamp = new Date(committedAt * 1000).toISOString();
  const hash = createHash('sha256').update(JSON.stringify(bill.components)).digest('hex');
  bill.serialNumber = `urn:uuid:${[hash.slice(0, 8), hash.slice(8, 12), `5${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-')}`;
  return bill;
}

/** As `name@version`. What npm leaves out when it is told to omit optional packages is more: also what is optional to one and needed by another. */
function neededPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
    .map(([path, { name, version }]) => `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`);
}

function sumLine(name) {
  return `${createHash('sha256')
    .update(readFileSync(join(out, name)))
    .digest('hex')}  ${name}\n`;
}

function makeImage(name) {
  const args = ['build', '-f', 'deploy/docker/Dockerfile', '-t', name, '--build-arg', `SOURCE_DATE_EPOCH=${committedAt}`];
  const base = process.env.BASE_IMAGE === undefined ? [] : ['--build-arg', `BASE_IMAGE=${process.env.BASE_IMAGE}`];
  const label = ['--label', `org.opencontainers.image.revision=${run('git', 'rev-parse', 'HEAD')}`];
  execFileSync('docker', [...args, ...base, ...label, '.'], { cwd: root, stdio: 'inherit' });
}
