import { isBuiltNewest } from '../../cli/built.mjs';

/** Builds the command when a source is newer: read through tsx, each process that a test starts would take twice as long. */
export default async function build() {
  if (!isBuiltNewest()) await import('../../scripts/build.mjs');
}
