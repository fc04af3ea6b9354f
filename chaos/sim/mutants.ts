import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { SimulationOptions, SimulationResult } from './simulation.ts';

/** A mistake that Raft implementations have made, as a change of text: it shows that the simulator sees such mistakes. */
export interface Mutant {
  readonly name: string;
  /** In `coordinator/raft/core`. */
  readonly file: string;
  /** Stands there once. */
  readonly find: string;
  readonly replacement: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: 'two votes in a term',
    file: 'election.ts',
    find: 'state.vote === from || (state.vote === 0 && state.leader === 0)',
    replacement: 'true',
  },
  { name: 'vote without comparing logs', file: 'election.ts', find: ' && state.log.isUpToDate(lastIndex, lastTerm)', replacement: '' },
  { name: 'own vote counted before it is durable', file: 'election.ts', find: 'seq < this.#ownVoteSeq', replacement: 'false' },
  {
    name: 'logs compared by length before term',
    file: 'log.ts',
    find: 'return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.lastIndex);',
    replacement: 'return lastIndex >= this.lastIndex;',
  },
  {
    name: 'entries of older terms committed by count',
    file: 'leadership.ts',
    find: ' || state.log.termAt(found) !== state.term',
    replacement: '',
  },
  {
    name: 'completion without term',
    file: 'leadership.ts',
    find: 'if (this.#state.log.termAt(through) !== term) return;',
    replacement: 'if (through > this.#state.log.lastIndex) return;',
  },
  {
    name: 'log cut off by a late message',
    file: 'log.ts',
    find: 'if (at < 0) return [];',
    replacement:
      'if (at < 0) { const end = entries.at(-1); if (end && end.index < this.lastIndex) this.#truncateFrom(end.index + 1); return []; }',
  },
  {
    name: 'commit beyond the last new entry',
    file: 'raft.ts',
    find: 'Math.min(commit, last))',
    replacement: 'Math.min(commit, log.lastIndex))',
  },
  {
    name: 'acknowledgement before sync',
    file: 'raft.ts',
    find: "this.#state.promise({ type: 'appendResponse', to, accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false });",
    replacement: "this.#state.send({ type: 'appendResponse', to, accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false });",
  },
  { name: 'vote not written', file: 'state.ts', find: ' || this.vote !== this.#written.vote', replacement: '' },
  {
    name: 'term of the log not compared',
    file: 'raft.ts',
    find: 'log.termAt(previousIndex) === previousTerm',
    replacement: 'previousIndex <= log.lastIndex',
  },
  {
    name: 'read before the no-op is committed',
    file: 'leadership.ts',
    find: "if (!this.#isReady()) return state.refuse(id, 'notReady');\n    if (this.#reads",
    replacement: 'if (this.#reads',
  },
  {
    name: 'read without a round of heartbeats',
    file: 'leadership.ts',
    find: 'id === own || (this.#progress.get(id)?.round ?? 0) >= round',
    replacement: 'true',
  },
  {
    name: 'two pending changes of configuration',
    file: 'leadership.ts',
    find: 'if (this.#changeIndex > state.log.commit || isJoint(state.configuration))',
    replacement: 'if (false)',
  },
  {
    name: 'joint consensus needs the new majority only',
    file: 'configuration.ts',
    find: ' && (outgoing.length === 0 || isMajority(outgoing, has))',
    replacement: '',
  },
  {
    name: 'quorum one too small',
    file: 'configuration.ts',
    find: '.length > Math.floor(ids.length / 2)',
    replacement: '.length >= Math.floor(ids.length / 2)',
  },
  {
    name: 'commit by one too few',
    file: 'configuration.ts',
    find: 'matches[Math.floor(ids.length / 2)]',
    replacement: 'matches[Math.floor((ids.length - 1) / 2) - 1 < 0 ? 0 : Math.floor((ids.length - 1) / 2) - 1]',
  },
  {
    name: 'configuration not in snapshots',
    file: 'state.ts',
    find: '    this.#configurations = new ConfigurationHistory(meta);\n',
    replacement: '',
  },
  { name: 'a refusal moves nothing back', file: 'progress.ts', find: 'Math.min(refused, hint + 1)', replacement: 'refused + 1' },
  {
    name: 'lost entries never asked for again',
    file: 'leadership.ts',
    find: "progress.matchAtHeartbeat === progress.match) progress.become('probe')",
    replacement: "progress.match < 0) progress.become('probe')",
  },
  {
    name: 'removed leader goes on',
    file: 'leadership.ts',
    find: 'if (isRemoved) state.becomeFollower(state.term, 0);',
    replacement: '',
  },
  {
    name: 'joint consensus never left',
    file: 'leadership.ts',
    find: 'if (isJoint(this.#state.configuration) && this.#changeIndex <= this.#state.log.commit)',
    replacement: 'if (false)',
  },
];

const simulation = fileURLToPath(new URL('./simulation.ts', import.meta.url));

/** The simulator with the mutant in it. Throws when the text to change is not there once: then the mutant has to follow the code. */
export async function simulatorOf(mutant: Mutant): Promise<(options: SimulationOptions) => SimulationResult> {
  let found = 0;
  const bundle = await build({
    entryPoints: [simulation],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    plugins: [
      {
        name: 'mutant',
        setup({ onLoad }): void {
          onLoad({ filter: /coordinator[\\/]raft[\\/]core[\\/][a-z]+\.ts$/ }, async ({ path }) => {
            const text = await readFile(path, 'utf8');
            if (!path.endsWith(`/${mutant.file}`)) return { contents: text, loader: 'ts' };
            found = text.split(mutant.find).length - 1;
            return { contents: text.replace(mutant.find, () => mutant.replacement), loader: 'ts' };
          });
        },
      },
    ],
  });
  if (found !== 1) throw new Error(`mutant '${mutant.name}': ${mutant.file} has its text ${found} times, not once`);
  const text = bundle.outputFiles[0]?.text ?? '';
  const module = (await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)) as {
    simulate: (options: SimulationOptions) => SimulationResult;
  };
  return module.simulate;
}
